import { availableParallelism } from 'node:os';
import * as z from 'zod';
import { readAuth } from './auth.ts';
import { ConfigError, readEnvironment } from './environment.ts';
import { LOOPBACK } from './loopback.ts';
import { SCOPES } from './scopes.ts';
import { reveal, Secret } from './secret.ts';
import type { SecretSource } from './secret-file.ts';

/** What the keys are in development when none are given; the reference service has the same. Refused in production. */
const DEVELOPMENT_API_KEY = 'development-api-key';
const DEVELOPMENT_SECRET_KEY = 'development-secret-key';

export type Config = ReturnType<typeof loadConfig>;

/**
 * Reads every setting of the gateway. In production whatever is unsafe or missing is refused; all that is wrong is said in
 * one report, which never holds a secret's value.
 */
export function loadConfig(env: NodeJS.ProcessEnv = process.env) {
  const { values, secrets, problems } = readEnvironment(env, SHAPE, SECRETS);
  const production = values.NODE_ENV === 'production';
  const auth = readAuth(
    {
      jwksUrl: values.JWT_JWKS_URL,
      publicKey: secrets.JWT_PUBLIC_KEY,
      secret: secrets.JWT_SECRET,
      issuer: values.JWT_ISSUER,
      audience: values.JWT_AUDIENCE,
      clientTokensFile: values.CLIENT_TOKENS_FILE,
    },
    problems,
  );

  if (production) refuseInProduction();
  if (auth.kind === 'open' && !LOOPBACK.test(values.HOST)) {
    problems.push(
      `HOST: without a token setting the gateway is open to everybody, so it listens on 127.0.0.1 only; set JWT_JWKS_URL, JWT_PUBLIC_KEY, JWT_SECRET or CLIENT_TOKENS_FILE to listen on ${values.HOST}`,
    );
  }
  if (values.PERSISTED_OPERATIONS !== 'off' && !values.PERSISTED_OPERATIONS_FILE) {
    problems.push(`PERSISTED_OPERATIONS_FILE: is needed when PERSISTED_OPERATIONS is ${values.PERSISTED_OPERATIONS}`);
  }
  if (values.READ_CACHE_TTL_MS > 0 && values.WORKERS !== 1 && !secrets.REDIS_URL) {
    problems.push(
      'REDIS_URL: is needed for READ_CACHE_TTL_MS with several WORKERS, so that a write through one of them is seen by all',
    );
  }
  if (secrets.REDIS_URL && !/^rediss?:\/\/[^/]/.test(reveal(secrets.REDIS_URL()))) {
    problems.push('REDIS_URL: must be a URL that begins with redis:// or rediss://');
  }
  if (problems.length > 0) throw new ConfigError(problems);

  return Object.freeze({
    production,
    host: values.HOST,
    port: values.PORT,
    management: { host: values.MANAGEMENT_HOST, port: values.MANAGEMENT_PORT },
    rest: {
      /** Undefined: the reference service is started beside the gateway. */
      baseUrl: values.REST_BASE_URL,
      apiKey: secrets.REST_API_KEY ?? fixed(DEVELOPMENT_API_KEY),
      secretKey: secrets.REST_SECRET_KEY ?? fixed(DEVELOPMENT_SECRET_KEY),
      serviceIdField: values.REST_SERVICE_ID_FIELD,
      timeoutMs: values.REST_TIMEOUT_MS,
      readCacheTtlMs: values.READ_CACHE_TTL_MS,
    },
    auth,
    anonymousTypename: values.ALLOW_ANONYMOUS_TYPENAME,
    corsOrigins: values.CORS_ORIGINS,
    trustProxy: values.TRUST_PROXY,
    redisUrl: secrets.REDIS_URL,
    workers: values.WORKERS,
    logLevel: values.LOG_LEVEL,
    operationTimeoutMs: values.OPERATION_TIMEOUT_MS,
    shutdownGraceMs: values.SHUTDOWN_GRACE_MS,
    connections: {
      headersTimeoutMs: values.HEADERS_TIMEOUT_MS,
      requestTimeoutMs: values.REQUEST_TIMEOUT_MS,
      keepAliveTimeoutMs: values.KEEP_ALIVE_TIMEOUT_MS,
      max: values.MAX_CONNECTIONS,
    },
    overload: {
      concurrentOperations: values.MAX_CONCURRENT_OPERATIONS,
      eventLoopDelayMs: values.MAX_EVENT_LOOP_DELAY_MS,
      heapPercent: values.MAX_HEAP_PERCENT,
    },
    tracing: values.OTEL_EXPORTER_OTLP_ENDPOINT && {
      endpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT,
      serviceName: values.OTEL_SERVICE_NAME,
    },
    persistedOperations: {
      mode: values.PERSISTED_OPERATIONS,
      file: values.PERSISTED_OPERATIONS_FILE,
      exemptScope: values.PERSISTED_OPERATIONS_EXEMPT_SCOPE,
    },
    limits: {
      bodyBytes: values.MAX_BODY_BYTES,
      tokens: values.MAX_TOKENS,
      depth: values.MAX_DEPTH,
      aliases: values.MAX_ALIASES,
      aliasLength: values.MAX_ALIAS_LENGTH,
      rootFields: values.MAX_ROOT_FIELDS,
      directives: values.MAX_DIRECTIVES,
      complexity: values.MAX_COMPLEXITY,
      upstreamCalls: values.MAX_UPSTREAM_CALLS,
    },
    rates: {
      operations: { perSecond: values.MAX_OPERATIONS_PER_SECOND, burst: values.MAX_OPERATIONS_BURST },
      couponReads: { perSecond: values.MAX_COUPON_READS_PER_SECOND, burst: values.MAX_COUPON_READS_BURST },
      serverOperations: {
        perSecond: values.MAX_SERVER_OPERATIONS_PER_SECOND,
        burst: values.MAX_SERVER_OPERATIONS_BURST,
      },
      serverCouponReads: {
        perSecond: values.MAX_SERVER_COUPON_READS_PER_SECOND,
        burst: values.MAX_SERVER_COUPON_READS_BURST,
      },
      failedAuthentications: {
        perSecond: values.MAX_FAILED_AUTHENTICATIONS_PER_SECOND,
        burst: values.MAX_FAILED_AUTHENTICATIONS_BURST,
      },
    },
  });

  function refuseInProduction(): void {
    if (!values.REST_BASE_URL)
      problems.push(
        'REST_BASE_URL: is needed in production; it is the host part of the REST service, for example https://rewards.example.com',
      );
    else if (values.REST_BASE_URL.protocol === 'http:' && !LOOPBACK.test(values.REST_BASE_URL.hostname)) {
      problems.push('REST_BASE_URL: must begin with https:// in production, because the keys travel with every call');
    }
    if (!secrets.REST_API_KEY) problems.push('REST_API_KEY: is needed in production (or REST_API_KEY_FILE)');
    if (!secrets.REST_SECRET_KEY) problems.push('REST_SECRET_KEY: is needed in production (or REST_SECRET_KEY_FILE)');
    if (auth.kind === 'open')
      problems.push('JWT_JWKS_URL, JWT_PUBLIC_KEY, JWT_SECRET or CLIENT_TOKENS_FILE: one is needed in production');
    if (values.CORS_ORIGINS.includes('*'))
      problems.push('CORS_ORIGINS: must name its origins in production; "*" lets every website in');
    if (values.JWT_JWKS_URL?.protocol === 'http:' && !LOOPBACK.test(values.JWT_JWKS_URL.hostname)) {
      problems.push('JWT_JWKS_URL: must begin with https:// in production');
    }
  }
}

