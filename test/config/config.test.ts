import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../src/config/config.ts';
import { ConfigError } from '../../src/config/environment.ts';
import { reveal } from '../../src/config/secret.ts';
import { rows } from '../kit/rows.ts';

/* What is said about an environment that cannot be run with: everything that is wrong, in one report, and no secret. */

const folder = mkdtempSync(join(tmpdir(), 'config-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

type Env = Record<string, string>;
type PemKey = { export(options: { type: 'spki'; format: 'pem' }): string | Buffer };
const publicPem = ({ publicKey }: { publicKey: PemKey }) =>
  publicKey.export({ type: 'spki', format: 'pem' }).toString();

const SECRET = 'a-secret-of-more-than-32-bytes-for-tests';
const jwt: Env = { JWT_SECRET: SECRET, JWT_ISSUER: 'https://login.example', JWT_AUDIENCE: 'gateway' };
const production: Env = {
  NODE_ENV: 'production',
  REST_BASE_URL: 'https://rewards.example.com',
  REST_API_KEY: 'the-api-key',
  REST_SECRET_KEY: 'the-secret-key',
  ...jwt,
};
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });

/** The lines of the report; none when the environment can be run with. */
function report(env: Env): string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const [title, ...lines] = error.message.split('\n');
    expect(title).toBe('The configuration cannot be used:');
    // Node's own errors are of another realm than a test's, so they are printed with their name here.
    return lines.map((line) => line.replace(/^ {2}/, '').replace(/(?<=[ (])Error: /, ''));
  }
}

const COMPLETE: [name: string, env: Env][] = [
  ['nothing at all', {}],
  ['a production environment that is complete', production],
  ['production with a REST service on loopback', { ...production, REST_BASE_URL: 'http://127.0.0.1:4100' }],
  ['production with a REST service on ::1', { ...production, REST_BASE_URL: 'http://[::1]:4100' }],
  ['production that listens everywhere', { ...production, HOST: '0.0.0.0' }],
  ['production with a management port on a public address', { ...production, MANAGEMENT_HOST: '0.0.0.0' }],
  ['empty variables, which count as absent', { PORT: '', JWT_SECRET: '', CORS_ORIGINS: '' }],
  ...['localhost', 'LOCALHOST', '::1', '127.0.0.1', '127.1.2.3'].map((HOST): [string, Env] => [HOST, { HOST }]),
  ['a gateway with tokens anywhere', { ...jwt, HOST: '0.0.0.0' }],
  ['a secret of 32 bytes', { ...jwt, JWT_SECRET: 'x'.repeat(32) }],
  ['a secret of 32 bytes and fewer letters', { ...jwt, JWT_SECRET: 'é'.repeat(16) }],
  ...[
    rsa,
    generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    generateKeyPairSync('ec', { namedCurve: 'P-521' }),
    generateKeyPairSync('ed25519'),
  ].map((pair): [string, Env] => [
    `a public key (${pair.publicKey.asymmetricKeyType})`,
    { ...jwt, JWT_SECRET: '', JWT_PUBLIC_KEY: publicPem(pair) },
  ]),
  ['a secret in a file', { ...jwt, JWT_SECRET: '', JWT_SECRET_FILE: file('secret', `${SECRET}\n`) }],
  ['an operation that may not take as long as a REST call by default', { OPERATION_TIMEOUT_MS: '2000' }],
  ...['true', 'false', '2', '10.0.0.1', 'loopback, 10.0.0.0/8', '2001:db8::/32'].map((TRUST_PROXY): [string, Env] => [
    `the proxies ${TRUST_PROXY}`,
    { TRUST_PROXY },
  ]),
];

test.each(COMPLETE)('accepts %s', (_name, env) => {
  expect(report(env)).toEqual([]);
});

