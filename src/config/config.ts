import { authOf } from './auth.ts';
import { ConfigError, type Given, readEnvironment } from './environment.ts';
import { LOOPBACK } from './forms.ts';
import { DEVELOPMENT_KEYS, type Values } from './variables.ts';

const JWT_KEYS = ['JWT_JWKS_URL', 'JWT_PUBLIC_KEY', 'JWT_SECRET'];
const A_TOKEN_SETTING = `${JWT_KEYS.join(', ')} or CLIENT_TOKENS_FILE`;

/** The configuration of one gateway. */
export type Config = Readonly<ReturnType<typeof group>>;

/**
 * Reads every setting of the gateway. In production, unsafe or missing settings are errors. Throws one ConfigError that
 * names every variable that cannot be used. It never shows the value of a secret.
 */
export function loadConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const { values, given, problems } = readEnvironment(env);
  problems.push(...tokenProblems(values, given));
  if (values.NODE_ENV === 'production') problems.push(...productionProblems(values, given));
  problems.push(...conflicts(values, given));
  if (problems.length > 0) throw new ConfigError(problems);
  return deepFreeze(group(values));
}

/** The values of the variables, grouped by the part of the gateway that uses them. */
function group(values: Values) {
  return {
    production: values.NODE_ENV === 'production',
    host: values.HOST,
    port: values.PORT,
    management: { host: values.MANAGEMENT_HOST, port: values.MANAGEMENT_PORT },
    rest: {
      baseUrl: values.REST_BASE_URL,
      apiKey: values.REST_API_KEY,
      secretKey: values.REST_SECRET_KEY,
      serviceIdField: values.REST_SERVICE_ID_FIELD,
      timeoutMs: Math.min(values.REST_TIMEOUT_MS, values.OPERATION_TIMEOUT_MS),
      connections: values.REST_CONNECTIONS,
    },
    operationTimeoutMs: values.OPERATION_TIMEOUT_MS,
    auth: authOf(values),
    federation: values.FEDERATION,
    corsOrigins: values.CORS_ORIGINS,
    trustProxy: values.TRUST_PROXY,
    redisUrl: values.REDIS_URL,
    logLevel: values.LOG_LEVEL,
    slowOperationMs: values.SLOW_OPERATION_MS,
    shutdownDelayMs: values.SHUTDOWN_DELAY_MS,
    shutdownGraceMs: values.SHUTDOWN_GRACE_MS,
    persistedOperations: {
      mode: values.PERSISTED_OPERATIONS,
      files: values.PERSISTED_OPERATIONS_FILE,
      exemptScope: values.PERSISTED_OPERATIONS_EXEMPT_SCOPE,
    },
    tracing: { endpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT },
    keepAliveTimeoutMs: values.KEEP_ALIVE_TIMEOUT_MS,
    maxConcurrentOperations: values.MAX_CONCURRENT_OPERATIONS,
    limits: {
      bodyBytes: values.MAX_BODY_BYTES,
      tokens: values.MAX_TOKENS,
      depth: values.MAX_DEPTH,
      complexity: values.MAX_COMPLEXITY,
      upstreamCalls: values.MAX_UPSTREAM_CALLS,
    },
    rates: {
      operations: rateOf(values, 'OPERATIONS'),
      couponReads: rateOf(values, 'COUPON_READS'),
      serverOperations: rateOf(values, 'SERVER_OPERATIONS'),
      serverCouponReads: rateOf(values, 'SERVER_COUPON_READS'),
      failedAuthentications: rateOf(values, 'FAILED_AUTHENTICATIONS'),
    },
  };
}

type Rate = 'OPERATIONS' | 'COUPON_READS';

function rateOf(values: Values, name: Rate | `SERVER_${Rate}` | 'FAILED_AUTHENTICATIONS') {
  return { perSecond: values[`MAX_${name}_PER_SECOND`], burst: values[`MAX_${name}_BURST`] };
}

/** Freezes plain objects and lists. */
function deepFreeze<Value extends object>(value: Value): Value {
  for (const member of Object.values(value)) {
    if (Array.isArray(member) || (member && Object.getPrototypeOf(member) === Object.prototype)) deepFreeze(member);
  }
  return Object.freeze(value);
}

