/*
 * Every environment variable of the gateway: its form, default and description. `npm run docs` writes them into
 * docs/configuration.md; settings.ts groups their values.
 */
import * as z from 'zod';
import * as form from './forms.ts';
import { SCOPES } from './scopes.ts';

/** Variables that can also be given as the path of a file, under their name with `_FILE`. */
export const ALSO_IN_FILES = ['REST_API_KEY', 'REST_SECRET_KEY', 'JWT_PUBLIC_KEY', 'JWT_SECRET', 'REDIS_URL'] as const;

const BURST = 'how many at once after a pause';

export const VARIABLES = z.object({
  NODE_ENV: form
    .oneOf(['production', 'development', 'test'])
    .default('development')
    .describe('`production` refuses to start with an unsafe or incomplete configuration'),
  HOST: form.text
    .default('127.0.0.1')
    .describe('address of the GraphQL endpoint; an address that is not loopback needs a token setting'),
  PORT: form.port.default(4_000).describe('its port; 0 takes a free one'),
  MANAGEMENT_HOST: form.text.default('127.0.0.1').describe('address of `/healthz`, `/readyz` and `/metrics`'),
  MANAGEMENT_PORT: form.port.default(4_001).describe('their port'),

  REST_BASE_URL: form.restUrl
    .optional()
    .describe(
      'URL of the REST service without `/api/v3.0`; in production `https://`, except on loopback. Without it, the reference service is started (not in production)',
    ),
  REST_API_KEY: form.secret.optional().describe('the API key of the REST service; needed in production'),
  REST_SECRET_KEY: form.secret.optional().describe('its secret key; needed in production'),
  REST_SERVICE_ID_FIELD: form.text.default('serviceId').describe('the wire name of `serviceId`'),
  REST_TIMEOUT_MS: form.milliseconds
    .default(3_000)
    .describe('how long one REST call may take, its retries included; at most `OPERATION_TIMEOUT_MS`'),
  REST_CONNECTIONS: form.whole(1, 10_000).default(128).describe('connections to the REST service at most'),
  OPERATION_TIMEOUT_MS: form.milliseconds.default(10_000).describe('how long a whole operation may take'),

  JWT_JWKS_URL: form.httpUrl.optional().describe('key set that verifies JWTs; `https://` in production'),
  JWT_PUBLIC_KEY: form.secret.optional().describe('public key in PEM that verifies JWTs'),
  JWT_SECRET: form.secret.optional().describe('shared secret that verifies JWTs, at least 32 bytes'),
  JWT_ISSUER: form.text.optional().describe('what the claim `iss` must say; needed with a JWT key'),
  JWT_AUDIENCE: form.text.optional().describe('what the claim `aud` must hold; needed with a JWT key'),
  JWT_MAX_LIFETIME_S: form
    .whole(0, 315_360_000)
    .default(86_400)
    .describe(
      'the longest lifetime of a JWT that is accepted (`exp` − `iat`, or, without `iat`, `exp` − now); 0 accepts any',
    ),
  JWT_TYP: form.text.optional().describe('a value of the JWT header `typ` that is accepted beside `JWT` and `at+jwt`'),
  CLIENT_TOKENS_FILE: form.text
    .optional()
    .describe('file of client tokens: `[{ "name", "sha256", "scopes", "expiresAt"? }]`'),

  FEDERATION: form.flag
    .default(false)
    .describe('serves the schema as a federation 2 subgraph, with `_entities` and `_service`'),
  CORS_ORIGINS: form.origins
    .default([])
    .describe('websites that may send requests; in development also the hosted Sandbox and this machine'),
  TRUST_PROXY: form.trustProxy.default(false).describe('the proxies whose `X-Forwarded-For` is trusted'),
  REDIS_URL: form.redisUrl
    .optional()
    .describe('`redis://` or `rediss://` URL; replicas then share persisted queries, rate limits and idempotency keys'),
  LOG_LEVEL: form
    .oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('the lowest level that is logged'),
  SLOW_OPERATION_MS: form.milliseconds
    .default(1_000)
    .describe('an operation that takes longer is logged with its REST calls'),
  SHUTDOWN_DELAY_MS: form
    .whole(0, 600_000)
    .default(0)
    .describe(
      'how long after SIGTERM requests are still accepted while `/readyz` responds 503: longer than a balancer takes to notice',
    ),
  SHUTDOWN_GRACE_MS: form.milliseconds
    .default(10_000)
    .describe('how long requests in flight may take after that; then their connections are closed'),
  PERSISTED_OPERATIONS: form
    .oneOf(['off', 'log', 'enforce'])
    .default('off')
    .describe(
      '`log` reports and `enforce` rejects operations that are not in the manifest; clients may send ids with each of them',
    ),
  PERSISTED_OPERATIONS_FILE: form.paths
    .default([])
    .describe(
      'where the operations of the applications are listed: an Apollo manifest, `{ id: text }` (Relay, GraphQL Code Generator, gql.tada), or `operationOutput` of Apollo Kotlin. A folder stands for its `*.json`',
    ),
  PERSISTED_OPERATIONS_EXEMPT_SCOPE: form
    .oneOf(SCOPES)
    .describe('a scope')
    .optional()
    .describe('a caller with it may send any operation'),
  OTEL_EXPORTER_OTLP_ENDPOINT: form.httpUrl
    .optional()
    .describe(
      'OpenTelemetry collector (OTLP over HTTP); without it nothing is traced. With it, the other `OTEL_*` variables of the SDK apply: service name (default `referral-gateway`), resource, sampler, headers, batches',
    ),
  KEEP_ALIVE_TIMEOUT_MS: form.milliseconds
    .default(65_000)
    .describe('how long a connection may be idle; longer than the idle timeout of the balancer'),

  MAX_CONCURRENT_OPERATIONS: form
    .whole(1, 1_000_000)
    .default(1_000)
    .describe('operations executed at once; as many again may wait, others get 503'),
  MAX_BODY_BYTES: form.whole(1_024, 16_777_216).default(262_144).describe('largest request body, in bytes'),
  MAX_TOKENS: form.whole(10, 100_000).default(1_000).describe('lexical tokens of a document'),
  MAX_DEPTH: form.whole(1, 100).default(10).describe('levels of a document; introspection is exempt'),
  MAX_COMPLEXITY: form
    .whole(1, 10_000_000)
    .default(25_000)
    .describe(
      'fields; a field below a list counts once for each item of the list; in development, `extensions.cost` of a response shows it',
    ),
  MAX_UPSTREAM_CALLS: form.whole(1, 10_000).default(200).describe('REST calls of one operation'),
  MAX_OPERATIONS_PER_SECOND: form.rate.default(50).describe('ordinary operations of a caller bound to its own player'),
  MAX_OPERATIONS_BURST: form.rate.default(500).describe(BURST),
  MAX_COUPON_READS_PER_SECOND: form.rate.default(10).describe('`coupons` fields of such a caller'),
  MAX_COUPON_READS_BURST: form.rate.default(30).describe(BURST),
  MAX_SERVER_OPERATIONS_PER_SECOND: form.rate
    .default(20_000)
    .describe('ordinary operations of a caller with `any-player`'),
  MAX_SERVER_OPERATIONS_BURST: form.rate.default(40_000).describe(BURST),
  MAX_SERVER_COUPON_READS_PER_SECOND: form.rate.default(10_000).describe('`coupons` fields of such a caller'),
  MAX_SERVER_COUPON_READS_BURST: form.rate.default(20_000).describe(BURST),
  MAX_FAILED_AUTHENTICATIONS_PER_SECOND: form.rate
    .default(20)
    .describe('requests from one address whose token is missing or not valid'),
  MAX_FAILED_AUTHENTICATIONS_BURST: form.rate.default(500).describe(BURST),
});

export type Values = z.output<typeof VARIABLES>;
