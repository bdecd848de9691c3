import { authOf, JWT_KEYS } from './auth.ts';
import { ConfigError, describeEnvironment, misspelt, readEnvironment, summarize } from './environment.ts';
import { LOOPBACK } from './forms.ts';
import { reveal } from './secret.ts';
import { tlsOf, tlsProblems } from './tls.ts';
import { ALSO_IN_FILES, DEVELOPMENT_KEYS, type Values } from './variables.ts';

const TOKEN_SETTINGS = `${JWT_KEYS.join(', ')} or CLIENT_TOKENS_FILE`;

export type Config = Readonly<
  ReturnType<typeof derive> & {
    warnings: readonly string[];
    summary: ReturnType<typeof summarize>;
    /** One line for each setting, without secrets. */
    describe(): string[];
  }
>;

/** Reads every setting. Throws one ConfigError that names every variable that cannot be used, and shows no secret. */
export function loadConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const { values, given, problems } = readEnvironment(env);
  const unknown = misspelt(given);
  const derived = derive(values);
  problems.push(...problemsOf(derived, given));
  const isRefused = derived.production && unknown.some((line) => /^[A-Z\d_]+:/.test(line)); // Others can be of another program.
  if (isRefused || problems.length > 0) throw new ConfigError([...problems, ...unknown]);
  const warnings = [...unknown, ...unsupported(values, given), ...doubtful(values)];
  const describe = () => describeEnvironment(given);
  return Object.freeze({ ...derived, warnings, summary: summarize(values, given), describe });
}

/** The values of the variables by their names, and what follows from several of them. */
function derive(env: Values) {
  return {
    ...env,
    production: env.NODE_ENV === 'production',
    auth: authOf(env),
    logKey: env.LOG_KEY ?? env.REST_API_KEY,
    rest: {
      baseUrl: env.REST_BASE_URL,
      apiKey: env.REST_API_KEY,
      secretKey: env.REST_SECRET_KEY,
      serviceIdField: env.REST_SERVICE_ID_FIELD,
      secretKeyOn: env.REST_SECRET_KEY_ON,
      timeoutMs: Math.min(env.REST_TIMEOUT_MS, env.OPERATION_TIMEOUT_MS),
      connections: env.REST_CONNECTIONS,
      idleMs: env.REST_IDLE_TIMEOUT_MS,
      maxAgeMs: env.REST_CONNECTION_MAX_AGE_S * 1_000,
      proxy: proxyOf(env),
      tls: tlsOf(env.REST_CA_FILE, env.REST_CLIENT_CERT_FILE, env.REST_CLIENT_KEY_FILE),
    },
    redisTls: tlsOf(env.REDIS_CA_FILE, env.REDIS_CLIENT_CERT_FILE, env.REDIS_CLIENT_KEY_FILE),
    traces: tracesTo(env),
    concurrent: concurrent(env),
    idempotencyKeys: {
      player: env.MAX_IDEMPOTENCY_KEYS_PER_DAY,
      server: env.MAX_SERVER_IDEMPOTENCY_KEYS_PER_DAY,
    },
    rates: {
      operations: rate(env.MAX_OPERATIONS_PER_SECOND, env.MAX_OPERATIONS_BURST),
      couponReads: rate(env.MAX_COUPON_READS_PER_SECOND, env.MAX_COUPON_READS_BURST),
      serverOperations: rate(env.MAX_SERVER_OPERATIONS_PER_SECOND, env.MAX_SERVER_OPERATIONS_BURST),
      serverCouponReads: rate(env.MAX_SERVER_COUPON_READS_PER_SECOND, env.MAX_SERVER_COUPON_READS_BURST),
      failedAuthentications: rate(env.MAX_FAILED_AUTHENTICATIONS_PER_SECOND, env.MAX_FAILED_AUTHENTICATIONS_BURST),
    },
  };
}

/** How many operations are executed at once: of all callers, of one bound to its player, and of one with `any-player`. */
function concurrent(env: Values) {
  const all = env.MAX_CONCURRENT_OPERATIONS;
  const eighth = Math.ceil(all / 8);
  return {
    all,
    player: env.MAX_CONCURRENT_OPERATIONS_PER_CALLER ?? eighth,
    server: env.MAX_CONCURRENT_OPERATIONS_PER_SERVER_CALLER ?? Math.max(1, all - eighth),
  };
}

/** The proxy for the requests of the gateway itself. */
export type EgressProxy = NonNullable<ReturnType<typeof proxyOf>>;

function proxyOf({ HTTP_PROXY: http, HTTPS_PROXY: https = http, NO_PROXY: except }: Values) {
  return https && { http, https, except };
}

