import { type Group, settingsOf } from './setting.ts';

/** Names that Kubernetes makes up for each Service of a namespace: `X_PORT`, `X_PORT_80_TCP`, `X_SERVICE_HOST`. */
const OF_KUBERNETES = /_PORT(?:_\d|$)|_SERVICE_/;

/** How many letters may differ at most; in short names fewer, or `HOME` would be taken for `HOST`. */
const MAX_DISTANCE = 2;

/** Variables whose names are almost those of a setting, a line for each. They have no effect, and were probably meant to. */
export function misspelledNames(names: readonly string[], settings: Group): string[] {
  const known = settingsOf(settings).flatMap(({ name, isSecret }) => (isSecret ? [name, `${name}_FILE`] : [name]));
  return names.flatMap((name) => {
    if (known.includes(name) || OTHERS.has(name) || name.startsWith('REFERENCE_') || OF_KUBERNETES.test(name))
      return [];
    const meant = known.find((one) => distance(name, one) <= Math.min(MAX_DISTANCE, Math.floor(one.length / 4)));
    return meant ? [`${name} has no effect; is ${meant} meant?`] : [];
  });
}

/** Settings of the reference service, which can have the same environment; all others of it begin with `REFERENCE_`. */
const OTHERS = new Set(['PUBLIC_URL', 'DATABASE_URL', 'DATABASE_URL_FILE', 'DATA_DIR', 'PROGRAMME_FILE']);

/** The Levenshtein distance: how many letters are to be changed, added or removed. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > MAX_DISTANCE) return Number.POSITIVE_INFINITY;
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      const changed = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(changed, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
