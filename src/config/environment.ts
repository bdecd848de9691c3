import { readFileSync } from 'node:fs';
import { removedVariables } from './removed.ts';
import { ALSO_IN_FILES, VARIABLES, type Values } from './variables.ts';

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

/** The variables that are set, by their names. */
export type Given = ReadonlyMap<string, string>;

/**
 * Reads every variable. An empty one counts as absent. One that cannot be used gets its default, so that the others can be
 * checked too; `problems` then has a line that begins with its name.
 */
export function readEnvironment(env: NodeJS.ProcessEnv): { values: Values; given: Given; problems: string[] } {
  const given = new Map(Object.entries(env).flatMap(([name, value]) => (value ? [[name, value] as const] : [])));
  const problems = [...removedVariables(given), ...readFiles(given)];
  const parsed = VARIABLES.safeParse(Object.fromEntries(given));
  if (parsed.success) return { values: parsed.data, given, problems };
  const bad = new Map(parsed.error.issues.map(({ path: [name], message }) => [String(name), message]));
  for (const [name, message] of bad) problems.push(`${name}: ${message}${shown(name, given.get(name) ?? '')}`);
  const usable = [...given].filter(([name]) => !bad.has(name));
  return { values: VARIABLES.parse(Object.fromEntries(usable)), given, problems };
}

/** Replaces each `NAME_FILE` by the text of its file, without white space at its end. Returns what is wrong. */
function readFiles(given: Map<string, string>): string[] {
  return ALSO_IN_FILES.flatMap((name) => {
    const path = given.get(`${name}_FILE`);
    if (!path) return [];
    if (given.has(name)) return `${name}, ${name}_FILE: set one of them, not both`;
    try {
      const text = readFileSync(path, 'utf8').trimEnd();
      if (text === '') throw new Error('it is empty');
      given.set(name, text);
      return [];
    } catch (error) {
      return `${name}_FILE: the file cannot be read (${reasonOf(error)})`;
    }
  });
}

/** The given value for an error message; nothing for a secret, or where a URL can hold one: its user and query. */
function shown(name: string, value: string): string {
  const isSecret = ALSO_IN_FILES.some((one) => one === name) || /[@?#]/.test(value);
  return isSecret ? '' : `, not ${JSON.stringify(value)}`;
}
