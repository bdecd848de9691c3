import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { Key, type Keys } from './keys.ts';

/** What the service runs with. */
export interface ReferenceConfig {
  host: string;
  /** 0 takes any free port. */
  port: number;
  /** Where players' browsers reach the service; undefined: where it listens. */
  publicUrl: string | undefined;
  databaseUrl: string | undefined;
  dataDir: string;
  programmeFile: string | undefined;
  keys: Keys;
  /** The keys are the built-in ones that everybody knows. */
  hasDevelopmentKeys: boolean;
}

/** A configuration that cannot be run with. Its message is the report: one line for each variable, and no key. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** The same that the gateway uses where nothing is configured; refused in production. */
const DEVELOPMENT_KEYS = { REST_API_KEY: 'development-api-key', REST_SECRET_KEY: 'development-secret-key' };

const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost']);

type KeyName = keyof typeof DEVELOPMENT_KEYS;

const url = (protocols: RegExp, problem: string) => z.url({ protocol: protocols, error: problem });

const PORT = 'must be a port, 0 to 65535';

const SETTINGS = z.object({
  REFERENCE_HOST: z.string().default('127.0.0.1'),
  REFERENCE_PORT: z.coerce.number(PORT).int(PORT).min(0, PORT).max(65_535, PORT).default(4100),
  PUBLIC_URL: url(/^https?$/, 'must be an http or https address')
    .transform((text) => text.replace(/\/+$/, ''))
    .optional(),
  DATABASE_URL: url(
    /^postgres(ql)?$/,
    'must be an address like postgres://user:password@host:5432/database',
  ).optional(),
  DATA_DIR: z.string().default('.data'),
  PROGRAMME_FILE: z.string().optional(),
});

/** Reads the environment; an empty variable counts as absent. Throws a ConfigError that names all that is wrong. */
export function loadReferenceConfig(env: NodeJS.ProcessEnv = process.env): ReferenceConfig {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const problems: string[] = [];
  readDatabaseUrlFile(given, problems);
  const settings = SETTINGS.safeParse(given);
  for (const issue of settings.error?.issues ?? []) problems.push(`${String(issue.path[0])}: ${issue.message}`);
  const isProduction = given['NODE_ENV'] === 'production';
  const key = (name: KeyName) => readKey(name, given, isProduction, problems);
  const [apiKey, secretKey] = [key('REST_API_KEY'), key('REST_SECRET_KEY')];
  const hasDevelopmentKeys = [apiKey, secretKey].some((read) => read?.isBuiltIn);
  if (hasDevelopmentKeys && settings.success && !LOOPBACK.has(settings.data.REFERENCE_HOST)) {
    problems.push('REFERENCE_HOST: everybody knows the development keys; set REST_API_KEY and REST_SECRET_KEY first');
  }
  if (!settings.success || !apiKey || !secretKey || problems.length > 0) {
    throw new ConfigError(['The configuration cannot be used:', ...problems.map((line) => `  ${line}`)].join('\n'));
  }
  const { REFERENCE_HOST, REFERENCE_PORT, PUBLIC_URL, DATABASE_URL, DATA_DIR, PROGRAMME_FILE } = settings.data;
  return {
    host: REFERENCE_HOST,
    port: REFERENCE_PORT,
    publicUrl: PUBLIC_URL,
    databaseUrl: DATABASE_URL,
    dataDir: DATA_DIR,
    programmeFile: PROGRAMME_FILE,
    keys: { apiKey: apiKey.key, secretKey: secretKey.key },
    hasDevelopmentKeys,
  };
}

/** The address of a database carries its password, so it can stand in a file too. */
function readDatabaseUrlFile(given: NodeJS.ProcessEnv, problems: string[]): void {
  const path = given['DATABASE_URL_FILE'];
  if (path === undefined) return;
  if (given['DATABASE_URL'] !== undefined) problems.push('DATABASE_URL: set it or DATABASE_URL_FILE, not both');
  try {
    given['DATABASE_URL'] = readFileSync(path, 'utf8').trim();
  } catch (error) {
    problems.push(`DATABASE_URL_FILE: cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

interface ReadKey {
  key: Key;
  isBuiltIn: boolean;
}

function readKey(
  name: KeyName,
  given: NodeJS.ProcessEnv,
  isProduction: boolean,
  problems: string[],
): ReadKey | undefined {
  const value = given[name];
  const path = given[`${name}_FILE`];
  const problem = (message: string): undefined => void problems.push(`${name}: ${message}`);
  if (value !== undefined && path !== undefined) return problem(`set it or ${name}_FILE, not both`);
  if (path !== undefined) {
    try {
      return { key: Key.fromFile(path), isBuiltIn: false };
    } catch (error) {
      return problem(`${name}_FILE cannot be read: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  const isBuiltIn = value === undefined || value === DEVELOPMENT_KEYS[name];
  if (isProduction && isBuiltIn) return problem(`must be set in production, as ${name} or ${name}_FILE`);
  return { key: new Key(value ?? DEVELOPMENT_KEYS[name]), isBuiltIn };
}
