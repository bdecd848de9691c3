import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { expect, test } from '@jest/globals';
import { loadConfig } from '../../src/config/config.ts';
import { ConfigError, readEnvironment } from '../../src/config/environment.ts';
import { reveal } from '../../src/config/secret.ts';
import { newFile, newFolder } from '../kit/at-end.ts';
import { rows } from '../kit/rows.ts';

/* What is said about an environment that cannot be run with: everything that is wrong, in one report, and no secret. */

const folder = newFolder();
const file = (name: string, content: string | Buffer) => newFile(name, content, folder);

type Env = Record<string, string>;

const SECRET = 'a-secret-of-more-than-32-bytes-for-tests';
const SECRETS = [SECRET, 'hunter2', 'the-api-key', 'the-secret-key', 'PRIVATE KEY-----'];
const jwt: Env = { JWT_SECRET: SECRET, JWT_ISSUER: 'https://login.example', JWT_AUDIENCE: 'gateway' };
const production: Env = {
  ...{ NODE_ENV: 'production', REST_BASE_URL: 'https://rewards.example.com', ...jwt },
  ...{ REST_API_KEY: 'the-api-key', REST_SECRET_KEY: 'the-secret-key' },
};
const spki = { type: 'spki', format: 'pem' } as const;
const pem = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).publicKey.export(spki).toString();
const withKey = (JWT_PUBLIC_KEY: string): Env => ({ ...jwt, JWT_SECRET: '', JWT_PUBLIC_KEY });

/** The lines of the report; none when the environment can be run with. */
function report(env: Env): string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const [title, ...lines] = error.message.split('\n  ');
    expect(title).toBe('The configuration cannot be used:');
    // Node's own errors are of another realm than a test's, so they are printed with their name here.
    return lines.map((line) => line.replace(/(?<=[ (])Error: /, ''));
  }
}

const PROXIES = ['true', '2', 'loopback, 10.0.0.0/8', '2001:db8::/32'];

test.each<[name: string, env: Env]>([
  ['nothing at all', {}],
  ['a production environment that is complete', production],
  ['production with a REST service on loopback', { ...production, REST_BASE_URL: 'http://[::1]:4100' }],
  ['empty variables, which count as absent', { PORT: '', JWT_SECRET: '', CORS_ORIGINS: '' }],
  ...['LOCALHOST', '::1', '127.1.2.3'].map((HOST): [string, Env] => [`an open gateway on ${HOST}`, { HOST }]),
  ['a secret with what would be a comment elsewhere', { ...jwt, JWT_SECRET: `${SECRET} # one`, LOG_KEY: SECRET }],
  ['a secret of 32 bytes and fewer letters', { ...jwt, JWT_SECRET: 'é'.repeat(16) }],
  ['a key of P-521', withKey(pem('P-521'))],
  ...PROXIES.map((TRUST_PROXY): [string, Env] => [`the proxies ${TRUST_PROXY}`, { TRUST_PROXY }]),
])('accepts %s', (_name, env) => {
  expect(report(env)).toEqual([]);
});

test.each([
  ['MAX_DEPHT', 'MAX_DEPTH'],
  ['REST_TIMOUT_MS', 'REST_TIMEOUT_MS'],
  ['REDIS_ULR', 'REDIS_URL'],
  ['PERSISTED_OPERATION', 'PERSISTED_OPERATIONS'],
  ['JWT_SECRET_FIL', 'JWT_SECRET_FILE'],
  ['JWT_AUDIANCE', 'JWT_AUDIENCE'],
  ['PLAYER_ID', 'PLAYER_IDS'],
  ['LOG_KEYS', 'LOG_KEY'],
  ['FEDREATION', 'FEDERATION'],
  ['SLOW_OPERATIONS_MS', 'SLOW_OPERATION_MS'],
  ['REST_TIMEOUT', 'REST_TIMEOUT_MS'],
])('%s is taken for %s: refused in production, a warning in development', (name, meant) => {
  const line = `${name}: is no setting; did you mean ${meant}?`;
  expect(report({ ...production, [name]: '1' })).toEqual([line]);
  expect(loadConfig({ [name]: '1' }).warnings).toEqual([line]);
});

test.each([
  ['rest_timeout_ms', 'REST_TIMEOUT_MS', '1'],
  ['redis-url', 'REDIS_URL', 'rediss://cache.example'],
  ['log_level', 'LOG_LEVEL', 'info'],
])('%s is taken for %s: a warning in production too, and nothing beside it', (name, meant, value) => {
  const warning = `${name}: is no setting; did you mean ${meant}?`;
  expect(loadConfig({ ...production, [name]: value }).warnings).toEqual([warning]);
  expect(loadConfig({ ...production, [name]: value, [meant]: value }).warnings).toEqual([]);
});

