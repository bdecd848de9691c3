import type { Oddity } from '../../src/rest/observe.ts';

/** Reads with `read` and says what was noticed on the way. */
export function noticing<Read>(read: (notice: (oddity: Oddity, member: string) => void) => Read): [Read, ...string[]] {
  const noticed: string[] = [];
  const value = read((oddity, member) => noticed.push(`${oddity} ${member}`));
  return [value, ...noticed];
}
