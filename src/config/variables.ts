/* Every environment variable: its form, default and description, which `npm run docs` writes into docs/configuration.md. */
import * as z from 'zod';
import * as c from './credentials.ts';
import * as f from './forms.ts';
import { SCOPES } from './scopes.ts';

/** The reference service has the same. Not allowed in production. */
export const DEVELOPMENT_KEYS = { REST_API_KEY: 'development-api-key', REST_SECRET_KEY: 'development-secret-key' };

const BURST = 'the most in one window of ⌈burst ÷ per second⌉ seconds';

export const VARIABLES = z.object({
  NODE_ENV: f.oneOf(['production', 'development', 'test']).default('development').describe('`production` is strict'),
  HOST: f.host
    .default('127.0.0.1')
    .describe('address of `/graphql` (`localhost` is 127.0.0.1); other than loopback needs a token setting'),
  PORT: f.port.default(4_000).describe('port of `/graphql`; 0 takes a free one'),
  MANAGEMENT_HOST: f.host.default('127.0.0.1').describe('address of `/healthz`, `/readyz` and `/metrics`'),
  MANAGEMENT_PORT: f.port.default(4_001).describe('port of `/healthz`, `/readyz` and `/metrics`'),

  REST_BASE_URL: f.restUrl.optional().describe('without `/api/v3.0`; required in production; else: reference service'),
  REST_API_KEY: f.headerSecret
    .prefault(DEVELOPMENT_KEYS.REST_API_KEY)
    .describe('the API key, required in production; after a change, limits and idempotency keys in Redis start empty'),
  REST_SECRET_KEY: f.headerSecret.prefault(DEVELOPMENT_KEYS.REST_SECRET_KEY).describe('the secret key; required too'),
  REST_SERVICE_ID_FIELD: f.text.default('serviceId').describe('name of `serviceId` in the JSON of the REST service'),
  REST_TIMEOUT_MS: f.milliseconds.default(3_000).describe('time of a call with its retries, from its first request'),
  REST_CONNECTIONS: f.whole(1, 10_000).default(64).describe('most connections to each endpoint of the REST service'),
  REST_SECRET_KEY_ON: f
    .oneOf(['sensitive', 'all'])
    .default('sensitive')
    .describe('the calls with the secret key: coupons and deletions, or `all`, for accounts that demand it'),
  REST_IDLE_TIMEOUT_MS: f.upToAnHour.default(1_500).describe('idle time of a connection; below that of the service'),
  REST_CONNECTION_MAX_AGE_S: f
    .whole(1, 86_400)
    .default(60)
    .describe('age at which the connections to an endpoint are replaced'),
  REST_CA_FILE: f.certificates.optional().describe('PEM: trusted certificates, in place of the public ones'),
  REST_CLIENT_CERT_FILE: f.certificates.optional().describe('PEM: the client certificate, with its chain'),
  REST_CLIENT_KEY_FILE: f.privateKey.optional().describe('PEM: the key of `REST_CLIENT_CERT_FILE`'),
  HTTPS_PROXY: f.proxy.optional().describe('proxy for `https:` to the REST service, the key server and the collector'),
  HTTP_PROXY: f.proxy.optional().describe('the same for `http:`, and without `HTTPS_PROXY` for both'),
  NO_PROXY: f.text.default('').describe('hosts reached without the proxy: `.internal,10.0.0.0/8`; loopback always'),
  OPERATION_TIMEOUT_MS: f.milliseconds.default(10_000).describe('how long a whole operation may take'),

  JWT_JWKS_URL: f.keySetUrl.optional().describe('key set that verifies JWTs; `https://` in production'),
  JWT_PUBLIC_KEY: c.publicKey.optional().describe('public key in PEM that verifies JWTs'),
  JWT_SECRET: c.sharedSecret.optional().describe('shared secret that verifies JWTs, at least 32 bytes'),
  JWT_ISSUER: f.urls.default([]).describe('the claim `iss` must be one of them; needed with a JWT key'),
  JWT_AUDIENCE: f.urls.default([]).describe('the audience must hold one of them; needed with a JWT key'),
  JWT_AUDIENCE_CLAIM: c.claim.prefault('aud').describe('claim with the audience; another needs `JWT_REQUIRE` too'),
  JWT_PLAYER_CLAIM: c.claim.prefault('sub').describe('claim with the player; users must not be able to edit it'),
  JWT_SCOPE_CLAIM: c.claims.prefault('scope').describe('claims with scopes; the first that a token has is read'),
  JWT_SCOPE_MAP: c.scopeMap.optional().describe('JSON: name in a token → list of scopes; other names allow nothing'),
  JWT_DEFAULT_SCOPES: c.defaultScopes.default([]).describe('scopes of a token without a scope claim (Firebase)'),
  JWT_REQUIRE: c.requirements.default([]).describe('claims that must have this value: `token_use=access`'),
  JWT_MAX_LIFETIME_S: f.whole(0, 315_360_000).default(86_400).describe('longest `exp` − `iat` of a JWT; 0: no limit'),
  JWT_TYP: f.text.optional().describe('a JWT header `typ` that is accepted beside `JWT` and `at+jwt`'),
  CLIENT_TOKENS_FILE: c.clientTokens.optional().describe('JSON list; `npm run token -- --client NAME` prints an item'),

  FEDERATION: f.flag.default(false).describe('serves a federation 2 subgraph, with `_entities` and `_service`'),
  CORS_ORIGINS: f.origins.default([]).describe('websites that may call; in development also the Sandbox and loopback'),
  TRUST_PROXY: f.trustProxy
    .default(false)
    .describe('the proxies whose `X-Forwarded-For` is trusted: [by platform](environments.md#by-platform)'),
  REDIS_URL: f.redisUrl.optional().describe('needed with several replicas: shared limits, keys of events, queries'),
  REDIS_TIMEOUT_MS: f.milliseconds.default(250).describe('how long an event with an idempotency key waits for Redis'),
  REDIS_CA_FILE: f.certificates.optional().describe('for `rediss:`, as `REST_CA_FILE`'),
  REDIS_CLIENT_CERT_FILE: f.certificates.optional().describe('for `rediss:`, as `REST_CLIENT_CERT_FILE`'),
  REDIS_CLIENT_KEY_FILE: f.privateKey.optional().describe('PEM: the key of `REDIS_CLIENT_CERT_FILE`'),
  PLAYER_IDS: f
    .oneOf(['opaque', 'personal'])
    .default('opaque')
    .describe('`personal`: ids are addresses or numbers; those of friends need `contacts:read`'),
  LOG_KEY: f.key
    .optional()
    .describe("key of hashes in log and friends' ids, 16 characters or more; else `REST_API_KEY`"),
  LOG_ADDRESSES: f.flag.default(false).describe('logs addresses with 401 and 429 as they are; else keyed hashes'),
  REVISION: f.text.optional().describe('the commit that was built, for the line `ready`; the images have it'),
  LOG_LEVEL: f
    .wordOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('lowest level that is logged'),
  SLOW_OPERATION_MS: f.milliseconds.default(1_000).describe('a longer operation is logged with its REST calls'),
  KEEP_ALIVE_TIMEOUT_MS: f.upToAnHour
    .default(125_000)
    .describe("idle time of a client's connection; above that of the edge"),
  SHUTDOWN_DELAY_MS: f
    .whole(0, 600_000)
    .default(0)
    .describe('how long requests are still accepted after SIGTERM: [by platform](environments.md#by-platform)'),
  SHUTDOWN_GRACE_MS: f.milliseconds.default(10_000).describe('how long requests in flight may take after that'),
  PERSISTED_OPERATIONS: f
    .oneOf(['off', 'log', 'enforce'])
    .default('off')
    .describe('an operation outside the manifest: `log` it, or `enforce` rejects it'),
  PERSISTED_OPERATIONS_FILE: f.texts.default([]).describe('files of manifests; a folder stands for its `*.json`'),
  PERSISTED_OPERATIONS_EXEMPT_SCOPE: f.oneOf(SCOPES).optional().describe('a caller with it may send any operation'),
  OTEL_EXPORTER_OTLP_ENDPOINT: f.httpUrl.optional().describe("collector (OTLP, HTTP); the SDK's `OTEL_*` apply too"),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: f.httpUrl.optional().describe('the same for traces alone, with its path'),
  OTEL_TRACES_EXPORTER: f.texts.default(['otlp']).describe('without `otlp`, as with `none`, no traces are exported'),
  OTEL_SDK_DISABLED: f.flag.default(false).describe('`true` exports no traces'),

  MAX_CONCURRENT_OPERATIONS: f.count.default(1_000).describe('operations executed at once; others get 503'),
  MAX_CONCURRENT_OPERATIONS_PER_CALLER: f.count
    .optional()
    .describe('the same of one caller without `any-player`, less while others have many; unset: an eighth'),
  MAX_CONCURRENT_OPERATIONS_PER_SERVER_CALLER: f.count
    .optional()
    .describe('the same of one caller with `any-player`, less while others have many; unset: all but an eighth'),
  MAX_BODY_BYTES: f.whole(1_024, 8_388_608).default(262_144).describe('largest request body, in bytes'),
  MAX_HEAD_BYTES: f.whole(4_096, 65_536).default(16_384).describe('largest head of a request, in bytes'),
  MAX_TOKENS: f.whole(10, 100_000).default(1_000).describe('lexical tokens of a document'),
  MAX_DEPTH: f.whole(1, 100).default(10).describe('levels of a document; introspection is exempt'),
  MAX_COMPLEXITY: f.whole(1, 10_000_000).default(25_000).describe('complexity of an operation'),
  MAX_UPSTREAM_CALLS: f.whole(1, 10_000).default(200).describe('REST calls of one operation'),
  MAX_OPERATIONS_PER_SECOND: f.count.default(50).describe('operations of a caller bound to its own player'),
  MAX_OPERATIONS_BURST: f.count.default(100).describe(BURST),
  MAX_COUPON_READS_PER_SECOND: f.count.default(10).describe('`coupons` fields of such a caller'),
  MAX_COUPON_READS_BURST: f.count.default(30).describe(BURST),
  MAX_SERVER_OPERATIONS_PER_SECOND: f.count.default(20_000).describe('operations of a caller with `any-player`'),
  MAX_SERVER_OPERATIONS_BURST: f.count.default(40_000).describe(BURST),
  MAX_SERVER_COUPON_READS_PER_SECOND: f.count.default(10_000).describe('`coupons` fields of such a caller'),
  MAX_SERVER_COUPON_READS_BURST: f.count.default(20_000).describe(BURST),
  MAX_IDEMPOTENCY_KEYS_PER_DAY: f
    .whole(1, 1_000_000_000)
    .default(1_000)
    .describe('idempotency keys of a caller bound to its own player in any 24 hours'),
  MAX_SERVER_IDEMPOTENCY_KEYS_PER_DAY: f
    .whole(1, 1_000_000_000)
    .default(4_320_000)
    .describe('the same with `any-player`: 50 a second'),
  MAX_FAILED_AUTHENTICATIONS_PER_SECOND: f.count.default(20).describe('requests of an address without a valid token'),
  MAX_FAILED_AUTHENTICATIONS_BURST: f.count.default(500).describe(BURST),
});

export type Values = z.output<typeof VARIABLES>;

/** The secrets. They can also be given as the path of a file, under their name with `_FILE`. */
export const ALSO_IN_FILES = Object.entries(VARIABLES.shape).flatMap(([name, form]) =>
  form.unwrap().description === 'secret' ? name : [],
);
