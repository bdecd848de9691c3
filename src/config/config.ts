import { type AuthConfig, readAuth } from './auth.ts';
import { ConfigError, type Given, readEnvironment } from './environment.ts';
import { LOOPBACK } from './forms.ts';
import { reveal, Secret } from './secret.ts';
import { groupSettings, type Settings } from './settings.ts';

/** The default keys in development; the reference service has the same. Not allowed in production. */
const DEVELOPMENT_KEYS = { REST_API_KEY: 'development-api-key', REST_SECRET_KEY: 'development-secret-key' };

const A_TOKEN_SETTING = 'JWT_JWKS_URL, JWT_PUBLIC_KEY, JWT_SECRET or CLIENT_TOKENS_FILE';

/** The configuration of one gateway. */
export interface Config extends Readonly<Omit<Settings, 'auth' | 'rest'>> {
  readonly production: boolean;
  readonly auth: AuthConfig;
  readonly rest: Readonly<Settings['rest'] & { apiKey: Secret; secretKey: Secret }>;
}

/**
 * Reads every setting of the gateway. In production, unsafe or missing settings are errors. Throws one ConfigError that
 * names every variable that cannot be used. It never shows the value of a secret.
 */
export function loadConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const { values, given, problems } = readEnvironment(env);
  const settings = groupSettings(values);
  const { rest, operationTimeoutMs } = settings;
  const production = values.NODE_ENV === 'production';
  const auth = readAuth(settings.auth, problems);
  if (production) problems.push(...productionProblems(settings, auth));
  problems.push(...conflictsOf(settings, auth, given));
  if (problems.length > 0) throw new ConfigError(problems);

  return deepFreeze({
    ...settings,
    production,
    auth,
    rest: {
      ...rest,
      timeoutMs: Math.min(rest.timeoutMs, operationTimeoutMs),
      apiKey: rest.apiKey ?? new Secret(DEVELOPMENT_KEYS.REST_API_KEY),
      secretKey: rest.secretKey ?? new Secret(DEVELOPMENT_KEYS.REST_SECRET_KEY),
    },
  });
}

/** Freezes objects and lists, but not URLs. */
function deepFreeze<Value extends object>(value: Value): Value {
  for (const member of Object.values(value)) {
    if (typeof member === 'object' && member !== null && !(member instanceof URL)) deepFreeze(member);
  }
  return Object.freeze(value);
}

/** Settings that are missing or unsafe in production, one line for each variable. */
function productionProblems({ rest, auth: jwt, corsOrigins, trustProxy }: Settings, auth: AuthConfig): string[] {
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
  if (trustProxy === true) {
    problems.push(
      'TRUST_PROXY: must be a number of proxies, or their addresses, in production; with true every client can invent its address',
    );
  }
  if (jwt.jwksUrl && isPlainHttp(jwt.jwksUrl)) problems.push('JWT_JWKS_URL: must begin with https:// in production');
  return problems;
}

/** Settings that cannot be used together, one line for each variable. */
function conflictsOf(settings: Settings, auth: AuthConfig, given: Given): string[] {
  const { host, rest, operationTimeoutMs, persistedOperations } = settings;
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