/** The collector that traces are sent to; undefined for no traces. The SDK reads the rest of the `OTEL_*` variables. */
function tracesTo(env: Values): URL | undefined {
  if (env.OTEL_SDK_DISABLED || !env.OTEL_TRACES_EXPORTER.includes('otlp')) return undefined;
  return env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? env.OTEL_EXPORTER_OTLP_ENDPOINT;
}

/** Variables of the SDK that ask for what the gateway does not have. Other programs read them too: warnings. */
function unsupported(values: Values, given: NodeJS.ProcessEnv): string[] {
  const others = values.OTEL_TRACES_EXPORTER.filter((name) => name !== 'otlp' && name !== 'none');
  if (others.length > 0)
    return [`OTEL_TRACES_EXPORTER: the gateway exports by otlp alone, not by ${others.join(', ')}`];
  const collector = tracesTo(values);
  if (!collector) return [];
  const protocol = given['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] ?? given['OTEL_EXPORTER_OTLP_PROTOCOL'] ?? 'http/json';
  return [
    collector === values.OTEL_EXPORTER_OTLP_ENDPOINT &&
      /\/v1\/traces\/?$/.test(collector.pathname) &&
      'OTEL_EXPORTER_OTLP_ENDPOINT: /v1/traces is added to it; leave it out, or set OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    protocol !== 'http/json' &&
      'OTEL_EXPORTER_OTLP_PROTOCOL: traces are sent as JSON over HTTP; name a collector that takes this, with its port for HTTP, such as 4318',
    !/^(?:tracecontext|baggage|[\s,])+$/.test(given['OTEL_PROPAGATORS'] ?? 'tracecontext') &&
      'OTEL_PROPAGATORS: the gateway reads and sends tracecontext alone',
  ].flatMap((warning) => warning || []);
}

/** Items of NO_PROXY that match nothing: URLs, addresses with `*`, and what JSON has around texts. */
const NOT_EXEMPT = /:\/\/|^\d[\d.]*\*|["'{}]/;

/** The beginnings of paths with dots: objects in the tokens of Keycloak and Supabase. */
const DOTTED_PATHS = /^(?:realm_access|resource_access|app_metadata|user_metadata)\./;

/** Warnings of valid settings that are probably mistakes. */
function doubtful(values: Values): string[] {
  const numbers: Record<string, unknown> = values;
  const rates = Object.keys(values).flatMap((name) => {
    // No window is shorter than a second, so a burst below the rate is the limit of each second. Other names equal `burst`.
    const burst = name.replace(/_PER_SECOND$/, '_BURST');
    const warning = `${name}: is above ${burst} (${numbers[burst]}), which bounds each second; raise both`;
    return Number(numbers[name]) > Number(numbers[burst]) ? warning : [];
  });
  const { JWT_AUDIENCE_CLAIM, JWT_PLAYER_CLAIM, JWT_SCOPE_CLAIM, CLIENT_TOKENS_FILE = [] } = values;
  const claims = Object.entries({ JWT_AUDIENCE_CLAIM, JWT_PLAYER_CLAIM, JWT_SCOPE_CLAIM }).flatMap(([setting, of]) =>
    [of].flat().flatMap(({ name }) => {
      const path = `/${name.replaceAll('.', '/')}`;
      const warning = `${setting}: "${name}" is the name of one claim; for a member of an object write ${path}`;
      return DOTTED_PATHS.test(name) ? warning : [];
    }),
  );
  const tokens = CLIENT_TOKENS_FILE.flatMap(({ name, expiresAt = '' }) =>
    Date.parse(expiresAt) <= Date.now() ? `CLIENT_TOKENS_FILE: the token of "${name}" expired at ${expiresAt}` : [],
  );
  const except = proxyOf(values) ? values.NO_PROXY.split(/[\s,;|]+/).filter(Boolean) : [];
  // Without its text, which can be a URL with a password.
  const unmatched = except.flatMap((one, index) =>
    NOT_EXEMPT.test(one)
      ? `NO_PROXY: item ${index + 1} matches no host; write names, addresses or ranges such as 10.0.0.0/8`
      : [],
  );
  return [...rates, ...claims, ...tokens, ...unmatched];
}

const rate = (perSecond: number, burst: number) => ({ perSecond, burst });

/** What is missing, contradictory or, in production, unsafe: one line for each variable. */
function problemsOf(values: ReturnType<typeof derive>, given: NodeJS.ProcessEnv): string[] {
  const { HOST: host, JWT_ISSUER: issuers, JWT_AUDIENCE: audiences, JWT_AUDIENCE_CLAIM: audience } = values;
  const { REST_BASE_URL: restUrl, JWT_JWKS_URL: jwksUrl, PERSISTED_OPERATIONS: mode } = values;
  // A setting that cannot be used is reported already. With it, the gateway is not meant to be open.
  const isGiven = (name: string) => given[name] || (ALSO_IN_FILES.includes(name) && given[`${name}_FILE`]);
  const keys = JWT_KEYS.filter(isGiven).length;
  const hasNone = (name: string) => !/[^\s,]/.test(given[name] ?? '');
  const isOpen = keys === 0 && !given['CLIENT_TOKENS_FILE'];
  const withoutRequirement = audience.name !== 'aud' && values.JWT_REQUIRE.length === 0;
  const { REST_TIMEOUT_MS: callMs, OPERATION_TIMEOUT_MS: operationMs, PORT: port, rest, redisTls } = values;
  const unsafe = [
    !given['REST_BASE_URL'] && 'REST_BASE_URL: is needed in production, such as https://rewards.example.com',
    isPlainHttp(restUrl) && 'REST_BASE_URL: must begin with https:// in production; every call carries the keys',
    ...Object.entries(DEVELOPMENT_KEYS).map(([name, key]) => {
      const isMissing = !isGiven(name) || given[name] === key;
      return isMissing && `${name}: is needed in production (or ${name}_FILE), and not the development key`;
    }),
    isOpen && `${TOKEN_SETTINGS}: one is needed in production`,
    values.CORS_ORIGINS.includes('*') && 'CORS_ORIGINS: must name its origins in production; "*" allows every website',
    values.TRUST_PROXY === true &&
      'TRUST_PROXY: must be a number of proxies, or their addresses, in production; with true every client can invent its address',
    isPlainHttp(jwksUrl) && 'JWT_JWKS_URL: must begin with https:// in production',
    given['NODE_TLS_REJECT_UNAUTHORIZED'] === '0' &&
      'NODE_TLS_REJECT_UNAUTHORIZED: must not be 0 in production, where it trusts every certificate; docs/environments.md says how to trust your own',
  ];
  const problems = [
    ...[...tlsProblems('REST', rest.tls), ...tlsProblems('REDIS', redisTls)],
    rest.tls &&
      restUrl?.protocol !== 'https:' &&
      'REST_BASE_URL: must begin with https:// when REST_CA_FILE or REST_CLIENT_CERT_FILE is set',
    redisTls &&
      !(values.REDIS_URL && /^rediss:/i.test(reveal(values.REDIS_URL))) &&
      'REDIS_URL: must begin with rediss:// when REDIS_CA_FILE or REDIS_CLIENT_CERT_FILE is set',
    isGiven('REST_TIMEOUT_MS') &&
      callMs > operationMs &&
      `REST_TIMEOUT_MS: must not be above OPERATION_TIMEOUT_MS, which ends the operation with its calls (given: ${callMs} and ${operationMs})`,
    port !== 0 &&
      port === values.MANAGEMENT_PORT &&
      'MANAGEMENT_PORT: must differ from PORT; platforms that check only PORT find GET /healthz there too',
    keys > 1 && `${JWT_KEYS.join(', ')}: set exactly one of them`,
    keys === 0 && (issuers[0] || audiences[0]) && `${JWT_KEYS.join(', ')}: needed with JWT_ISSUER and JWT_AUDIENCE`,
    keys > 0 && hasNone('JWT_ISSUER') && 'JWT_ISSUER: is needed with a JWT key; it is what the claim "iss" must say',
    keys > 0 &&
      hasNone('JWT_AUDIENCE') &&
      'JWT_AUDIENCE: is needed with a JWT key; it is what the audience of a token must hold',
    keys > 0 &&
      withoutRequirement &&
      `JWT_REQUIRE: is needed when JWT_AUDIENCE_CLAIM is ${audience.name}, for example token_use=access; without it ID tokens of the same application are accepted`,
    isOpen &&
      !LOOPBACK.test(host) &&
      `HOST: without a token setting the gateway is open to everybody, so it listens on loopback only; set ${TOKEN_SETTINGS} to listen on ${host}`,
    mode !== 'off' &&
      !values.PERSISTED_OPERATIONS_FILE[0] &&
      `PERSISTED_OPERATIONS_FILE: is needed when PERSISTED_OPERATIONS is ${mode}`,
  ];
  return [...problems, ...(values.production ? unsafe : [])].flatMap((problem) => problem || []);
}

const isPlainHttp = (url: URL | undefined) => url?.protocol === 'http:' && !LOOPBACK.test(url.hostname);