/** Variables that cannot be used, each alone: what the report says, and the values. */
const UNUSABLE = rows<[name: string, problem: string, ...values: string[]]>(`
  REST_BASE_URL | must be a URL that begins with http:// or https:// | ftp://x
  REST_BASE_URL | must not end with /api/v3.0, which is added to it | https://rewards.example/api/v3.0/
  REST_BASE_URL | must have no user, query or fragment | https://user:hunter2@rewards.example
  OTEL_EXPORTER_OTLP_ENDPOINT | must have no user, query or fragment | https://c.example/?token=hunter2
  REDIS_URL | must be a URL that begins with redis:// or rediss:// and has a host; write the characters /, # and % of a password as %2F, %23 and %25 | redis://default:ab/hunter2@127.0.0.1:6379 | redis://:100%@127.0.0.1 | redis://:a%ff@127.0.0.1 | redis://u:hunter2@ | http://127.0.0.1 | cache
  CORS_ORIGINS | must be a comma-separated list of origins such as https://app.example.com, without a path | https://a.example,b.example | https://a.example/
  FEDERATION | must be one of true, false | yes
  LOG_LEVEL | must be one of trace, debug, info, warn, error, fatal, silent | loud
  NODE_ENV | must be one of production, development, test | prod | PRODUCTION | staging
  TRUST_PROXY | must be true, false, a number of proxies, or a comma-separated list of IP addresses, CIDR ranges, loopback, linklocal and uniquelocal | loopbakc | -1 | 100 | yes | 10.0.0.0/33 | 10.0.0/8 | proxy.example | 10.0.0.1,
`);

test.each(UNUSABLE)('%s %s', (name, problem, ...values) => expectUnusable(name, problem, values));

function expectUnusable(name: string, problem: string, values: string[]): void {
  for (const value of values) {
    // Values of secrets are not shown, nor is what may have one.
    const shown = name === 'REDIS_URL' || /[@?]/.test(value) ? '' : ` (given: "${value}")`;
    expect(report({ [name]: value })).toEqual([`${name}: ${problem}${shown}`]);
  }
}

test.each([
  ['PORT', 0, 65_535],
  ['MANAGEMENT_PORT', 0, 65_535],
  ['REST_CONNECTIONS', 1, 10_000],
  ['SHUTDOWN_DELAY_MS', 0, 600_000],
  ['JWT_MAX_LIFETIME_S', 0, 315_360_000],
  ['OPERATION_TIMEOUT_MS', 1, 600_000],
  ['SHUTDOWN_GRACE_MS', 1, 600_000],
  ['MAX_BODY_BYTES', 1_024, 16_777_216],
  ['MAX_TOKENS', 10, 100_000],
  ['MAX_DEPTH', 1, 100],
  ['MAX_COMPLEXITY', 1, 10_000_000],
  ['MAX_UPSTREAM_CALLS', 1, 10_000],
])('%s lies between %d and %d', (name, min, max) => {
  for (const fit of [min, max]) expect(report({ [name]: String(fit) })).toEqual([]);
  const unfit = [min - 1, max + 1, '1.5', '0x10', '1e3', ' 5', 'NaN'].map(String);
  expectUnusable(name, `must be a whole number between ${min} and ${max}`, unfit);
});

const KEY_FORM = 'must be a public key in PEM: RSA with at least 2048 bits, P-256, P-384, P-521 or Ed25519';
const PLAIN_HTTP = 'REST_BASE_URL: must begin with https:// in production, because every call carries the keys';
const notInProduction = ['REST_API_KEY', 'REST_SECRET_KEY'].map(
  (name) => `${name}: is needed in production (or ${name}_FILE), and not the development key`,
);
const withKey = (JWT_PUBLIC_KEY: string): Env => ({ ...jwt, JWT_SECRET: '', JWT_PUBLIC_KEY });
const client = (more: object) => ({ name: 'app', sha256: 'ab'.repeat(32), scopes: [], ...more });
const clients = (name: string, ...entries: object[]): Env => ({
  CLIENT_TOKENS_FILE: file(name, JSON.stringify(entries)),
});
const given = (name: string) => `(given: "${join(folder, name)}")`;

