import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import * as z from 'zod';
import { OperatorError } from './errors.ts';
import { Key, type Keys } from './keys.ts';
import { wholeNumber } from './wire/members.ts';

/** The gateway uses the same keys when none are set. They are refused in production. */
const DEVELOPMENT_KEYS = { REST_API_KEY: 'development-api-key', REST_SECRET_KEY: 'development-secret-key' };

const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost']);
const DEFAULT_MANAGEMENT_PORT = 4101;

type KeyName = keyof typeof DEVELOPMENT_KEYS;

const PORT = wholeNumber(0, 65_535, 'must be a port, 0 to 65535');
const MILLISECONDS = wholeNumber(1, 600_000, 'must be a number of milliseconds from 1 to 600000');
const MILLISECONDS_OR_0 = wholeNumber(0, 600_000, 'must be a number of milliseconds from 0 to 600000');
const FORMS = wholeNumber(0, 1_000_000, 'must be a number of forms per minute from 0 (no limit) to 1000000');

const SETTINGS = z.object({
  REFERENCE_HOST: z.string().default('127.0.0.1'),
  REFERENCE_PORT: PORT.default(4100),
  REFERENCE_MANAGEMENT_HOST: z.string().default('127.0.0.1'),
  REFERENCE_MANAGEMENT_PORT: PORT.optional(),
  PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .transform((url) => url.replace(/\/$/, ''))
    .optional(),
  REFERENCE_TRUST_PROXY: z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .refine((parts) => parts.every(isNetwork), 'must be addresses or networks like 10.0.0.0/8, separated by commas')
    .default([]),
  REFERENCE_LANDING_PER_ADDRESS: FORMS.default(10),
  REFERENCE_LANDING_PER_LINK: FORMS.default(60),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'must be an address like postgres://user:password@host:5432/database' })
    .optional(),
  REFERENCE_DATABASE_POOL: wholeNumber(1, 1_000, 'must be a number of connections from 1 to 1000').default(10),
  REFERENCE_DATABASE_STATEMENT_TIMEOUT_MS: MILLISECONDS.default(10_000),
  REFERENCE_DATABASE_CONNECT_TIMEOUT_MS: MILLISECONDS.default(5_000),
  REFERENCE_DATABASE_HEALTH_TIMEOUT_MS: MILLISECONDS.default(2_000),
  DATA_DIR: z.string().default('.data'),
  PROGRAMME_FILE: z.string().optional(),
  SHUTDOWN_GRACE_MS: MILLISECONDS.default(10_000),
  SHUTDOWN_DELAY_MS: MILLISECONDS_OR_0.default(0),
  REFERENCE_LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'must be a level like info or warn')
    .optional(),
});

type Settings = z.output<typeof SETTINGS>;

export type ReferenceConfig = ReturnType<typeof configOf> & {
  keys: Keys;
  /** The keys are the built-in ones, which everybody knows. */
  hasDevelopmentKeys: boolean;
  isProduction: boolean;
};

/**
 * Reads the environment; an empty variable counts as absent. Throws an OperatorError with one line for each wrong variable,
 * and no secret.
 */
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
  if (hasDevelopmentKeys && settings.success) checkLoopback(settings.data, problems);
  if (!settings.success || !apiKey || !secretKey || problems.length > 0) {
    throw new OperatorError(['The configuration cannot be used:', ...problems.map((line) => `  ${line}`)].join('\n'));
  }
  const keys = { apiKey: apiKey.key, secretKey: secretKey.key };
  return { ...configOf(settings.data), keys, hasDevelopmentKeys, isProduction };
}

function configOf(settings: Settings) {
  const port = settings.REFERENCE_PORT;
  return {
    host: settings.REFERENCE_HOST,
    /** 0: any free port. */
    port,
    /** The management port: health, metrics, operator's routes. */
    management: {
      host: settings.REFERENCE_MANAGEMENT_HOST,
      port: settings.REFERENCE_MANAGEMENT_PORT ?? (port === 0 ? 0 : DEFAULT_MANAGEMENT_PORT),
    },
    /** The address for players' browsers; undefined: where the service listens. */
    publicUrl: settings.PUBLIC_URL,
    trustProxy: settings.REFERENCE_TRUST_PROXY,
    landingLimits: {
      perAddress: settings.REFERENCE_LANDING_PER_ADDRESS,
      perLink: settings.REFERENCE_LANDING_PER_LINK,
    },
    databaseUrl: settings.DATABASE_URL,
    database: {
      /** Connections of this process. */
      poolSize: settings.REFERENCE_DATABASE_POOL,
      /** Limit for one statement, and for a transaction that waits for its next statement. */
      statementTimeoutMs: settings.REFERENCE_DATABASE_STATEMENT_TIMEOUT_MS,
      /** Limit for getting a connection, from the pool or a new one. */
      connectTimeoutMs: settings.REFERENCE_DATABASE_CONNECT_TIMEOUT_MS,
      /** How long the store may take to answer a readiness check. */
      healthTimeoutMs: settings.REFERENCE_DATABASE_HEALTH_TIMEOUT_MS,
    },
    dataDir: settings.DATA_DIR,
    programmeFile: settings.PROGRAMME_FILE,
    shutdown: { graceMs: settings.SHUTDOWN_GRACE_MS, delayMs: settings.SHUTDOWN_DELAY_MS },
    /** Undefined: `info`, or `warn` when another process starts the service. */
    logLevel: settings.REFERENCE_LOG_LEVEL,
  };
}

function checkLoopback(settings: Settings, problems: string[]): void {
  for (const name of ['REFERENCE_HOST', 'REFERENCE_MANAGEMENT_HOST'] as const) {
    if (LOOPBACK.has(settings[name])) continue;
    problems.push(`${name}: everybody knows the development keys; set REST_API_KEY and REST_SECRET_KEY first`);
  }
}

function isNetwork(text: string): boolean {
  const [address = '', prefix = '0', ...more] = text.split('/');
  const version = isIP(address);
  return version !== 0 && more.length === 0 && /^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128);
}

/** The address of a database contains its password, so it can be in a file too. */
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

function readKey(
  name: KeyName,
  given: NodeJS.ProcessEnv,
  isProduction: boolean,
  problems: string[],
): { key: Key; isBuiltIn: boolean } | undefined {
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