/** Whether a setting says which tokens are accepted, usable or not. Without one the gateway is open. */
function hasTokenSetting(given: Given): boolean {
  return [...JWT_KEYS, 'CLIENT_TOKENS_FILE'].some((name) => given.has(name));
}

/** What is missing or contradictory in the settings of JWTs, one line for each variable. */
function* tokenProblems(values: Values, given: Given): Generator<string> {
  const { JWT_ISSUER: issuers, JWT_AUDIENCE: audiences, JWT_AUDIENCE_CLAIM: audience } = values;
  const keys = JWT_KEYS.filter((name) => given.has(name)).length;
  if (keys > 1) yield `${JWT_KEYS.join(', ')}: set exactly one of them`;
  if (keys === 0 && (issuers.length > 0 || audiences.length > 0)) {
    yield 'JWT_JWKS_URL, JWT_PUBLIC_KEY or JWT_SECRET: one is needed with JWT_ISSUER and JWT_AUDIENCE';
  }
  if (keys === 0) return;
  if (issuers.length === 0) yield 'JWT_ISSUER: is needed with a JWT key; it is what the claim "iss" must say';
  if (audiences.length === 0) {
    yield 'JWT_AUDIENCE: is needed with a JWT key; it is what the audience of a token must hold';
  }
  if (audience.name !== 'aud' && values.JWT_REQUIRE.length === 0) {
    yield `JWT_REQUIRE: is needed when JWT_AUDIENCE_CLAIM is ${audience.name}, for example token_use=access; without it ID tokens of the same application are accepted`;
  }
}

/** Settings that are missing or unsafe in production, one line for each variable. */
function* productionProblems(values: Values, given: Given): Generator<string> {
  const { REST_BASE_URL: baseUrl, JWT_JWKS_URL: jwksUrl } = values;
  if (!baseUrl) {
    yield 'REST_BASE_URL: is needed in production; it is the URL of the REST service without /api/v3.0, for example https://rewards.example.com';
  } else if (isPlainHttp(baseUrl)) {
    yield 'REST_BASE_URL: must begin with https:// in production, because every call carries the keys';
  }
  for (const [name, developmentKey] of Object.entries(DEVELOPMENT_KEYS)) {
    if ([undefined, developmentKey].includes(given.get(name))) {
      yield `${name}: is needed in production (or ${name}_FILE), and not the development key`;
    }
  }
  if (!hasTokenSetting(given)) yield `${A_TOKEN_SETTING}: one is needed in production`;
  if (values.CORS_ORIGINS.includes('*')) {
    yield 'CORS_ORIGINS: must name its origins in production; "*" allows every website';
  }
  if (values.TRUST_PROXY === true) {
    yield 'TRUST_PROXY: must be a number of proxies, or their addresses, in production; with true every client can invent its address';
  }
  if (jwksUrl && isPlainHttp(jwksUrl)) yield 'JWT_JWKS_URL: must begin with https:// in production';
}

function isPlainHttp({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && !LOOPBACK.test(hostname);
}

/** Settings that cannot be used together, one line for each variable. */
function* conflicts(values: Values, given: Given): Generator<string> {
  const { HOST: host, PORT: port, REST_TIMEOUT_MS: timeout, OPERATION_TIMEOUT_MS: longest } = values;
  if (!hasTokenSetting(given) && !LOOPBACK.test(host)) {
    yield `HOST: without a token setting the gateway is open to everybody, so it listens on loopback only; set ${A_TOKEN_SETTING} to listen on ${host}`;
  }
  if (given.has('REST_TIMEOUT_MS') && timeout > longest) {
    yield `REST_TIMEOUT_MS: must be at most OPERATION_TIMEOUT_MS (${longest}), the limit of the whole operation; it is ${timeout}`;
  }
  if (values.PERSISTED_OPERATIONS !== 'off' && values.PERSISTED_OPERATIONS_FILE.length === 0) {
    yield `PERSISTED_OPERATIONS_FILE: is needed when PERSISTED_OPERATIONS is ${values.PERSISTED_OPERATIONS}`;
  }
  if (port !== 0 && port === values.MANAGEMENT_PORT && host === values.MANAGEMENT_HOST) {
    yield 'MANAGEMENT_PORT: must not be PORT; each needs a port of its own';
  }
}