test('variables of others, and those that Kubernetes sets for services, are nobody’s mistake', () => {
  const others = [
    'REDIS_SERVICE_HOST',
    'REDIS_PORT',
    'REDIS_PORT_6379_TCP_ADDR',
    'REST_SERVICE_PORT_HTTP',
    'MY_REST_URL',
  ];
  const env = Object.fromEntries(
    [
      ...[...others, 'HOSTNAME', 'HOSTS', 'LOG_FORMAT', 'ALL_PROXY', 'NODE_OPTIONS', 'OTEL_LOG_LEVEL'],
      ...['host', 'all_proxy', 'no_proxy', 'max_something', 'npm_config_https_proxy'],
    ].map((name) => [name, 'tcp://10.0.0.1']),
  );
  expect(report({ ...production, ...env })).toEqual([]);
  expect(loadConfig({ MANAGEMENT_PORT: 'tcp://10.0.0.1:8080' }).MANAGEMENT_PORT).toBe(4_001);
  for (const name of ['MAX_SOMETHING_ELSE_ENTIRELY', 'REST_URL'])
    expect(report({ ...production, [name]: '1' })).toEqual([
      `${name}: is no setting; docs/configuration.md has all of them`,
    ]);
});

test('what a platform sets beside REDIS_URL is nobody’s mistake; without REDIS_URL, and of another setting, it is', () => {
  const ofPlatform = {
    REDIS_TLS_URL: 'rediss://a',
    REDIS_HOSTNAME: 'a',
    REDIS_PASSWORD: 'hunter2',
    REDIS_NAME: '/web/redis',
  };
  expect(report({ ...production, ...ofPlatform, REDIS_URL: 'redis://a' })).toEqual([]);
  expect(report({ ...production, ...ofPlatform })).toHaveLength(4);
  const meant = { REDIS_CA: '/a', REDIS_CLIENT_CERT: '/b', REDIS_TIMEOUT: '1', REDIS_URLS: 'redis://a' };
  expect(report({ ...production, ...meant, REDIS_URL: 'redis://a' })).toHaveLength(4);
});

function expectUnusable(name: string, problem: string, values: string[]): void {
  for (const value of values) {
    // Values of secrets are not shown, nor is what may have one.
    const shown = name === 'REDIS_URL' || /[@?]/.test(value) ? '' : ` (given: "${value}")`;
    expect(report({ [name]: value })).toEqual([`${name}: ${problem}${shown}`]);
  }
}

/** Variables that cannot be used, each alone: what the report says, and the values. */
const UNUSABLE = rows<[name: string, problem: string, ...values: string[]]>(`
  REST_BASE_URL | must be a URL that begins with http:// or https:// | ftp://x
  REST_BASE_URL | must be one URL | https://a.example,https://b.example | https://a.example,b.example | https://a.example/,https://b.example/ | https://a.example/x, https://b.example | https://a.example/x https://b.example | https://a.example/x;HTTPS://b.example | https://https://rewards.example | http://http://localhost:4100/
  REST_BASE_URL | must not end with /api/v3.0, which is added to it | https://rewards.example/api/v3.0/ | https://rewards.example/api/v3.0/integrations | https://rewards.example/API/V3.0/integrations/player
  REST_BASE_URL | must have no user, query or fragment | https://user:hunter2@rewards.example | https://c.example/?token=hunter2
  REDIS_URL | must be a URL that begins with redis:// or rediss:// and has a host, and perhaps the number of a database; write the characters /, # and % of a password as %2F, %23 and %25 | redis://default:ab/hunter2@127.0.0.1:6379 | redis://:100%@127.0.0.1 | redis://:a%ff@127.0.0.1 | redis://u:hunter2@ | http://127.0.0.1 | redis://127.0.0.1/db | redis://127.0.0.1?db=one
  REDIS_URL | must begin with rediss:// for TLS | redis://:hunter2@127.0.0.1:6380/0?ssl=true | redis://127.0.0.1?db=1&tls=1
  REDIS_URL | must not name Sentinels; use the address of the primary, or a name that follows it | redis://:hunter2@127.0.0.1/0?sentinels=a:26379,b:26379&name=primary
  CORS_ORIGINS | must be origins such as https://app.example.com, separated by commas, no paths and no wildcards | https://a.example,b.example | https://a.example/app | https://a.example// | https://*.example.com | null | capacitor:
  PERSISTED_OPERATIONS_FILE | must be separated by commas, without brackets and quotation marks | [a.json] | [a.json, b.json ]
  CORS_ORIGINS | must be separated by commas, without brackets and quotation marks | ['https://a.example']
  HTTPS_PROXY | must be the URL of an HTTP proxy, such as http://proxy.example.com:3128, not of SOCKS; write the characters @, /, \\, # and % of a user or password as %40, %2F, %5C, %23 and %25 | http://corp\\user:hunter2@proxy.example:3128 | http://user:1/hunter2@proxy.example | http://proxy.example/@.pac | socks5://hunter2@proxy.example:1080
  FEDERATION | must be one of true, false | yes
  JWT_ISSUER | must be separated by commas | https://a.example https://b.example | https://a.example; https://b.example
  NODE_ENV | must be one of production, development, test | prod | PRODUCTION
  TRUST_PROXY | must be true, false, a number of proxies, or a comma-separated list of IP addresses, CIDR ranges, loopback, linklocal and uniquelocal | loopbakc | 0.0.0.0/0 | -1 | 100 | 10.0.0.0/33 | proxy.example | 10.0.0.1,
`);

