import { type Group, settingsOf } from './setting.ts';

/** Names that Kubernetes sets for each Service of a namespace: `X_PORT`, `X_PORT_80_TCP`, `X_SERVICE_HOST`. */
const OF_KUBERNETES = /_PORT(?:_\d|$)|_SERVICE_/;

/** How many letters may differ at most; fewer in short names, so that `HOME` is not reported as a misspelled `HOST`. */
const MAX_DISTANCE = 2;

/** Variables whose names are almost that of a setting, one line each: probably misspelled, because they have no effect. */
export function misspelledNames(names: readonly string[], settings: Group): string[] {
  const known = settingsOf(settings).flatMap(({ name, isSecret }) => (isSecret ? [name, `${name}_FILE`] : [name]));
  return names.flatMap((name) => {
    if (known.includes(name) || OTHERS.has(name) || name.startsWith('REFERENCE_') || OF_KUBERNETES.test(name))
      return [];
    const meant = known.find((one) => distance(name, one) <= Math.min(MAX_DISTANCE, Math.floor(one.length / 4)));
    return meant ? [`${name} has no effect; is ${meant} meant?`] : [];
  });
}

/** Settings of the reference service, which can run in the same environment. Its other settings begin with `REFERENCE_`. */
const OTHERS = new Set(['PUBLIC_URL', 'DATABASE_URL', 'DATABASE_URL_FILE', 'DATA_DIR', 'PROGRAMME_FILE']);

/** The Levenshtein distance: the number of letters to change, add or remove. */
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
