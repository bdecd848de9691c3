import type { Values } from './variables.ts';

/** The values of the variables, grouped by the part of the gateway that uses them; and what is fixed. */
export type Settings = ReturnType<typeof groupSettings>;

export function groupSettings(values: Values) {
  return {
    host: values.HOST,
    port: values.PORT,
    management: { host: values.MANAGEMENT_HOST, port: values.MANAGEMENT_PORT },
    rest: {
      baseUrl: values.REST_BASE_URL,
      apiKey: values.REST_API_KEY,
      secretKey: values.REST_SECRET_KEY,
      serviceIdField: values.REST_SERVICE_ID_FIELD,
      timeoutMs: values.REST_TIMEOUT_MS,
      connections: values.REST_CONNECTIONS,
    },
    operationTimeoutMs: values.OPERATION_TIMEOUT_MS,
    auth: {
      jwksUrl: values.JWT_JWKS_URL,
      publicKey: values.JWT_PUBLIC_KEY,
      secret: values.JWT_SECRET,
      issuers: values.JWT_ISSUER,
      audiences: values.JWT_AUDIENCE,
      audienceClaim: values.JWT_AUDIENCE_CLAIM,
      playerClaim: values.JWT_PLAYER_CLAIM,
      scopeClaims: values.JWT_SCOPE_CLAIM,
      scopeMap: values.JWT_SCOPE_MAP,
      defaultScopes: values.JWT_DEFAULT_SCOPES,
      require: values.JWT_REQUIRE,
      maxLifetimeSeconds: values.JWT_MAX_LIFETIME_S,
      type: values.JWT_TYP,
      clientTokensFile: values.CLIENT_TOKENS_FILE,
    },
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

type Rate = 'OPERATIONS' | 'COUPON_READS' | 'SERVER_OPERATIONS' | 'SERVER_COUPON_READS' | 'FAILED_AUTHENTICATIONS';

function rateOf(values: Values, name: Rate) {
  return { perSecond: values[`MAX_${name}_PER_SECOND`], burst: values[`MAX_${name}_BURST`] };
}