const REPORTS: [name: string, env: Env, ...problems: string[]][] = [
  [
    'production with nothing set',
    { NODE_ENV: 'production' },
    'REST_BASE_URL: is needed in production; it is the URL of the REST service without /api/v3.0, for example https://rewards.example.com',
    ...notInProduction,
    'JWT_JWKS_URL, JWT_PUBLIC_KEY, JWT_SECRET or CLIENT_TOKENS_FILE: one is needed in production',
  ],
  [
    'everything unsafe in production at once',
    {
      ...{ NODE_ENV: 'production', HOST: '0.0.0.0', REST_BASE_URL: 'http://rewards.example.com', JWT_SECRET: 'short' },
      ...{ JWT_ISSUER: 'i', CORS_ORIGINS: '*', PORT: 'many', MAX_DEPTH: '-1' },
    },
    'PORT: must be a whole number between 0 and 65535 (given: "many")',
    'JWT_SECRET: must have at least 32 bytes',
    'MAX_DEPTH: must be a whole number between 1 and 100 (given: "-1")',
    'JWT_AUDIENCE: is needed with a JWT key; it is what the audience of a token must hold',
    PLAIN_HTTP,
    ...notInProduction,
    'CORS_ORIGINS: must name its origins in production; "*" allows every website',
  ],
  [
    'the development keys in production',
    { ...production, REST_API_KEY: 'development-api-key', REST_SECRET_KEY: 'development-secret-key' },
    ...notInProduction,
  ],
  ['a name that begins like loopback', { ...production, REST_BASE_URL: 'http://127.0.0.1.evil.example' }, PLAIN_HTTP],
  [
    'a plain-http key set in production',
    { ...production, JWT_SECRET: '', JWT_JWKS_URL: 'http://login.example/keys' },
    'JWT_JWKS_URL: must begin with https:// in production',
  ],
  ...['0.0.0.0', '::', '192.168.1.5', 'gateway.example', '127.0.0.1.evil.example', '::ffff:127.0.0.1'].map(
    (host): [string, Env, string] => [
      `an open gateway on ${host}`,
      { HOST: host },
      `HOST: without a token setting the gateway is open to everybody, so it listens on loopback only; set JWT_JWKS_URL, JWT_PUBLIC_KEY, JWT_SECRET or CLIENT_TOKENS_FILE to listen on ${host}`,
    ],
  ),
  ...[{ JWT_PUBLIC_KEY: publicPem(rsa) }, { JWT_PUBLIC_KEY: publicPem(rsa), JWT_JWKS_URL: 'https://l.example' }].map(
    (keys): [string, Env, string] => [
      `${Object.keys(keys).length + 1} JWT keys`,
      { ...jwt, ...keys },
      'JWT_JWKS_URL, JWT_PUBLIC_KEY, JWT_SECRET: set exactly one of them',
    ],
  ),
  [
    'a key without issuer and audience',
    { JWT_SECRET: SECRET },
    'JWT_ISSUER: is needed with a JWT key; it is what the claim "iss" must say',
    'JWT_AUDIENCE: is needed with a JWT key; it is what the audience of a token must hold',
  ],
  [
    'an issuer without a key',
    { JWT_ISSUER: 'i' },
    'JWT_JWKS_URL, JWT_PUBLIC_KEY or JWT_SECRET: one is needed with JWT_ISSUER and JWT_AUDIENCE',
  ],
  ['a secret of 31 bytes', { ...jwt, JWT_SECRET: 'x'.repeat(31) }, 'JWT_SECRET: must have at least 32 bytes'],
  ...['rsa', 'ec', 'x25519', 'none'].map((kind): [string, Env, string] => {
    const pairs: Record<string, { publicKey: PemKey }> = {
      rsa: generateKeyPairSync('rsa', { modulusLength: 1024 }),
      ec: generateKeyPairSync('ec', { namedCurve: 'secp256k1' }),
      x25519: generateKeyPairSync('x25519'),
    };
    const pair = pairs[kind];
    return [`a public key (${kind})`, withKey(pair ? publicPem(pair) : 'hunter2'), `JWT_PUBLIC_KEY: ${KEY_FORM}`];
  }),
  [
    'a private key',
    withKey(rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()),
    'JWT_PUBLIC_KEY: must be the public key; this is a private one, which belongs elsewhere',
  ],
  [
    'a secret and its file',
    { ...jwt, JWT_SECRET_FILE: file('both', SECRET) },
    'JWT_SECRET, JWT_SECRET_FILE: set one of them, not both',
  ],
  [
    'a secret file that does not exist',
    { REST_API_KEY_FILE: join(folder, 'none') },
    `REST_API_KEY_FILE: the file cannot be read (ENOENT: no such file or directory, open '${join(folder, 'none')}')`,
  ],
  [
    'a secret file that is a folder',
    { REST_API_KEY_FILE: folder },
    'REST_API_KEY_FILE: the file cannot be read (EISDIR: illegal operation on a directory, read)',
  ],
  [
    'a secret file that is empty',
    { REST_SECRET_KEY_FILE: file('empty', '\n') },
    'REST_SECRET_KEY_FILE: the file cannot be read (it is empty)',
  ],
  [
    'a short secret in a file',
    { ...jwt, JWT_SECRET: '', JWT_SECRET_FILE: file('short', 'hunter2-hunter2') },
    'JWT_SECRET: must have at least 32 bytes',
  ],
  [
    'a file of client tokens that does not exist',
    { CLIENT_TOKENS_FILE: join(folder, 'none') },
    `CLIENT_TOKENS_FILE: ENOENT: no such file or directory, open '${join(folder, 'none')}' ${given('none')}`,
  ],
  [
    'a file of client tokens that is not JSON',
    { CLIENT_TOKENS_FILE: file('not-json', 'app: hunter2-hunter2') },
    `CLIENT_TOKENS_FILE: must be JSON ${given('not-json')}`,
  ],
  [
    'a file of client tokens with plain tokens and unknown scopes',
    clients('plain', client({ sha256: 'hunter2-hunter2', scopes: ['admin'], expiresAt: 'soon' })),
    `CLIENT_TOKENS_FILE: 0.sha256: must be a SHA-256 in hexadecimal: 64 digits; 0.scopes.0: "admin" is no scope of this gateway; 0.expiresAt: Invalid ISO datetime ${given('plain')}`,
  ],
  [
    'a file of client tokens with the same token twice',
    clients('twice', client({ name: 'a' }), client({ name: 'b' })),
    `CLIENT_TOKENS_FILE: no two clients may have the same token ${given('twice')}`,
  ],
  [
    'one port for two servers',
    { PORT: '4100', MANAGEMENT_PORT: '4100' },
    'MANAGEMENT_PORT: must not be PORT; each needs a port of its own',
  ],
  [
    'persisted operations without a file',
    { PERSISTED_OPERATIONS: 'enforce' },
    'PERSISTED_OPERATIONS_FILE: is needed when PERSISTED_OPERATIONS is enforce',
  ],
  [
    'a REST call that may take longer than its operation',
    { REST_TIMEOUT_MS: '10001' },
    'REST_TIMEOUT_MS: must be at most OPERATION_TIMEOUT_MS (10000), the limit of the whole operation; it is 10001',
  ],
  [
    'removed variables, with what to do instead',
    { WORKERS: '4', MAX_ALIASES: '100' },
    'WORKERS: was removed; start several replicas instead, as deploy/compose.yaml does',
    'MAX_ALIASES: was removed; it is fixed now; MAX_COMPLEXITY and MAX_TOKENS limit an operation',
  ],
];

