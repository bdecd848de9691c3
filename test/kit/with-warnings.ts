import type { Warn } from '../../src/rest/decode/members.ts';

/** Decodes with `decode`; the decoded value, and then the warnings. */
export function withWarnings<Decoded>(decode: (warn: Warn) => Decoded): [Decoded, ...string[]] {
  const warnings: string[] = [];
  const value = decode((warning, member) => warnings.push(`${warning} ${member}`));
  return [value, ...warnings];
}
