/*
 * Every setting of the gateway, declared once: its environment variable, form, default, description and place in the
 * configuration. `npm run docs` writes them into docs/configuration.md.
 */
import * as z from 'zod';
import {
  flag,
  httpUrl,
  milliseconds,
  oneOf,
  origins,
  paths,
  port,
  rate,
  restUrl,
  text,
  trustProxy,
  whole,
  workers,
} from './forms.ts';
import { SCOPES } from './scopes.ts';
import { secret, setting } from './setting.ts';

const limit = (name: string, defaults: { perSecond: number; burst: number }, about: string) =>
  z.object({
    perSecond: setting(`${name}_PER_SECOND`, rate.default(defaults.perSecond), about),
    burst: setting(`${name}_BURST`, rate.default(defaults.burst), 'how many at once after a pause'),
  });

export const SETTINGS = z.object({
  environment: setting(
    'NODE_ENV',
    oneOf(['production', 'development', 'test']).default('development'),
    '`production` refuses to start with an unsafe or incomplete configuration',
  ),
  host: setting(
    'HOST',
    text.default('127.0.0.1'),
    'address of the GraphQL endpoint; an address that is not loopback needs a token setting',
  ),
  port: setting('PORT', port.default(4_000), 'its port; 0 takes a free one'),
  management: z.object({
    host: setting('MANAGEMENT_HOST', text.default('127.0.0.1'), 'address of `/healthz`, `/readyz` and `/metrics`'),
    port: setting('MANAGEMENT_PORT', port.default(4_001), 'their port'),
  }),
  rest: z.object({
    baseUrl: setting(
      'REST_BASE_URL',
      restUrl.optional(),
      'URL of the REST service without `/api/v3.0`; in production `https://`, except on loopback. Without it, the reference service is started (not in production)',
    ),
    apiKey: secret('REST_API_KEY', 'the API key of the REST service; needed in production'),
    secretKey: secret('REST_SECRET_KEY', 'its secret key; needed in production'),
    serviceIdField: setting('REST_SERVICE_ID_FIELD', text.default('serviceId'), 'the wire name of `serviceId`'),
    timeoutMs: setting(
      'REST_TIMEOUT_MS',
      milliseconds.default(3_000),
      'how long one REST call may take, its retries included; begins when the first request is sent; at most `OPERATION_TIMEOUT_MS`',
    ),
    connections: setting(
      'REST_CONNECTIONS',
      whole(1, 10_000).default(64),
      'connections to the REST service at most, for each of its six endpoints: a slow endpoint does not use those of the others',
    ),
  }),
  operationTimeoutMs: setting(
    'OPERATION_TIMEOUT_MS',
    milliseconds.default(10_000),
    'how long a whole operation may take',
  ),
  auth: z.object({
    jwksUrl: setting('JWT_JWKS_URL', httpUrl.optional(), 'key set that verifies JWTs; `https://` in production'),
    publicKey: secret('JWT_PUBLIC_KEY', 'public key in PEM that verifies JWTs'),
    secret: secret('JWT_SECRET', 'shared secret that verifies JWTs, at least 32 bytes'),
    issuer: setting('JWT_ISSUER', text.optional(), 'what the claim `iss` must say; needed with a JWT key'),
    audience: setting('JWT_AUDIENCE', text.optional(), 'what the claim `aud` must hold; needed with a JWT key'),
    maxLifetimeSeconds: setting(
      'JWT_MAX_LIFETIME_S',
      whole(0, 315_360_000).default(86_400),
      'the longest lifetime of a JWT that is accepted (`exp` − `iat`, or, without `iat`, `exp` − now); 0 accepts any',
    ),
    type: setting(
      'JWT_TYP',
      text.optional(),
      'a value of the JWT header `typ` that is accepted beside `JWT` and `at+jwt`',
    ),
    clientTokensFile: setting(
      'CLIENT_TOKENS_FILE',
      text.optional(),
      'file of client tokens: `[{ "name", "sha256", "scopes", "expiresAt"? }]`; read again when it changes',
    ),
  }),
  anonymousTypename: setting(
    'ALLOW_ANONYMOUS_TYPENAME',
    flag.default(false),
    'answers exactly `{ __typename }` without a token',
  ),
  federation: setting(
    'FEDERATION',
    flag.default(false),
    'serves the schema as a federation 2 subgraph, with `_entities` and `_service`',
  ),
  corsOrigins: setting(
    'CORS_ORIGINS',
    origins.default([]),
    'websites that may send requests; in development also the hosted Sandbox and this machine',
  ),
  trustProxy: setting('TRUST_PROXY', trustProxy.default(false), 'the proxies whose `X-Forwarded-For` is trusted'),
  redisUrl: secret(
    'REDIS_URL',
    '`redis://` or `rediss://` URL; replicas then share persisted queries, rate limits, idempotency keys and cache invalidation',
  ),
  workers: setting('WORKERS', workers.default(1), 'processes on one port'),
  logLevel: setting(
    'LOG_LEVEL',
    oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
    'the lowest level that is logged',
  ),
  slowOperationMs: setting(
    'SLOW_OPERATION_MS',
    milliseconds.default(1_000),
    'an operation that takes longer is logged with its REST calls',
  ),
  shutdownDelayMs: setting(
    'SHUTDOWN_DELAY_MS',
    whole(0, 600_000).default(0),
    'how long after SIGTERM requests are still accepted while `/readyz` answers 503: longer than a balancer takes to notice',
  ),
  shutdownGraceMs: setting(
    'SHUTDOWN_GRACE_MS',
    milliseconds.default(10_000),
    'how long requests in flight may take after that; then their connections are closed',
  ),
  persistedOperations: z.object({
    mode: setting(
      'PERSISTED_OPERATIONS',
      oneOf(['off', 'log', 'enforce']).default('off'),
      '`log` reports and `enforce` refuses operations that are not in the manifest',
    ),
    files: setting(
      'PERSISTED_OPERATIONS_FILE',
      paths.default([]),
      'where the operations of the applications are listed: an Apollo manifest, `{ id: text }` (Relay, GraphQL Code Generator, gql.tada), or `operationOutput` of Apollo Kotlin. A folder stands for its `*.json`. Read again when something changes',
    ),
    exemptScope: setting(
      'PERSISTED_OPERATIONS_EXEMPT_SCOPE',
      oneOf(SCOPES).describe('a scope').optional(),
      'a caller with it may send any operation',
    ),
  }),
  tracing: z.object({
    endpoint: setting(
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      httpUrl.optional(),
      'OpenTelemetry collector (OTLP over HTTP); without it nothing is traced. With it, the other `OTEL_*` variables of the SDK apply: service name (default `referral-gateway`), resource, sampler, headers, batches',
    ),
  }),
  connections: z.object({
    headersTimeoutMs: setting('HEADERS_TIMEOUT_MS', milliseconds.default(5_000), "how long a request's head may take"),
    requestTimeoutMs: setting('REQUEST_TIMEOUT_MS', milliseconds.default(15_000), 'how long a whole request may take'),
    keepAliveTimeoutMs: setting(
      'KEEP_ALIVE_TIMEOUT_MS',
      milliseconds.default(65_000),
      'how long a connection may be idle; longer than the idle timeout of the balancer',
    ),
    max: setting(
      'MAX_CONNECTIONS',
      whole(1, 1_000_000).default(10_000),
      'open connections; with more, the oldest one on which nothing was requested is closed, else the new one',
    ),
  }),
  overload: z.object({
    concurrentOperations: setting(
      'MAX_CONCURRENT_OPERATIONS',
      whole(1, 1_000_000).default(1_000),
      'operations executed at once; as many again may wait, others are answered 503',
    ),
    eventLoopDelayMs: setting(
      'MAX_EVENT_LOOP_DELAY_MS',
      milliseconds.default(1_000),
      'average delay of the event loop, in milliseconds; above it, requests are answered 503',
    ),
    heapPercent: setting(
      'MAX_HEAP_PERCENT',
      whole(1, 100).default(90),
      'heap in use, in percent of the limit of V8; above it, requests are answered 503',
    ),
  }),
  limits: z.object({
    bodyBytes: setting('MAX_BODY_BYTES', whole(1_024, 16_777_216).default(262_144), 'largest request body, in bytes'),
    tokens: setting('MAX_TOKENS', whole(10, 100_000).default(1_000), 'lexical tokens of a document'),
    depth: setting('MAX_DEPTH', whole(1, 100).default(10), 'levels of a document; introspection is exempt'),
    aliases: setting('MAX_ALIASES', whole(0, 10_000).default(30), 'aliases, with fragments expanded'),
    aliasLength: setting('MAX_ALIAS_LENGTH', whole(1, 1_000).default(128), 'characters of an alias'),
    rootFields: setting('MAX_ROOT_FIELDS', whole(1, 1_000).default(20), 'root fields, with fragments expanded'),
    directives: setting('MAX_DIRECTIVES', whole(0, 10_000).default(30), 'directives, with fragments expanded'),
    complexity: setting(
      'MAX_COMPLEXITY',
      whole(1, 10_000_000).default(25_000),
      'fields; a field below a list counts once for each member of the list; in development, `extensions.cost` of a response shows it',
    ),
    upstreamCalls: setting('MAX_UPSTREAM_CALLS', whole(1, 10_000).default(100), 'REST calls of one operation'),
  }),
  rates: z.object({
    operations: limit(
      'MAX_OPERATIONS',
      { perSecond: 50, burst: 500 },
      'ordinary operations of a caller bound to its own player',
    ),
    couponReads: limit('MAX_COUPON_READS', { perSecond: 10, burst: 30 }, '`coupons` fields of such a caller'),
    serverOperations: limit(
      'MAX_SERVER_OPERATIONS',
      { perSecond: 20_000, burst: 40_000 },
      'ordinary operations of a caller with `any-player`',
    ),
    serverCouponReads: limit(
      'MAX_SERVER_COUPON_READS',
      { perSecond: 10_000, burst: 20_000 },
      '`coupons` fields of such a caller',
    ),
    failedAuthentications: limit(
      'MAX_FAILED_AUTHENTICATIONS',
      { perSecond: 20, burst: 500 },
      'requests from one address whose token is missing or not valid',
    ),
  }),
});

export type Settings = z.output<typeof SETTINGS>;
