import type * as z from 'zod';
import { Secret } from './secret.ts';
import { type SecretSource, secretFromFile } from './secret-file.ts';

/** A configuration that cannot be run with. Its message is the report: one line for each variable. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(['The configuration cannot be used:', ...problems.map((problem) => `  ${problem}`)].join('\n'));
    this.problems = problems;
    this.name = 'ConfigError';
  }
}

interface Read<Values, Name extends string> {
  values: Values;
  secrets: Partial<Record<Name, SecretSource>>;
  /** One line for each variable that cannot be used; it begins with the variable's name. */
  problems: string[];
}

/** Reads an environment: settings by a zod object, secrets by name. An empty variable counts as absent. */
export function readEnvironment<Shape extends z.ZodObject, Name extends string>(
  env: NodeJS.ProcessEnv,
  shape: Shape,
  secretNames: readonly Name[],
): Read<z.output<Shape>, Name> {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const problems: string[] = [];
  const secrets: Partial<Record<Name, SecretSource>> = {};
  for (const name of secretNames) {
    const secret = readSecretSetting(name, given, problems);
    if (secret) secrets[name] = secret;
  }
  return { values: readValues(given, shape, problems), secrets, problems };
}

/** Variables that cannot be read are reported and then take their default, so that the rest can be judged too. */
function readValues<Shape extends z.ZodObject>(
  given: Record<string, string | undefined>,
  shape: Shape,
  problems: string[],
): z.output<Shape> {
  const parsed = shape.safeParse(given);
  if (parsed.success) return parsed.data;
  const usable = { ...given };
  for (const { path, message } of parsed.error.issues) {
    const name = String(path[0]);
    problems.push(`${name}: ${message}${shown(given[name])}`);
    delete usable[name];
  }
  return shape.parse(usable);
}

function readSecretSetting(
  name: string,
  given: Record<string, string | undefined>,
  problems: string[],
): SecretSource | undefined {
  const value = given[name];
  const path = given[`${name}_FILE`];
  if (value && path) problems.push(`${name}, ${name}_FILE: set one of them, not both`);
  if (value) {
    const secret = new Secret(value);
    return () => secret;
  }
  if (!path) return undefined;
  try {
    return secretFromFile(path);
  } catch (error) {
    problems.push(`${name}_FILE: the file cannot be read (${error instanceof Error ? error.message : String(error)})`);
    return undefined;
  }
}

/** The value that was given, unless it looks like an address that carries a password. */
function shown(value: string | undefined): string {
  return value === undefined || value.includes('@') ? '' : `, not ${JSON.stringify(value)}`;
}