test('a rate above its burst, which bounds each second, is a warning that names both', () => {
  const env = { MAX_OPERATIONS_PER_SECOND: '500', MAX_COUPON_READS_PER_SECOND: '30' };
  const warning =
    'MAX_OPERATIONS_PER_SECOND: is above MAX_OPERATIONS_BURST (100), which bounds each second; raise both';
  expect(loadConfig(env).warnings).toEqual([warning]);
  expect(loadConfig({ ...env, MAX_OPERATIONS_BURST: '500' }).warnings).toEqual([]);
});

test.each<[string, Env]>([
  [
    'a host and a port that look like a reference to a store',
    { NO_PROXY: 'vault:8200,.internal', JWT_AUDIENCE: 'sm:gateway' },
  ],
  ['a path like a name in a store', { REVISION: 'projects/gateway/secrets/1', HTTP_PROXY: 'vault:3128' }],
  [
    'a secret that begins like one',
    { REST_API_KEY: 'sm:0123', REST_SECRET_KEY: 'vault:v1:QWxhZGRpbg==', LOG_KEY: 'a***b-and-12-more' },
  ],
  [
    'a list with its commas in other places',
    { JWT_ISSUER: 'https://a.example\n,https://b.example ,https://c.example/x;v=1' },
  ],
  ['a value with two URLs', { JWT_REQUIRE: 'scope=https://a.example/read https://a.example/write' }],
  [
    'a path that is another version, or leads on',
    { REST_BASE_URL: 'https://a.example/api/v3.0/integrations/mock/rewards' },
  ],
  ['a password with an option in it', { REDIS_URL: 'redis://:pw&ssl=1abc@redis.example' }],
])('%s is accepted', (_what, env) => {
  expect(report({ ...production, ...env })).toEqual([]);
});

test('an item of NO_PROXY that matches no host is a warning; one that may be separated otherwise is none', () => {
  const NO_PROXY =
    '10.*,http://u:hunter2@a.example|"b.example"; .internal;localhost|[::1]:80 10.0.0.0/8,*.c.example:8443,2001:db8::/32';
  const { warnings } = loadConfig({ HTTPS_PROXY: 'proxy.example', NO_PROXY });
  expect(warnings.map((warning) => warning.split(' matches no host')[0])).toEqual(
    [1, 2, 3].map((item) => `NO_PROXY: item ${item}`),
  );
  expect(warnings.join()).not.toContain('hunter2');
  expect(loadConfig({ NO_PROXY }).warnings).toEqual([]);
});

test('a path with dots in place of a JSON Pointer, and a client token that has expired, are warnings', () => {
  const tokens = [client({ name: 'old', sha256: 'a'.repeat(64), expiresAt: '2020-01-01T00:00:00Z' }), client({})];
  const env = {
    ...{
      ...jwt,
      JWT_SCOPE_CLAIM: 'scope, realm_access.roles, https://a.example/roles',
      JWT_PLAYER_CLAIM: 'extn.playerId',
    },
    CLIENT_TOKENS_FILE: file('expired', JSON.stringify(tokens)),
  };
  expect(loadConfig(env).warnings).toEqual([
    'JWT_SCOPE_CLAIM: "realm_access.roles" is the name of one claim; for a member of an object write /realm_access/roles',
    'CLIENT_TOKENS_FILE: the token of "old" expired at 2020-01-01T00:00:00Z',
  ]);
});

test('white space around a value, words in upper case, and how an origin is written do not matter', () => {
  const given = {
    REST_TIMEOUT_MS: ' 3000\r\n',
    LOG_LEVEL: 'INFO',
    FEDERATION: 'True',
    CORS_ORIGINS:
      'https://a.example/, https://b.example\n, HTTPS://C.example:443, http://bücher.example:80/, app://Page',
    TRUST_PROXY: 'Loopback, 2001:DB8::/32',
    REST_API_KEY: '\tkey-of-a-file\n',
  };
  expect(report(given)).toEqual([]);
  const { values } = readEnvironment(given);
  expect(values).toMatchObject({ REST_TIMEOUT_MS: 3_000, LOG_LEVEL: 'info', FEDERATION: true });
  const asSent = ['https://c.example', 'http://xn--bcher-kva.example', 'app://Page'];
  expect(values.CORS_ORIGINS).toEqual(['https://a.example', 'https://b.example', ...asSent]);
  const trusts = values.TRUST_PROXY;
  const addresses = ['127.0.0.1:80', '[2001:db8::7]', '2001:db9::7', 'unknown', '1'.repeat(16_000), undefined];
  expect(typeof trusts === 'function' && addresses.map((one) => trusts(one, 0))).toEqual([
    true,
    true,
    ...Array(4).fill(false),
  ]);
});

