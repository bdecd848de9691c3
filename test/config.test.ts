import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, describe, expect, test } from '@jest/globals';
import { loadConfig } from '../src/config/config.ts';
import { ConfigError } from '../src/config/environment.ts';
import { reveal } from '../src/config/secret.ts';

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
    expect(error.message).toBe(
      ['The configuration cannot be used:', ...error.problems.map((line) => `  ${line}`)].join('\n'),
    );
    // Node's own errors are of another realm than a test's, so they are printed with their name here.
    return error.problems.map((line) => line.replace('(Error: ', '('));
  }
}

const HOST = (host: string) =>
  `HOST: without a token setting the gateway is open to everybody, so it listens on loopback only; set JWT_JWKS_URL, JWT_PUBLIC_KEY, JWT_SECRET or CLIENT_TOKENS_FILE to listen on ${host}`;
const ONE_KEY = 'JWT_JWKS_URL, JWT_PUBLIC_KEY, JWT_SECRET: set exactly one of them';
const between = (min: number, max: number, given: string) =>
  `must be a whole number between ${min} and ${max}, not "${given}"`;

const rows: [name: string, env: Env, problems: string[]][] = [
  ['nothing at all', {}, []],
  ['a production environment that is complete', production, []],
  ['production with a REST service on loopback', { ...production, REST_BASE_URL: 'http://127.0.0.1:4100' }, []],
  ['production with a REST service on ::1', { ...production, REST_BASE_URL: 'http://[::1]:4100' }, []],
  ['production that listens everywhere', { ...production, HOST: '0.0.0.0' }, []],
  ['empty variables count as absent', { PORT: '', JWT_SECRET: '', CORS_ORIGINS: '' }, []],
  [
    'production with nothing set',
    { NODE_ENV: 'production' },
    [
      'REST_BASE_URL: is needed in production; it is the URL of the REST service without /api/v3.0, for example https://rewards.example.com',
      'REST_API_KEY: is needed in production (or REST_API_KEY_FILE)',
      'REST_SECRET_KEY: is needed in production (or REST_SECRET_KEY_FILE)',
      'JWT_JWKS_URL, JWT_PUBLIC_KEY, JWT_SECRET or CLIENT_TOKENS_FILE: one is needed in production',
    ],
  ],
  [
    'everything unsafe in production at once',
    {
      NODE_ENV: 'production',
      HOST: '0.0.0.0',
      REST_BASE_URL: 'http://rewards.example.com',
      JWT_SECRET: 'short',
      JWT_ISSUER: 'i',
      CORS_ORIGINS: '*',
      PORT: 'many',
      MAX_DEPTH: '-1',
    },
    [
      `PORT: ${between(0, 65_535, 'many')}`,
      `MAX_DEPTH: ${between(1, 100, '-1')}`,
      'JWT_SECRET: must have at least 32 bytes',
      'JWT_AUDIENCE: is needed with a JWT key; it is what the audience of a token must hold',
      'REST_BASE_URL: must begin with https:// in production, because every call carries the keys',
      'REST_API_KEY: is needed in production (or REST_API_KEY_FILE)',
      'REST_SECRET_KEY: is needed in production (or REST_SECRET_KEY_FILE)',
      'CORS_ORIGINS: must name its origins in production; "*" allows every website',
    ],
  ],
  [
    'a plain-http REST service whose name begins like loopback',
    { ...production, REST_BASE_URL: 'http://127.0.0.1.evil.example' },
    ['REST_BASE_URL: must begin with https:// in production, because every call carries the keys'],
  ],
  [
    'a plain-http key set in production',
    { ...production, JWT_SECRET: '', JWT_JWKS_URL: 'http://login.example/keys' },
    ['JWT_JWKS_URL: must begin with https:// in production'],
  ],
  ...['0.0.0.0', '::', '192.168.1.5', 'gateway.example', '127.0.0.1.evil.example', '::ffff:127.0.0.1'].map(
    (host): [string, Env, string[]] => [`an open gateway on ${host}`, { HOST: host }, [HOST(host)]],
  ),
  ...['localhost', 'LOCALHOST', '::1', '127.0.0.1', '127.1.2.3'].map((host): [string, Env, string[]] => [
    `an open gateway on ${host}`,
    { HOST: host },
    [],
  ]),
  ['a gateway with tokens anywhere', { ...jwt, HOST: '0.0.0.0' }, []],
  ['two JWT keys', { ...jwt, JWT_PUBLIC_KEY: publicPem(rsa) }, [ONE_KEY]],
  ['three JWT keys', { ...jwt, JWT_PUBLIC_KEY: publicPem(rsa), JWT_JWKS_URL: 'https://l.example' }, [ONE_KEY]],
  [
    'a key without issuer and audience',
    { JWT_SECRET: SECRET },
    [
      'JWT_ISSUER: is needed with a JWT key; it is what the claim "iss" must say',
      'JWT_AUDIENCE: is needed with a JWT key; it is what the audience of a token must hold',
    ],
  ],
  [
    'an issuer without a key',
    { JWT_ISSUER: 'i' },
    ['JWT_JWKS_URL, JWT_PUBLIC_KEY or JWT_SECRET: one is needed with JWT_ISSUER and JWT_AUDIENCE'],
  ],
  ['a secret of 31 bytes', { ...jwt, JWT_SECRET: 'x'.repeat(31) }, ['JWT_SECRET: must have at least 32 bytes']],
  ['a secret of 32 bytes', { ...jwt, JWT_SECRET: 'x'.repeat(32) }, []],
  ['a secret of 32 bytes and fewer letters', { ...jwt, JWT_SECRET: 'é'.repeat(16) }, []],
  ...(
    [
      ['RSA', publicPem(rsa), []],
      ['P-256', publicPem(generateKeyPairSync('ec', { namedCurve: 'P-256' })), []],
      ['P-521', publicPem(generateKeyPairSync('ec', { namedCurve: 'P-521' })), []],
      ['Ed25519', publicPem(generateKeyPairSync('ed25519')), []],
      [
        'RSA of 1,024 bits',
        publicPem(generateKeyPairSync('rsa', { modulusLength: 1024 })),
        ['must have at least 2048 bits'],
      ],
      [
        'secp256k1',
        publicPem(generateKeyPairSync('ec', { namedCurve: 'secp256k1' })),
        ['must use the curve P-256, P-384 or P-521'],
      ],
      ['X25519', publicPem(generateKeyPairSync('x25519')), ['must be an RSA, EC or Ed25519 key, not x25519']],
      [
        'a private key',
        rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
        ['must be the public key; this is a private one, which belongs elsewhere'],
      ],
      ['no PEM', 'public', ['must be a public key in PEM, beginning with "-----BEGIN PUBLIC KEY-----"']],
    ] as [string, string, string[]][]
  ).map(([name, pem, problems]): [string, Env, string[]] => [
    `a public key: ${name}`,
    { ...jwt, JWT_SECRET: '', JWT_PUBLIC_KEY: pem },
    problems.map((problem) => `JWT_PUBLIC_KEY: ${problem}`),
  ]),
  ['a secret in a file', { ...jwt, JWT_SECRET: '', JWT_SECRET_FILE: file('secret', `${SECRET}\n`) }, []],
  [
    'a secret and its file',
    { ...jwt, JWT_SECRET_FILE: file('both', SECRET) },
    ['JWT_SECRET, JWT_SECRET_FILE: set one of them, not both'],
  ],
  [
    'a secret file that does not exist',
    { REST_API_KEY_FILE: join(folder, 'none') },
    [`REST_API_KEY_FILE: the file cannot be read (ENOENT: no such file or directory, open '${join(folder, 'none')}')`],
  ],
  [
    'a secret file that is a folder',
    { REST_API_KEY_FILE: folder },
    ['REST_API_KEY_FILE: the file cannot be read (EISDIR: illegal operation on a directory, read)'],
  ],
  [
    'a secret file that is empty',
    { REST_SECRET_KEY_FILE: file('empty', '\n') },
    ['REST_SECRET_KEY_FILE: the file cannot be read (it is empty)'],
  ],
  [
    'a short secret in a file',
    { ...jwt, JWT_SECRET: '', JWT_SECRET_FILE: file('short', 'hunter2-hunter2') },
    ['JWT_SECRET: must have at least 32 bytes'],
  ],
  [
    'a file of client tokens that does not exist',
    { CLIENT_TOKENS_FILE: join(folder, 'none') },
    [`CLIENT_TOKENS_FILE: the file cannot be read (ENOENT: no such file or directory, open '${join(folder, 'none')}')`],
  ],
  [
    'a file of client tokens that is not JSON',
    { CLIENT_TOKENS_FILE: file('not-json', 'app: hunter2-hunter2') },
    [`CLIENT_TOKENS_FILE: the file ${join(folder, 'not-json')} is not valid JSON`],
  ],
  [
    'a file of client tokens with plain tokens and unknown scopes',
    {
      CLIENT_TOKENS_FILE: file(
        'plain',
        JSON.stringify([{ name: 'app', sha256: 'hunter2-hunter2', scopes: ['admin'], expiresAt: 'soon' }]),
      ),
    },
    [
      `CLIENT_TOKENS_FILE: the file ${join(folder, 'plain')} cannot be used (0.sha256: must be a SHA-256 in hexadecimal: 64 digits; 0.scopes.0: is no scope of this gateway; 0.expiresAt: Invalid ISO datetime)`,
    ],
  ],
  [
    'a file of client tokens with the same token twice',
    {
      CLIENT_TOKENS_FILE: file(
        'twice',
        JSON.stringify(['a', 'b'].map((name) => ({ name, sha256: 'ab'.repeat(32), scopes: [] }))),
      ),
    },
    [
      `CLIENT_TOKENS_FILE: the file ${join(folder, 'twice')} cannot be used (the list: no two clients may have the same token)`,
    ],
  ],
  [
    'URLs that are none',
    { REST_BASE_URL: 'ftp://x', JWT_JWKS_URL: 'login', ...{ JWT_ISSUER: 'i', JWT_AUDIENCE: 'a' } },
    [
      'REST_BASE_URL: must be a URL that begins with http:// or https://, not "ftp://x"',
      'JWT_JWKS_URL: must be a URL that begins with http:// or https://, not "login"',
      'JWT_JWKS_URL, JWT_PUBLIC_KEY or JWT_SECRET: one is needed with JWT_ISSUER and JWT_AUDIENCE',
    ],
  ],
  [
    'a REST service with the path that is added to it',
    { REST_BASE_URL: 'https://rewards.example/api/v3.0/' },
    ['REST_BASE_URL: must not end with /api/v3.0, which is added to it, not "https://rewards.example/api/v3.0/"'],
  ],
  ...[
    'redis://default:ab/cd@127.0.0.1:6379',
    'redis://:100%@127.0.0.1',
    'redis://:a%ff@127.0.0.1',
    'redis://u:secretpw@',
    'http://127.0.0.1',
    'cache',
  ].map((url): [string, Record<string, string>, string[]] => [
    `a Redis URL that cannot be used: ${url}`,
    { REDIS_URL: url },
    [
      'REDIS_URL: must be a URL that begins with redis:// or rediss:// and has a host; write the characters /, # and % of a password as %2F, %23 and %25',
    ],
  ]),
  [
    'one port for two servers',
    { PORT: '4100', MANAGEMENT_PORT: '4100' },
    ['MANAGEMENT_PORT: must not be PORT; each needs a port of its own'],
  ],
  [
    'a URL with a password, which is not repeated',
    { REST_BASE_URL: 'https://user:hunter2@rewards.example' },
    ['REST_BASE_URL: must have no user, query or fragment'],
  ],
  [
    'origins that are none',
    { CORS_ORIGINS: 'https://a.example,b.example' },
    [
      'CORS_ORIGINS: must be a comma-separated list of origins such as https://app.example.com, without a path, not "https://a.example,b.example"',
    ],
  ],
  [
    'an origin with a path',
    { CORS_ORIGINS: 'https://a.example/' },
    [
      'CORS_ORIGINS: must be a comma-separated list of origins such as https://app.example.com, without a path, not "https://a.example/"',
    ],
  ],
  ['a flag that is none', { FEDERATION: 'yes' }, ['FEDERATION: must be true or false, not "yes"']],
  [
    'a log level that is none',
    { LOG_LEVEL: 'loud' },
    ['LOG_LEVEL: must be trace, debug, info, warn, error, fatal or silent, not "loud"'],
  ],
  [
    'persisted operations without a file',
    { PERSISTED_OPERATIONS: 'enforce' },
    ['PERSISTED_OPERATIONS_FILE: is needed when PERSISTED_OPERATIONS is enforce'],
  ],
  [
    'a REST call that may take longer than its operation',
    { REST_TIMEOUT_MS: '10001' },
    ['REST_TIMEOUT_MS: must be at most OPERATION_TIMEOUT_MS (10000), the limit of the whole operation; it is 10001'],
  ],
  ['an operation that may not take as long as a REST call by default', { OPERATION_TIMEOUT_MS: '2000' }, []],
  ...['prod', 'PRODUCTION', 'staging'].map((name): [string, Env, string[]] => [
    `an environment by the name ${name}`,
    { NODE_ENV: name },
    [`NODE_ENV: must be production, development or test, not "${name}"`],
  ]),
  ...['loopbakc', '-1', '100', 'yes', '10.0.0.0/33', '10.0.0/8', 'proxy.example', '10.0.0.1,'].map(
    (value): [string, Env, string[]] => [
      `a proxy that is ${value}`,
      { TRUST_PROXY: value },
      [
        `TRUST_PROXY: must be true, false, a number of proxies, or a comma-separated list of IP addresses, CIDR ranges, loopback, linklocal and uniquelocal, not "${value}"`,
      ],
    ],
  ),
  ...['true', 'false', '2', '10.0.0.1', 'loopback, 10.0.0.0/8', '2001:db8::/32'].map(
    (value): [string, Env, string[]] => [`a proxy that is ${value}`, { TRUST_PROXY: value }, []],
  ),
  [
    'the development keys in production',
    { ...production, REST_API_KEY: 'development-api-key', REST_SECRET_KEY: 'development-secret-key' },
    [
      'REST_API_KEY: must not be the development key in production',
      'REST_SECRET_KEY: must not be the development key in production',
    ],
  ],
  [
    'removed variables, with what to do instead',
    { WORKERS: '4', MAX_ALIASES: '100' },
    [
      'WORKERS: was removed; start several replicas instead, as deploy/compose.yaml does',
      'MAX_ALIASES: was removed; it is fixed now; MAX_COMPLEXITY and MAX_TOKENS limit an operation',
    ],
  ],
  [
    'a URL with a token in its query, which is not repeated',
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example/?token=hunter2' },
    ['OTEL_EXPORTER_OTLP_ENDPOINT: must have no user, query or fragment'],
  ],
];

test.each(rows)('%s', (_name, env, problems) => {
  const text = report(env);
  expect(text).toEqual(problems);
  for (const secret of [SECRET, 'hunter2', 'the-api-key', 'the-secret-key', 'PRIVATE KEY-----']) {
    expect(text.join('\n')).not.toContain(secret);
  }
});

const numbers: [name: string, min: number, max: number][] = [
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
];

test.each(numbers)('%s lies between %d and %d', (name, min, max) => {
  for (const fit of [min, max]) expect(report({ [name]: String(fit) })).toEqual([]);
  for (const unfit of [String(min - 1), String(max + 1), '1.5', '0x10', '1e3', ' 5', 'NaN']) {
    expect(report({ [name]: unfit })).toEqual([`${name}: ${between(min, max, unfit)}`]);
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
