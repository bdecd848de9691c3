import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { OperatorError } from './errors.ts';
import { Key } from './keys.ts';
import { reasonOf } from './store/store.ts';
import { wholeNumber } from './wire/members.ts';

/** The gateway uses the same keys when none are set. They are refused in production. */
const DEVELOPMENT_KEYS = { REST_API_KEY: 'development-api-key', REST_SECRET_KEY: 'development-secret-key' };

/** Secrets that can be in a file too, named by `…_FILE`. */
const SECRETS = ['REST_API_KEY', 'REST_SECRET_KEY', 'DATABASE_URL', 'CONTACT_HASH_KEY'] as const;

const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost']);

/** A key that every client can send as the value of a header. */
const key = z
  .string()
  .regex(/^([!-~]([ -~]*[!-~])?)?$/, 'must have printable ASCII characters only, and no space at its ends');

const port = wholeNumber(0, 65_535, 'must be a port, 0 to 65535');
const formsPerMinute = wholeNumber(0, 1_000_000, 'must be a number from 0 (no limit) to 1000000');
const network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);

const SETTINGS = z
  .object({
    NODE_ENV: z.string().optional(),
    REFERENCE_HOST: z.string().default('127.0.0.1'),
    REFERENCE_PORT: port.default(4100),
    REFERENCE_OPERATOR_PORT: port.optional(),
    PUBLIC_URL: z
      .url({ protocol: /^https?$/, error: 'must be an http or https address' })
      .refine((url) => !/[?#]/.test(url), 'must have neither a query nor a fragment: links continue its path')
      .transform((url) => url.replace(/\/$/, ''))
      .optional(),
    REFERENCE_TRUST_PROXY: z
      .string()
      .transform((text) => text.split(',').map((part) => part.trim()))
      .refine(
        (parts) => parts.every((part) => network.safeParse(part).success),
        'must be addresses or networks like 10.0.0.0/8, separated by commas',
      )
      .default([]),
    REFERENCE_LANDING_PER_MINUTE: formsPerMinute.default(10),
    DATABASE_URL: z
      .url({
        protocol: /^postgres(ql)?$/,
        error: 'must be an address like postgres://user:password@host:5432/database',
      })
      .optional(),
    DATA_DIR: z.string().default('.data'),
    BACKUP_KEEP: wholeNumber(1, 1_000, 'must be a number from 1 to 1000').default(7),
    PROGRAMME_FILE: z.string().optional(),
    CONTACT_HASH_KEY: z.string().min(32, 'must have at least 32 characters').optional(),
    REST_SECRET_KEY_ON: z.enum(['sensitive', 'all'], 'must be sensitive or all').default('sensitive'),
    REST_API_KEY: key.default(DEVELOPMENT_KEYS.REST_API_KEY),
    REST_SECRET_KEY: key.default(DEVELOPMENT_KEYS.REST_SECRET_KEY),
  })
  .superRefine(
    (settings, context) => {
      const problem = (name: string, message: string) => context.addIssue({ code: 'custom', path: [name], message });
      const builtIn = builtInKeys(settings);
      if (settings.NODE_ENV === 'production') {
        const { PUBLIC_URL, CONTACT_HASH_KEY } = settings;
        const secrets = CONTACT_HASH_KEY === undefined ? [...builtIn, 'CONTACT_HASH_KEY'] : builtIn;
        for (const name of secrets) problem(name, `must be set in production, as ${name} or ${name}_FILE`);
        // Without it, links would name the address that the service listens at, and clients keep links for ever.
        if (!PUBLIC_URL) problem('PUBLIC_URL', 'must be set in production: referral links begin with it');
      } else if (builtIn.length > 0 && !LOOPBACK.has(settings.REFERENCE_HOST)) {
        problem('REFERENCE_HOST', 'everybody knows the development keys; set REST_API_KEY and REST_SECRET_KEY first');
      }
    },
    // Also beside a variable that is wrong by itself: the report names all.
    { when: () => true },
  );

type Settings = z.output<typeof SETTINGS>;
export type ReferenceConfig = ReturnType<typeof configOf>;

/**
 * Reads the environment; an empty variable counts as absent. Throws an OperatorError with one line for each wrong
 * variable, and no secret.
 */
export function loadReferenceConfig(env: NodeJS.ProcessEnv = process.env): ReferenceConfig {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  // Kubernetes sets it so for a service with the name `reference`.
  if (given['REFERENCE_PORT']?.startsWith('tcp://')) given['REFERENCE_PORT'] = undefined;
  const problems = SECRETS.flatMap((name) => readSecretFile(given, name));
  const settings = SETTINGS.safeParse(given);
  for (const issue of settings.error?.issues ?? []) problems.push(`${String(issue.path[0])}: ${issue.message}`);
  if (settings.success && problems.length === 0) return configOf(settings.data);
  throw new OperatorError(['The configuration cannot be used:', ...problems.map((line) => `  ${line}`)].join('\n'));
}

/** The README says what each of them means. */
function configOf(settings: Settings) {
  const isProduction = settings.NODE_ENV === 'production';
  return {
    isProduction,
    host: settings.REFERENCE_HOST,
    port: settings.REFERENCE_PORT,
    operatorPort: settings.REFERENCE_OPERATOR_PORT,
    publicUrl: settings.PUBLIC_URL,
    trustProxy: settings.REFERENCE_TRUST_PROXY,
    landingPerMinute: settings.REFERENCE_LANDING_PER_MINUTE,
    databaseUrl: settings.DATABASE_URL,
    dataDir: settings.DATA_DIR,
    backupKeep: settings.BACKUP_KEEP,
    programmeFile: settings.PROGRAMME_FILE,
    contactHashKey: settings.CONTACT_HASH_KEY,
    secretKeyOnAll: settings.REST_SECRET_KEY_ON === 'all',
    /** What the command line sends to the operator's port. A function, so that it is never printed. */
    headers: () => ({ APIKey: settings.REST_API_KEY, secretKey: settings.REST_SECRET_KEY }),
    keys: { apiKey: new Key(settings.REST_API_KEY), secretKey: new Key(settings.REST_SECRET_KEY) },
    hasDevelopmentKeys: builtInKeys(settings).length > 0,
  };
}

function builtInKeys(settings: Pick<Settings, keyof typeof DEVELOPMENT_KEYS>) {
  return (['REST_API_KEY', 'REST_SECRET_KEY'] as const).filter((name) => settings[name] === DEVELOPMENT_KEYS[name]);
}

/** Puts the content of the file `NAME_FILE`, without the white space around it, in the place of `NAME`. */
function readSecretFile(given: NodeJS.ProcessEnv, name: (typeof SECRETS)[number]): string[] {
  const path = given[`${name}_FILE`];
  if (path === undefined) return [];
  if (given[name] !== undefined) return [`${name}: set it or ${name}_FILE, not both`];
  try {
    given[name] = readFileSync(path, 'utf8').trim();
    return given[name] === '' ? [`${name}_FILE: the file is empty`] : [];
  } catch (error) {
    return [`${name}_FILE: cannot be read: ${reasonOf(error)}`];
  }
}
