import { type AuthConfig, readAuth } from './auth.ts';
import { ConfigError, readEnvironment } from './environment.ts';
import { isRedisUrl, LOOPBACK } from './forms.ts';
import { reveal, Secret } from './secret.ts';
import { SETTINGS, type Settings } from './settings.ts';

/** The default keys in development; the reference service has the same. Not allowed in production. */
const DEVELOPMENT_KEYS = { REST_API_KEY: 'development-api-key', REST_SECRET_KEY: 'development-secret-key' };

const A_TOKEN_SETTING = 'JWT_JWKS_URL, JWT_PUBLIC_KEY, JWT_SECRET or CLIENT_TOKENS_FILE';

/** The configuration of one gateway. */
export interface Config extends Readonly<Omit<Settings, 'auth' | 'rest'>> {
  readonly production: boolean;
  readonly auth: AuthConfig;
  readonly rest: Readonly<Settings['rest'] & { apiKey: Secret; secretKey: Secret }>;
  /** Warnings about the environment, one line each. They do not prevent the start. */
  readonly warnings: readonly string[];
}

/**
 * Reads every setting of the gateway. In production, unsafe or missing settings are errors. Throws one ConfigError that
 * names every variable that cannot be used. It never shows the value of a secret.
 */
export function loadConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const { values, given, problems, warnings } = readEnvironment(env, SETTINGS);
  const { rest, operationTimeoutMs } = values;
  const production = values.environment === 'production';
  const auth = readAuth(values.auth, problems);
  if (production) problems.push(...productionProblems(values, auth));
  problems.push(...conflictsOf(values, auth, given));
  if (problems.length > 0) throw new ConfigError(problems);

  return deepFreeze({
    ...values,
    production,
    auth,
    rest: {
      ...rest,
      timeoutMs: Math.min(rest.timeoutMs, operationTimeoutMs),
      apiKey: rest.apiKey ?? new Secret(DEVELOPMENT_KEYS.REST_API_KEY),
      secretKey: rest.secretKey ?? new Secret(DEVELOPMENT_KEYS.REST_SECRET_KEY),
    },
    warnings,
  });
}

/** Freezes objects and lists, but not URLs. A frozen `Secret` can still change: its fields are private. */
function deepFreeze<Value extends object>(value: Value): Value {
  for (const member of Object.values(value)) {
    if (typeof member === 'object' && member !== null && !(member instanceof URL)) deepFreeze(member);
  }
  return Object.freeze(value);
}

/** Settings that are missing or unsafe in production, one line for each variable. */
function productionProblems({ rest, auth: jwt, corsOrigins }: Settings, auth: AuthConfig): string[] {
  const problems: string[] = [];
  if (!rest.baseUrl) {
    problems.push(
      'REST_BASE_URL: is needed in production; it is the URL of the REST service without /api/v3.0, for example https://rewards.example.com',
    );
  } else if (isPlainHttp(rest.baseUrl)) {
    problems.push('REST_BASE_URL: must begin with https:// in production, because every call carries the keys');
  }
  for (const [name, key] of [['REST_API_KEY', rest.apiKey] as const, ['REST_SECRET_KEY', rest.secretKey] as const]) {
    if (!key) problems.push(`${name}: is needed in production (or ${name}_FILE)`);
    else if (isDevelopmentKey(key)) problems.push(`${name}: must not be the development key in production`);
  }
  if (auth.kind === 'open') problems.push(`${A_TOKEN_SETTING}: one is needed in production`);
  if (corsOrigins.includes('*')) {
    problems.push('CORS_ORIGINS: must name its origins in production; "*" allows every website');
  }
  if (jwt.jwksUrl && isPlainHttp(jwt.jwksUrl)) problems.push('JWT_JWKS_URL: must begin with https:// in production');
  return problems;
}

/** Settings that cannot be used together, one line for each variable. */
function conflictsOf(settings: Settings, auth: AuthConfig, given: ReadonlySet<string>): string[] {
  const { host, rest, redisUrl, operationTimeoutMs, persistedOperations } = settings;
  const problems: string[] = [];
  if (auth.kind === 'open' && !LOOPBACK.test(host)) {
    problems.push(
      `HOST: without a token setting the gateway is open to everybody, so it listens on loopback only; set ${A_TOKEN_SETTING} to listen on ${host}`,
    );
  }
  if (given.has('REST_TIMEOUT_MS') && rest.timeoutMs > operationTimeoutMs) {
    problems.push(
      `REST_TIMEOUT_MS: must be at most OPERATION_TIMEOUT_MS (${operationTimeoutMs}), the limit of the whole operation; it is ${rest.timeoutMs}`,
    );
  }
  if (persistedOperations.mode !== 'off' && persistedOperations.files.length === 0) {
    problems.push(`PERSISTED_OPERATIONS_FILE: is needed when PERSISTED_OPERATIONS is ${persistedOperations.mode}`);
  }
  if (redisUrl && !isRedisUrl(reveal(redisUrl))) {
    problems.push(
      'REDIS_URL: must be a URL that begins with redis:// or rediss:// and has a host; write the characters /, # and % of a password as %2F, %23 and %25',
    );
  }
  if (isSameAddress(settings)) problems.push('MANAGEMENT_PORT: must not be PORT; each needs a port of its own');
  return problems;
}

function isSameAddress({ host, port, management }: Settings): boolean {
  return port !== 0 && port === management.port && host === management.host;
}

function isPlainHttp({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && !LOOPBACK.test(hostname);
}

function isDevelopmentKey(key: Secret): boolean {
  return Object.values(DEVELOPMENT_KEYS).includes(reveal(key));
}
