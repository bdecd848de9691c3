import * as z from 'zod';
import { Secret, secretFromFile } from './secret.ts';
import { type Group, type Setting, settingOf, settingsOf } from './setting.ts';

/** A configuration that cannot be used. Its message has one line for each variable. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(['The configuration cannot be used:', ...problems.map((problem) => `  ${problem}`)].join('\n'));
    this.problems = problems;
    this.name = 'ConfigError';
  }
}

/** The message of an error; the text of anything else that was thrown. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Reads the settings of a group. An empty variable counts as absent. A variable that cannot be read gets its default value,
 * so that the other variables can be checked too.
 *
 * `given` has the names of the variables that are set. `problems` and `warnings` have one line for each variable that cannot
 * be used, and for each that is probably misspelled; it begins with the name of the variable.
 */
export function readEnvironment<Settings extends Group>(env: NodeJS.ProcessEnv, group: Settings) {
  const given = new Map(Object.entries(env).flatMap(([name, value]) => (value ? [[name, value]] : [])));
  const problems: string[] = [];
  const read = (key: string, form: z.ZodType): unknown => {
    if (form instanceof z.ZodObject) {
      return Object.fromEntries(
        Object.entries<z.ZodType>(form.shape).map(([name, member]) => [name, read(name, member)]),
      );
    }
    const setting = settingOf(key, form);
    return setting.isSecret ? readSecret(setting.name, given, problems) : readText(setting, given, problems);
  };
  const warnings = misspelledNames(Object.keys(env), group);
  return { values: group.parse(read('', group)), given: new Set(given.keys()), problems, warnings };
}

function readText({ name, form }: Setting, given: ReadonlyMap<string, string>, problems: string[]): string | undefined {
  const value = given.get(name);
  if (value === undefined) return undefined;
  const parsed = form.safeParse(value);
  if (parsed.success) return value;
  problems.push(`${name}: ${parsed.error.issues[0]?.message}${shown(value)}`);
  return undefined;
}

function readSecret(name: string, given: ReadonlyMap<string, string>, problems: string[]): Secret | undefined {
  const [value, path] = [given.get(name), given.get(`${name}_FILE`)];
  if (value && path) problems.push(`${name}, ${name}_FILE: set one of them, not both`);
  if (value) return new Secret(value);
  if (!path) return undefined;
  try {
    return secretFromFile(path);
  } catch (error) {
    problems.push(`${name}_FILE: the file cannot be read (${reasonOf(error)})`);
    return undefined;
  }
}

/** The given value for an error message, without a URL's query; nothing when it can be a URL with a password. */
function shown(value: string): string {
  return value.includes('@') ? '' : `, not ${JSON.stringify(value.replace(/[?#].*$/s, ''))}`;
}

/** Names that Kubernetes sets for each Service of a namespace: `X_PORT`, `X_PORT_80_TCP`, `X_SERVICE_HOST`. */
const OF_KUBERNETES = /_PORT(?:_\d|$)|_SERVICE_/;

/** How many letters may differ at most; fewer in short names, so that `HOME` is not reported as a misspelled `HOST`. */
const MAX_DISTANCE = 2;

/** Variables whose names are almost that of a setting, one line each: probably misspelled, because they have no effect. */
function misspelledNames(names: readonly string[], settings: Group): string[] {
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