/** What becomes of a key in PEM on its way through files, variables and pages of platforms. */
const lines = pem('P-256').trim();
test.each([
  ['two characters for each line break', lines.replaceAll('\n', '\\r\\n')],
  ['line breaks that were escaped twice', lines.replaceAll('\n', '\\\\n')],
  ['spaces as line breaks', lines.replaceAll('\n', ' ')],
  ['no line breaks', lines.replaceAll('\n', '')],
  ['indentation', lines.replaceAll('\n', '\r\n      ')],
  ['a comment before it', `issued for the gateway\n${lines}`],
  ['quotation marks', `'${lines}'`],
  ['base64 of the whole', Buffer.from(lines).toString('base64')],
  ['neither first nor last line', lines.replace(/-----.+-----/g, '').trim()],
])('a public key with %s is that key', (_change, text) => {
  const { auth } = loadConfig(withKey(text));
  const key = auth.kind === 'tokens' && auth.jwt?.key.kind === 'public-key' ? auth.jwt.key.key : undefined;
  expect(key?.export(spki).toString().trim()).toBe(lines);
});

test('files with a byte order mark are read; a key set may be named with a query, as Azure does', () => {
  const tokens = JSON.stringify([client({})]).replaceAll(',', ',\r\n');
  const marked = {
    ...{ CLIENT_TOKENS_FILE: file('marked', `\ufeff${tokens}`), JWT_SCOPE_MAP_FILE: file('map', '\ufeff{"a":[]}\r\n') },
    ...{ ...jwt, JWT_SECRET: '', JWT_JWKS_URL: 'https://login.example/keys?p=b2c_1_sign_in' },
  };
  expect(report(marked)).toEqual([]);
  expect(loadConfig(marked).CLIENT_TOKENS_FILE).toHaveLength(1);
});