function fixed(value: string): SecretSource {
  const secret = new Secret(value);
  return () => secret;
}

const port = whole(0, 65_535);
const milliseconds = whole(1, 600_000);
const rate = whole(1, 1_000_000);

/** A whole number between two bounds. */
function whole(min: number, max: number) {
  const message = `must be a whole number between ${min} and ${max}`;
  return z
    .string()
    .regex(/^\d{1,10}$/, message)
    .transform(Number)
    .refine((n) => n >= min && n <= max, message);
}

const httpUrl = z
  .string()
  .refine(
    (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
    'must be a URL that begins with http:// or https://',
  )
  .transform((text) => new URL(text))
  .refine((url) => !url.username && !url.password && !url.search && !url.hash, 'must have no user, query or fragment');

const flag = z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true');

const list = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean),
);

const origins = list.refine(
  (all) => all.every((origin) => origin === '*' || (URL.canParse(origin) && new URL(origin).origin === origin)),
  'must be a comma-separated list of origins such as https://app.example.com, without a path',
);

/** `true`, `false`, a number of proxies, or addresses and ranges: whose X-Forwarded-For is believed. */
const trustProxy = z.string().transform((text): boolean | string[] | ((address: string, hop: number) => boolean) => {
  if (text === 'true' || text === 'false') return text === 'true';
  if (/^\d{1,2}$/.test(text)) return (_address, hop) => hop < Number(text);
  return text.split(',').map((part) => part.trim());
});