test.each(REPORTS)('reports %s', (_name, env, ...problems) => {
  const text = report(env);
  expect(text).toEqual(problems);
  for (const secret of [SECRET, 'hunter2', 'the-api-key', 'the-secret-key', 'PRIVATE KEY-----']) {
    expect(text.join('\n')).not.toContain(secret);
  }
});

test('a REST call takes at most as long as its operation', () => {
  expect(loadConfig({ OPERATION_TIMEOUT_MS: '2000' }).rest.timeoutMs).toBe(2_000);
  expect(loadConfig({}).rest.timeoutMs).toBe(3_000);
});

test('the configuration is frozen', () => {
  const config = loadConfig({});
  expect(() => Object.assign(config.rest, { timeoutMs: 1 })).toThrow(TypeError);
  expect(() => Object.assign(config.rates.operations, { burst: 1 })).toThrow(TypeError);
});

describe('secrets', () => {
  test('cannot be printed with the configuration', () => {
    const config = loadConfig(production);
    for (const text of [inspect(config, { depth: 9 }), JSON.stringify(config), String(config.rest.apiKey)]) {
      for (const secret of [SECRET, 'the-api-key', 'the-secret-key']) expect(text).not.toContain(secret);
    }
    expect(reveal(config.rest.secretKey)).toBe('the-secret-key');
  });

  test('in files lose their line break alone', () => {
    const config = loadConfig({
      ...production,
      REST_API_KEY: '',
      REST_API_KEY_FILE: file('api-key', 'from a file\r\n'),
    });
    expect(reveal(config.rest.apiKey)).toBe('from a file');
  });
});