test.each([
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', /^OTEL_EXPORTER_OTLP_PROTOCOL: traces are sent as JSON over HTTP/],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'http/protobuf', /^OTEL_EXPORTER_OTLP_PROTOCOL: traces are sent as JSON/],
  ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'http/protobuf', /^OTEL_EXPORTER_OTLP_PROTOCOL: traces/],
  ['OTEL_PROPAGATORS', 'tracecontext, b3', /^OTEL_PROPAGATORS: .*tracecontext alone/],
])('%s=%s, which the gateway does not do, is a warning where there is a collector', (name, value, warning) => {
  const collector = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4317' };
  expect(loadConfig({ ...collector, [name]: value }).warnings).toEqual([expect.stringMatching(warning)]);
  expect(loadConfig({ [name]: value }).warnings).toEqual([]);
  const supported = { OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json', OTEL_PROPAGATORS: 'tracecontext,baggage' };
  expect(loadConfig({ ...collector, [name]: value, ...supported }).warnings).toEqual([]);
});

test.each([
  ['/v1/traces', 1],
  ['/otlp/v1/traces/', 1],
  ['/v1', 0],
])('a collector at %s, to which the path of traces is added, is a warning or not: %d', (path, warnings) => {
  const OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:4318${path}`;
  const warning = expect.stringMatching(/^OTEL_EXPORTER_OTLP_ENDPOINT: \/v1\/traces is added to it/);
  expect(loadConfig({ OTEL_EXPORTER_OTLP_ENDPOINT }).warnings).toEqual(Array(warnings).fill(warning));
  const traces = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/v1/traces' };
  expect(loadConfig({ OTEL_EXPORTER_OTLP_ENDPOINT, ...traces }).warnings).toEqual([]);
});

test('exporters of traces that the gateway does not have are a warning', () => {
  const collector = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
  const warningsOf = (OTEL_TRACES_EXPORTER: string) => loadConfig({ ...collector, OTEL_TRACES_EXPORTER }).warnings;
  const warning = 'OTEL_TRACES_EXPORTER: the gateway exports by otlp alone, not by console';
  expect(['otlp', 'none', 'otlp, console', 'console'].map(warningsOf)).toEqual([[], [], [warning], [warning]]);
  const collectorOf = (OTEL_TRACES_EXPORTER: string) => loadConfig({ ...collector, OTEL_TRACES_EXPORTER }).traces?.href;
  expect(['otlp,console', 'none', 'console'].map(collectorOf)).toEqual([
    'http://127.0.0.1:4318/',
    undefined,
    undefined,
  ]);
});

test.each(UNUSABLE)('%s %s', (name, problem, ...values) => expectUnusable(name, problem, values));

test.each([
  ['PORT', 0, 65_535],
  ['OPERATION_TIMEOUT_MS', 1, 600_000],
  ['JWT_MAX_LIFETIME_S', 0, 315_360_000],
  ['MAX_BODY_BYTES', 1_024, 8_388_608],
])('%s lies between %d and %d', (name, min, max) => {
  for (const fit of [min, max]) expect(report({ [name]: String(fit) })).toEqual([]);
  const unfit = [min - 1, max + 1, '1.5', '0x10', '1e3', '5 6', 'NaN'].map(String);
  expectUnusable(name, `must be a whole number between ${min} and ${max}, in digits alone`, unfit);
});

const KEY_FORM =
  'JWT_PUBLIC_KEY: must be one public key in PEM, not a private one: RSA with at least 2048 bits, P-256, P-384, P-521 or Ed25519';
const BAD_KEYS: [name: string, key: string][] = [
  ['no public key', 'hunter2'],
  ['a curve without an algorithm', pem('secp256k1')],
  ['two public keys', pem('P-256') + pem('P-384')],
  ['a short RSA key', generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export(spki).toString()],
  ['a private key', generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()],
];
const KEYS = 'JWT_JWKS_URL, JWT_PUBLIC_KEY, JWT_SECRET';
const WITHOUT_KEYS = ['REST_API_KEY', 'REST_SECRET_KEY'].map(
  (name) => `${name}: is needed in production (or ${name}_FILE), and not the development key`,
);
const client = (more: object) => ({ name: 'app', sha256: 'ab'.repeat(32), scopes: [], ...more });
const clients = (name: string, ...list: object[]): Env => ({ CLIENT_TOKENS_FILE: file(name, JSON.stringify(list)) });
const none = join(folder, 'none');
const noPem = file('empty.pem', '');
const der = file('certificate.der', Buffer.from([0x30, 0x82, 0x01, 0x84]));
const given = (name: string) => `(given: "${join(folder, name)}")`;

/** Environments that cannot be run with, and what the report says. */
const REPORTED: Record<string, [Env, ...problems: string[]]> = {
  'production with nothing set': [
    { NODE_ENV: 'production' },
    'REST_BASE_URL: is needed in production, such as https://rewards.example.com',
    ...WITHOUT_KEYS,
    `${KEYS} or CLIENT_TOKENS_FILE: one is needed in production`,
  ],
  'production with the file of a setting that can have none': [
    { ...production, JWT_SECRET: '', JWT_JWKS_URL_FILE: none },
    `${KEYS}: needed with JWT_ISSUER and JWT_AUDIENCE`,
    `${KEYS} or CLIENT_TOKENS_FILE: one is needed in production`,
    'JWT_JWKS_URL_FILE: is no setting; did you mean JWT_JWKS_URL?',
  ],
  'settings that are there under names that are not read': [
    {
      ...production,
      REST_BASE_URL: '',
      '\uFEFFREST_BASE_URL': 'https://rewards.example',
      REST_API_KEY: '',
      'rest-api-key': 'a-key-of-a-platform',
      JWT_ISSUER: '',
      'JWT_ISSUER\u200B': 'https://login.example',
    },
    'JWT_ISSUER: is needed with a JWT key; it is what the claim "iss" must say',
    'REST_BASE_URL: is needed in production, such as https://rewards.example.com',
    ...WITHOUT_KEYS.slice(0, 1),
    '%EF%BB%BFREST_BASE_URL: is no setting; did you mean REST_BASE_URL?',
    'rest-api-key: is no setting; did you mean REST_API_KEY?',
    'JWT_ISSUER%E2%80%8B: is no setting; did you mean JWT_ISSUER?',
  ],
  'a misspelt name beside a problem, in development': [
    { ...jwt, JWT_AUDIENCE: '', JWT_AUDIENSE: 'app' },
    'JWT_AUDIENCE: is needed with a JWT key; it is what the audience of a token must hold',
    'JWT_AUDIENSE: is no setting; did you mean JWT_AUDIENCE?',
  ],
  'a key that no header can have': [
    { REST_API_KEY: 'hunter2 hunter2', REST_SECRET_KEY: 'hunter2ü' },
    'REST_API_KEY: must be characters of ASCII without spaces, because it is sent as a header',
    'REST_SECRET_KEY: must be characters of ASCII without spaces, because it is sent as a header',
  ],
  'everything unsafe in production at once': [
    {
      ...{ NODE_ENV: 'production', REST_BASE_URL: 'http://127.0.0.1.evil.example', JWT_SECRET: 'short' },
      ...{ JWT_ISSUER: 'i', CORS_ORIGINS: '*', PORT: 'many', TRUST_PROXY: 'true', JWT_JWKS_URL: 'http://l.example' },
      ...{ REST_API_KEY: 'development-api-key', REST_SECRET_KEY: 'development-secret-key' },
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
    },
    'PORT: must be a whole number between 0 and 65535, in digits alone (given: "many")',
    'JWT_SECRET: must have at least 32 bytes',
    `${KEYS}: set exactly one of them`,
    'JWT_AUDIENCE: is needed with a JWT key; it is what the audience of a token must hold',
    'REST_BASE_URL: must begin with https:// in production; every call carries the keys',
    ...WITHOUT_KEYS,
    'CORS_ORIGINS: must name its origins in production; "*" allows every website',
    'TRUST_PROXY: must be a number of proxies, or their addresses, in production; with true every client can invent its address',
    'JWT_JWKS_URL: must begin with https:// in production',
    'NODE_TLS_REJECT_UNAUTHORIZED: must not be 0 in production, where it trusts every certificate; docs/environments.md says how to trust your own',
  ],
  'an open gateway on something like loopback': [
    { HOST: '127.0.0.1.evil.example' },
    `HOST: without a token setting the gateway is open to everybody, so it listens on loopback only; set ${KEYS} or CLIENT_TOKENS_FILE to listen on 127.0.0.1.evil.example`,
  ],
  'a key without an issuer': [
    { ...jwt, JWT_ISSUER: '' },
    'JWT_ISSUER: is needed with a JWT key; it is what the claim "iss" must say',
  ],
  'an issuer without a key': [{ JWT_ISSUER: 'i' }, `${KEYS}: needed with JWT_ISSUER and JWT_AUDIENCE`],
  ...Object.fromEntries(BAD_KEYS.map(([name, key]) => [name, [withKey(key), KEY_FORM]])),
  'a secret and its file': [
    { ...jwt, JWT_SECRET_FILE: file('both', SECRET) },
    'JWT_SECRET, JWT_SECRET_FILE: set one of them, not both',
  ],
  'files of secrets that cannot be read': [
    {
      ...{
        ...production,
        HOST: '::',
        JWT_SECRET: '',
        JWT_SECRET_FILE: none,
        REST_API_KEY: '',
        REST_API_KEY_FILE: none,
      },
      ...{ REST_SECRET_KEY: '', REST_SECRET_KEY_FILE: file('empty', '\n') },
    },
    'REST_API_KEY_FILE: the file cannot be read (ENOENT: no such file or directory)',
    'REST_SECRET_KEY_FILE: the file is empty',
    'JWT_SECRET_FILE: the file cannot be read (ENOENT: no such file or directory)',
  ],
  'secrets in place of the paths of their files': [
    {
      ...{
        ...production,
        REST_API_KEY: '',
        REST_API_KEY_FILE: 'the-api-key',
        REDIS_URL_FILE: 'redis://:hunter2@redis',
      },
      REST_CLIENT_KEY_FILE: '-----BEGIN PRIVATE KEY-----\nMIGHAg\n',
    },
    'REST_API_KEY_FILE: the file cannot be read (ENOENT: no such file or directory)',
    'REDIS_URL_FILE: the file cannot be read (ENOENT: no such file or directory)',
    'REST_CLIENT_KEY_FILE: ENOENT: no such file or directory',
  ],
  'files without PEM, which would have no effect': [
    { REST_BASE_URL: 'https://rewards.example', REST_CA_FILE: noPem, REDIS_CA_FILE: der, REST_CLIENT_KEY_FILE: der },
    `REST_CA_FILE: the file has no PEM (given: "${noPem}")`,
    'REST_CLIENT_KEY_FILE: the file has no PEM',
    `REDIS_CA_FILE: the file has no PEM (given: "${der}")`,
  ],
  'texts that a pipeline or a store of secrets has not replaced by secrets': [
    {
      ...{ ...production, REST_API_KEY: '$REST_API_KEY', REST_SECRET_KEY: '#{RestSecret}#' },
      JWT_SECRET: '@Microsoft.KeyVault(SecretUri=https://acme.vault.azure.net/secrets/jwt)',
      ...{ REDIS_URL: 'op://infra/redis/url', LOG_KEY: 'arn:aws:secretsmanager:eu-west-1:1:secret:log-key' },
    },
    ...['REST_API_KEY', 'REST_SECRET_KEY', 'JWT_SECRET', 'REDIS_URL', 'LOG_KEY'].map(
      (name) => `${name}: has a placeholder that was not replaced by its value`,
    ),
  ],
  ...Object.fromEntries(
    Object.entries({
      'in PEM': lines,
      'in PEM in base64': Buffer.from(lines).toString('base64'),
      'without its first and last line': lines.replace(/-----[^-]+-----/g, ''),
    }).map(([form, JWT_SECRET]): [string, [Env, string]] => [
      `a public key ${form} in place of a shared secret`,
      [
        { ...jwt, JWT_SECRET },
        'JWT_SECRET: must be no key or certificate; that of the identity provider is JWT_PUBLIC_KEY',
      ],
    ]),
  ),
  'more texts that stand for a value, and typographic quotation marks': [
    {
      ...{ ...production, REST_API_KEY: 'vault:secret/data/app#key', REST_SECRET_KEY: '********' },
      ...{ LOG_KEY: 'projects/1/secrets/log-key/versions/latest', REDIS_URL: 'null' },
      JWT_ISSUER: '“https://login.example”',
    },
    'JWT_ISSUER: is in quotation marks, which would be a part of it, as `docker run --env-file` reads it; leave them out',
    ...['REST_API_KEY', 'REST_SECRET_KEY', 'REDIS_URL', 'LOG_KEY'].map(
      (name) => `${name}: has a placeholder that was not replaced by its value`,
    ),
  ],
  'values in quotation marks, a secret in UTF-16': [
    {
      ...{ JWT_ISSUER: '"https://login.example"', JWT_AUDIENCE: "'gateway'", REST_API_KEY: '"the-api-key"' },
      ...{ REDIS_URL: '""', JWT_SECRET_FILE: file('wide', Buffer.from(`\ufeff${SECRET}`, 'utf16le')) },
    },
    'JWT_SECRET_FILE: the file is no text in UTF-8',
    ...['REST_API_KEY', 'JWT_ISSUER', 'JWT_AUDIENCE', 'REDIS_URL'].map(
      (name) =>
        `${name}: is in quotation marks, which would be a part of it, as \`docker run --env-file\` reads it; leave them out`,
    ),
  ],
  'values that begin with their own names, as the line of a file': [
    {
      ...{ ...production, JWT_SECRET: '', JWT_SECRET_FILE: file('line', `export JWT_SECRET="${SECRET}"\n`) },
      ...{
        REST_API_KEY: 'REST_API_KEY=the-api-key',
        REST_SECRET_KEY: 'REST_SECRET_KEY-2',
        LOG_LEVEL: 'LOG_LEVEL: info',
      },
    },
    'REST_API_KEY: begins with its own name; leave out what is before the value',
    'JWT_SECRET: begins with its own name; leave out what is before the value',
    'JWT_SECRET: is in quotation marks, which would be a part of it, as `docker run --env-file` reads it; leave them out',
    'LOG_LEVEL: begins with its own name; leave out what is before the value',
  ],
  'comments behind values, which `docker run --env-file` does not remove': [
    {
      ...{ JWT_ISSUER: 'https://login.example # of production', JWT_AUDIENCE: '"gateway" # ours', JWT_SECRET: SECRET },
      ...{ REST_BASE_URL: 'https://rewards.example/api #1', NO_PROXY: '# none', REST_TIMEOUT_MS: '3000\t# ms' },
    },
    ...['REST_BASE_URL', 'REST_TIMEOUT_MS', 'NO_PROXY', 'JWT_ISSUER', 'JWT_AUDIENCE'].map(
      (name) =>
        `${name}: has a comment, which would be a part of it, as \`docker run --env-file\` reads it; put it on a line of its own`,
    ),
    'JWT_AUDIENCE: is in quotation marks, which would be a part of it, as `docker run --env-file` reads it; leave them out',
  ],
  'secrets that are the JSON of a store of secrets, with other keys in it': [
    {
      ...{ ...production, REST_API_KEY: '{"apiKey":"the-api-key"}', REST_SECRET_KEY: '' },
      ...{ REST_SECRET_KEY_FILE: file('json', '{\n "key": "the-secret-key"\n}\n') },
      ...{ JWT_SECRET: `{"secret":"${SECRET}"}`, REDIS_URL: '{"url":"redis://:hunter2@127.0.0.1"}' },
      ...{ LOG_KEY: '{"log-key":"hunter2hunter2"}', JWT_SCOPE_MAP: '{"reader": ["players:read"]}' },
    },
    ...['REST_API_KEY', 'REST_SECRET_KEY', 'JWT_SECRET', 'REDIS_URL', 'LOG_KEY'].map(
      (name) => `${name}: is JSON, as a whole secret of AWS Secrets Manager; name its key`,
    ),
  ],
  'names that a template has not replaced by their values': [
    {
      ...{ REST_API_KEY: '\x24{REST_API_KEY}', JWT_SECRET: '{{ .Values.secret }}', REDIS_URL: '$(REDIS)' },
      ...{ REST_BASE_URL: '<rest-url>', JWT_ISSUER: 'https://login.example/\x24{realm}', JWT_AUDIENCE: 'gateway' },
    },
    ...['REST_BASE_URL', 'REST_API_KEY', 'JWT_SECRET', 'JWT_ISSUER', 'REDIS_URL'].map(
      (name) => `${name}: has a placeholder that was not replaced by its value`,
    ),
  ],
  'names inside URLs that nothing has replaced by their values': [
    {
      ...{ ...production, JWT_SECRET: '', REST_BASE_URL: 'https://$(REST_HOST)/api' },
      JWT_AUDIENCE: 'api://<client-id>',
      JWT_JWKS_URL: 'https://{tenant}.eu.auth0.com/.well-known/jwks.json',
      JWT_ISSUER: 'https://cognito-idp.eu-west-1.amazonaws.com/<userPoolId>',
      ...{ REDIS_URL: 'redis://:\x24{REDIS_PASSWORD}@redis:6379', CORS_ORIGINS: 'https://{{ .Values.host }}.example' },
      HTTPS_PROXY: 'http://proxy-{zone}.example:3128',
    },
    ...[
      ...['REST_BASE_URL', 'HTTPS_PROXY', 'JWT_JWKS_URL', 'JWT_ISSUER'],
      ...['JWT_AUDIENCE', 'CORS_ORIGINS', 'REDIS_URL'],
    ].map((name) => `${name}: has a placeholder that was not replaced by its value`),
  ],
  'a file of client tokens that does not exist': [
    { CLIENT_TOKENS_FILE: none },
    `CLIENT_TOKENS_FILE: ENOENT: no such file or directory ${given('none')}`,
  ],
  'a file of client tokens that is not JSON': [
    { CLIENT_TOKENS_FILE: file('not-json', 'app: hunter2-hunter2') },
    `CLIENT_TOKENS_FILE: must be JSON ${given('not-json')}`,
  ],
  'a file of client tokens with plain tokens and unknown scopes': [
    clients('plain', client({ sha256: 'hunter2-hunter2', scopes: ['events:write:caf%c3%a9'], expiresAt: 'soon' })),
    `CLIENT_TOKENS_FILE: 0.sha256: must be a SHA-256 in hexadecimal: 64 digits; 0.scopes.0: "events:write:caf%c3%a9" is no scope of this gateway; 0.expiresAt: must be a time such as 2030-12-31T00:00:00Z ${given('plain')}`,
  ],
  'a file of client tokens with the same token twice': [
    clients('twice', client({ name: 'a' }), client({ name: 'b', sha256: 'AB'.repeat(32) })),
    `CLIENT_TOKENS_FILE: no two clients may have the same name or token ${given('twice')}`,
  ],
  'persisted operations without a file': [
    { PERSISTED_OPERATIONS: 'enforce' },
    'PERSISTED_OPERATIONS_FILE: is needed when PERSISTED_OPERATIONS is enforce',
  ],
  'one port for both servers': [
    { PORT: '4000', MANAGEMENT_PORT: '4000' },
    'MANAGEMENT_PORT: must differ from PORT; platforms that check only PORT find GET /healthz there too',
  ],
  'calls that may take longer than their operation': [
    { REST_TIMEOUT_MS: '2001', OPERATION_TIMEOUT_MS: '2000' },
    'REST_TIMEOUT_MS: must not be above OPERATION_TIMEOUT_MS, which ends the operation with its calls (given: 2001 and 2000)',
  ],
};