const workers = z
  .string()
  .regex(/^(?:auto|[1-9]\d{0,2})$/, 'must be a number of processes, or auto for one per core')
  .transform((text) => (text === 'auto' ? availableParallelism() : Number(text)));

/** Every setting that is no secret: its name, its form and its default. */
const SHAPE = z.object({
  NODE_ENV: z.string().default('development'),
  HOST: z.string().default('127.0.0.1'),
  PORT: port.default(4000),
  MANAGEMENT_HOST: z.string().default('127.0.0.1'),
  MANAGEMENT_PORT: port.default(4001),
  REST_BASE_URL: httpUrl.optional(),
  REST_SERVICE_ID_FIELD: z.string().default('serviceId'),
  REST_TIMEOUT_MS: milliseconds.default(3_000),
  OPERATION_TIMEOUT_MS: milliseconds.default(10_000),
  SHUTDOWN_GRACE_MS: milliseconds.default(10_000),
  HEADERS_TIMEOUT_MS: milliseconds.default(5_000),
  REQUEST_TIMEOUT_MS: milliseconds.default(15_000),
  KEEP_ALIVE_TIMEOUT_MS: milliseconds.default(65_000),
  MAX_CONNECTIONS: whole(1, 1_000_000).default(10_000),
  MAX_CONCURRENT_OPERATIONS: whole(1, 1_000_000).default(1_000),
  MAX_EVENT_LOOP_DELAY_MS: milliseconds.default(1_000),
  MAX_HEAP_PERCENT: whole(1, 100).default(90),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
  OTEL_SERVICE_NAME: z.string().default('referral-gateway'),
  READ_CACHE_TTL_MS: whole(0, 60_000).default(0),
  JWT_JWKS_URL: httpUrl.optional(),
  JWT_ISSUER: z.string().optional(),
  JWT_AUDIENCE: z.string().optional(),
  CLIENT_TOKENS_FILE: z.string().optional(),
  ALLOW_ANONYMOUS_TYPENAME: flag.default(false),
  CORS_ORIGINS: origins.default([]),
  TRUST_PROXY: trustProxy.default(false),
  WORKERS: workers.default(1),
  LOG_LEVEL: z
    .enum(
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      'must be trace, debug, info, warn, error, fatal or silent',
    )
    .default('info'),
  PERSISTED_OPERATIONS: z.enum(['off', 'log', 'enforce'], 'must be off, log or enforce').default('off'),
  PERSISTED_OPERATIONS_FILE: z.string().optional(),
  PERSISTED_OPERATIONS_EXEMPT_SCOPE: z.enum(SCOPES, `must be one of ${SCOPES.join(', ')}`).optional(),
  MAX_BODY_BYTES: whole(1_024, 16_777_216).default(262_144),
  MAX_TOKENS: whole(10, 100_000).default(1_000),
  MAX_DEPTH: whole(1, 100).default(10),
  MAX_ALIASES: whole(0, 10_000).default(30),
  MAX_ALIAS_LENGTH: whole(1, 1_000).default(128),
  MAX_ROOT_FIELDS: whole(1, 1_000).default(20),
  MAX_DIRECTIVES: whole(0, 10_000).default(30),
  MAX_COMPLEXITY: whole(1, 10_000_000).default(25_000),
  MAX_UPSTREAM_CALLS: whole(1, 10_000).default(100),
  MAX_OPERATIONS_PER_SECOND: rate.default(50),
  MAX_OPERATIONS_BURST: rate.default(500),
  MAX_COUPON_READS_PER_SECOND: rate.default(10),
  MAX_COUPON_READS_BURST: rate.default(30),
  MAX_SERVER_OPERATIONS_PER_SECOND: rate.default(20_000),
  MAX_SERVER_OPERATIONS_BURST: rate.default(40_000),
  MAX_SERVER_COUPON_READS_PER_SECOND: rate.default(10_000),
  MAX_SERVER_COUPON_READS_BURST: rate.default(20_000),
  MAX_FAILED_AUTHENTICATIONS_PER_SECOND: rate.default(20),
  MAX_FAILED_AUTHENTICATIONS_BURST: rate.default(500),
});

/** Every setting that is a secret; each can also be given as the path of a file, under its name with `_FILE`. */
const SECRETS = ['REST_API_KEY', 'REST_SECRET_KEY', 'JWT_PUBLIC_KEY', 'JWT_SECRET', 'REDIS_URL'] as const;
