import * as z from 'zod';
import { Secret, secretFromFile } from './secret.ts';
import { type Group, type Setting, settingOf } from './setting.ts';

/** A configuration that cannot be used. Its message has one line for each variable. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(['The configuration cannot be used:', ...problems.map((problem) => `  ${problem}`)].join('\n'));
    this.problems = problems;
    this.name = 'ConfigError';
  }
}

/** The message of what was thrown, as the reason in a message about a setting. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Reads the settings of a group, with the names of the variables that are set, and one line for each variable that cannot
 * be used. An empty variable counts as absent. A variable that cannot be read gets its default value, so that the other
 * variables can be checked too.
 */
export function readEnvironment<Settings extends Group>(env: NodeJS.ProcessEnv, group: Settings) {
  const given = new Map(Object.entries(env).flatMap(([name, value]) => (value ? [[name, value]] : [])));
  const problems: string[] = [];
  const read = (form: z.ZodType): unknown => {
    if (form instanceof z.ZodObject) {
      return Object.fromEntries(Object.entries<z.ZodType>(form.shape).map(([key, member]) => [key, read(member)]));
    }
    const setting = settingOf(form);
    return setting.isSecret ? readSecret(setting.name, given, problems) : readText(setting, given, problems);
  };
  return { values: group.parse(read(group)), given: new Set(given.keys()), problems };
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

/** The given value for an error message; nothing when it can be a URL with a password. */
function shown(value: string): string {
  return value.includes('@') ? '' : `, not ${JSON.stringify(value)}`;
}