test.each(Object.entries(REPORTED))('reports %s', (_name, [env, ...problems]) => {
  const text = report(env);
  expect(text).toEqual(problems);
  for (const secret of SECRETS) expect(text.join('\n')).not.toContain(secret);
});

test('a REST call takes at most as long as its operation; an address in brackets is the address', () => {
  const { rest, HOST } = loadConfig({ OPERATION_TIMEOUT_MS: '2000', HOST: '[::1]' });
  expect([rest.timeoutMs, HOST]).toEqual([2_000, '::1']);
});

test.each(['https://rewards.example/v1', 'https://rewards.example/v1//'])(
  'replicas with the address %s of the REST service share their state',
  (REST_BASE_URL) => expect(loadConfig({ REST_BASE_URL }).rest.baseUrl?.href).toBe('https://rewards.example/v1'),
);

test('secrets cannot be printed with the configuration, and lose white space at their end', () => {
  const config = loadConfig({ ...production, REST_API_KEY: '', REST_API_KEY_FILE: file('key', 'the-api-key\r\n') });
  for (const secret of SECRETS) expect(inspect(config, { depth: 9 }) + JSON.stringify(config)).not.toContain(secret);
  expect(reveal(config.rest.apiKey)).toBe('the-api-key');
  expect(reveal(loadConfig({ ...production, REST_API_KEY: 'the-api-key\n' }).rest.apiKey)).toBe('the-api-key');
  const withBreak = { ...production, REST_SECRET_KEY: 'development-secret-key\n' };
  expect(() => loadConfig(withBreak)).toThrow('not the development key');
  expect(Object.isFrozen(config)).toBe(true);
});
