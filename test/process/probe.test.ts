import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsSocketServer } from 'node:tls';
import { expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { loadConfig } from '../../src/config/config.ts';
import { probe as findProblems } from '../../src/process/probe.ts';
import { atEnd, newFolder } from '../kit/at-end.ts';
import { spawnProcess, startProcess } from '../kit/process.ts';
import { redisIsInstalled, startRedis } from '../kit/redis.ts';
import { startReference } from '../kit/reference.ts';
import { startProxyOf } from '../kit/tcp-proxy.ts';
import { ISSUER, keySigner } from '../kit/tokens.ts';
import { until } from '../kit/until.ts';
import { API_KEY, SECRET_KEY, SETTINGS, startUpstream } from '../kit/upstream.ts';

/* `--probe` of the built program: mistakes of an operator, each in front of real servers, and the line that names it. */

type Env = Record<string, string>;
const SECRETS = /key-for-tests|a-secret-key|hidden-word/;

/** Asynchronous: the servers of this process must answer meanwhile. */
const probe = (env: Env, languages: string[] = []) =>
  new Promise<{ code: unknown; stdout: string; lines: string[] }>((resolve) => {
    const args = ['dist/main.js', '--probe', ...languages];
    execFile(process.execPath, args, { env: { ...SETTINGS, ...env } }, (error, stdout, stderr) => {
      expect(stdout + stderr).not.toMatch(SECRETS);
      resolve({ code: error?.code ?? 0, stdout, lines: stderr.split('\n').filter(Boolean) });
    });
  });

/** The lines of `--probe`, found in this process: a program takes half a second to start. It ends with 1 if there is a line. */
async function problemsOf(env: Env): Promise<string[]> {
  const problems = await findProblems(loadConfig({ ...SETTINGS, ...env }), []);
  expect(problems.join()).not.toMatch(SECRETS);
  return problems;
}

async function listen(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  atEnd(() => {
    if ('closeAllConnections' in server && typeof server.closeAllConnections === 'function')
      server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${Object(server.address()).port}`;
}
const serve = async (listener: RequestListener) => `http://${await listen(createServer(listener))}`;

const reference = await startReference();
const KEYS = { REST_API_KEY: reference.apiKey, REST_SECRET_KEY: reference.secretKey };
const GOOD: Env = { ...KEYS, REST_BASE_URL: reference.url };

test('without a mistake it ends with 0, and asks by reads alone', async () => {
  expect(await probe(GOOD, ['en', 'de'])).toMatchObject({
    ...{ code: 0, lines: [], stdout: expect.stringContaining('Everything that is configured responds') },
  });
  const upstream = await startUpstream();
  expect(await probe({ REST_BASE_URL: upstream.url }, ['en'])).toMatchObject({ code: 0, lines: [] });
  expect(upstream.requests.map(({ endpoint }) => endpoint).sort()).toEqual([
    ...['GET /coupon', 'GET /player', 'GET /player'],
  ]);
});

test('a slow service has the time that REST_TIMEOUT_MS gives it, for calls that follow each other too', async () => {
  const REST_BASE_URL = await serve((_, to) => {
    setTimeout(() => to.writeHead(404, { 'content-type': 'application/json' }).end('{"code":101}'), 1_300);
  });
  const result = await probe({ ...GOOD, REST_BASE_URL, REST_TIMEOUT_MS: '10000' }, ['en']);
  expect(result).toMatchObject({ code: 0, lines: [] });
});

test('a key server that needs seconds for its response is no mistake: a gateway waits for it', async () => {
  const JWT_JWKS_URL = await serve((_, to) => {
    setTimeout(() => to.end(JSON.stringify({ keys: [signer.jwk] })), 2_500);
  });
  const result = await probe({ ...GOOD, JWT_JWKS_URL, JWT_ISSUER: ISSUER, JWT_AUDIENCE: 'a' });
  expect(result).toMatchObject({ code: 0, lines: [] });
});

/** In front of the reference service, which it has at `/rewards`. */
const behindPrefix = () =>
  serve(async ({ url = '', headers }, response) => {
    if (!url.startsWith('/rewards/api/')) return void response.writeHead(404).end('<h1>not found</h1>');
    const { apikey = '', secretkey = '' } = headers;
    const answer = await fetch(`${reference.url}${url.replace('/rewards', '')}`, {
      headers: { apikey: String(apikey), secretkey: String(secretkey) },
    });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  });

const signer = keySigner('ES256', 'one');
/** A key server whose clock differs by so many seconds; a cache in front of it has had the response for a minute. */
const keySetAt = async (seconds: number) => {
  const url = await serve((_, to) => {
    const date = new Date(Date.now() + (seconds - 60) * 1_000).toUTCString();
    to.writeHead(200, { date, age: '60' }).end(JSON.stringify({ keys: [signer.jwk] }));
  });
  return { JWT_ISSUER: ISSUER, JWT_AUDIENCE: 'a', JWT_JWKS_URL: url };
};

test('clocks that differ by less than tokens may are no mistake', async () => {
  expect(await probe({ ...GOOD, ...(await keySetAt(40)) })).toMatchObject({ code: 0, lines: [] });
});

test('the output has the settings that are set, and praise only without a mistake', async () => {
  const good = await probe(GOOD);
  expect(good.stdout).toMatch(/^REST_API_KEY: \[sha256/m);
  expect(good.stdout).not.toMatch(/: default$/m);
  const bad = await probe({ ...GOOD, REST_API_KEY: API_KEY });
  expect(bad).toMatchObject({
    code: 1,
    lines: [expect.stringMatching(/^REST_API_KEY: the service refuses it \(401, code 1\)/)],
  });
  expect(bad.stdout).toMatch(/^REST_API_KEY: \[sha256/m);
  expect(bad.stdout).not.toMatch(/can be used|as it should/);
});

/** A server of connections that the program may reset. */
const createSocketServer = (serve: (to: Socket) => unknown) =>
  createTcpServer((to) => void serve(to.on('error', () => {})));

/** A server that responds to the first message of TLS with this record. */
const responding = async (...record: number[]) => {
  const server = createSocketServer((to) => to.once('data', () => to.end(Buffer.from(record))));
  return { ...GOOD, REST_BASE_URL: `https://${await listen(server)}` };
};
const alerting = (alert: number) => responding(21, 3, 3, 0, 2, 2, alert);
/** A `ServerHello` of TLS 1.0 with TLS_RSA_WITH_AES_128_CBC_SHA. */
const OLD_HELLO = [22, 3, 1, 0, 42, 2, 0, 0, 38, 3, 1, ...Array(32).fill(7), 0, 0, 0x2f, 0];

const mistakes: [string, () => Env | Promise<Env>, RegExp][] = [
  [
    'a wrong API key',
    () => ({ ...GOOD, REST_API_KEY: API_KEY }),
    /^REST_API_KEY: the service refuses it \(401, code 1\)/,
  ],
  [
    'a wrong secret key',
    () => ({ ...GOOD, REST_SECRET_KEY: SECRET_KEY }),
    /^REST_SECRET_KEY: .*\(401, code 1\).*SHA-256/,
  ],
  [
    'an account that wants both keys everywhere',
    async () => ({ ...KEYS, REST_BASE_URL: (await startReference({ REST_SECRET_KEY_ON: 'all' })).url }),
    /set REST_SECRET_KEY_ON=all$/,
  ],
  [
    'a path prefix that was forgotten',
    async () => ({ ...KEYS, REST_BASE_URL: await behindPrefix() }),
    /^REST_BASE_URL: nothing is at \/api\/v3\.0; add the path/,
  ],
  [
    'a path prefix twice',
    async () => ({ ...KEYS, REST_BASE_URL: `${await behindPrefix()}/rewards/rewards` }),
    /^REST_BASE_URL: nothing is at \/rewards\/rewards\/api\/v3\.0; the service is at http:\/\/127\.0\.0\.1:\d+\/rewards$/,
  ],
  [
    'a path that is too much',
    () => ({ ...GOOD, REST_BASE_URL: `${reference.url}/v1` }),
    /the service is at http:\S+\d$/,
  ],
  [
    'a 404 without a code',
    async () => {
      const isOurs = (key: unknown) => key === API_KEY;
      const url = await serve(({ headers }, to) => void to.writeHead(isOurs(headers['apikey']) ? 404 : 401).end('{}'));
      return { REST_BASE_URL: url };
    },
    /^REST_BASE_URL: an unknown player is 404 without code 101/,
  ],
  [
    'a host without an address',
    () => ({ REST_BASE_URL: 'https://rewards.invalid' }),
    /^REST_BASE_URL: its host has no/,
  ],
  ['an address without a route', () => ({ REST_BASE_URL: 'http://255.255.255.255' }), /^REST_BASE_URL: no route leads/],
  ['a port where nothing listens', () => ({ REST_BASE_URL: 'http://127.0.0.1:1' }), /^REST_BASE_URL: nothing listens/],
  [
    'a service that hangs',
    async () => ({ REST_BASE_URL: await serve(() => {}), REST_TIMEOUT_MS: '500' }),
    /^REST_BASE_URL: no response in time, on a connection that was opened; .* raise REST_TIMEOUT_MS$/,
  ],
  ['https at a port without TLS', () => ({ ...GOOD, REST_BASE_URL: reference.url.replace('http', 'https') }), /no TLS/],
  [
    'a client certificate that is refused',
    () => alerting(42),
    /^REST_CLIENT_CERT_FILE: .*\(ERR_SSL_\S+_ALERT_BAD_CERTIFICATE\)/,
  ],
  ['an authority of clients that is another', () => alerting(48), /^REST_CLIENT_CERT_FILE: .*UNKNOWN_CA/],
  [
    'a handshake that fails',
    () => alerting(40),
    /^REST_BASE_URL: .*host name.*REST_CLIENT_CERT_FILE.*HANDSHAKE_FAILURE/,
  ],
  ['a host name that TLS does not know', () => alerting(112), /^REST_BASE_URL: .*host name.*RECOGNIZED_NAME/],
  ['TLS 1.0', () => responding(...OLD_HELLO), /^REST_BASE_URL: its TLS .* too old .*\(ERR_SSL_UNSUPPORTED_PROTOCOL\)/],
  ['a service with HTTP/2 alone', () => alerting(120), /^REST_BASE_URL: .*HTTP\/2 alone.*NO_APPLICATION_PROTOCOL/],
  ['another version of TLS', () => alerting(70), /^REST_BASE_URL: .*TLS version, the ciphers.*PROTOCOL_VERSION/],
  [
    'a redirect',
    async () => ({ REST_BASE_URL: await serve((_, to) => void to.writeHead(301, { location: '/' }).end()) }),
    /^REST_BASE_URL: it is redirected \(301\)/,
  ],
  [
    'a firewall',
    async () => ({
      REST_BASE_URL: await serve((_, to) => void to.writeHead(403, { 'content-type': 'text/html' }).end('<p>')),
    }),
    /^REST_BASE_URL: a page refuses the call \(403\)/,
  ],
  [
    'a challenge of AWS WAF',
    async () => ({
      REST_BASE_URL: await serve((_, to) => void to.writeHead(202, { 'x-amzn-waf-action': 'challenge' }).end()),
    }),
    /^REST_BASE_URL: a page refuses the call \(202\), .* let its firewall allow this machine/,
  ],
  [
    'a website',
    async () => ({
      REST_BASE_URL: await serve((_, to) => void to.writeHead(200, { 'content-type': 'text/html' }).end('<p>')),
    }),
    /^REST_BASE_URL: the response \(200\) is not of the REST interface/,
  ],
  [
    'a service that says something else to everybody',
    async () => ({ REST_BASE_URL: await serve((_, to) => void to.end('{"status":"up"}')) }),
    /^REST_BASE_URL: the response \(200\) is not of the REST interface/,
  ],
  [
    'a mock that has one player for all ids',
    async () => ({ REST_BASE_URL: await serve((_, to) => void to.end('{"playerUniqueId":"p1"}')) }),
    /^REST_BASE_URL: the response \(.*another player\) is not of the REST interface/,
  ],
  [
    'a proxy that is not there',
    () => ({ REST_BASE_URL: 'http://rewards.invalid', HTTP_PROXY: 'http://ops:hidden-word@127.0.0.1:1' }),
    /^HTTP_PROXY: the proxy cannot be reached \(ECONNREFUSED\)/,
  ],
  [
    'a proxy that wants a password',
    async () => {
      const server = createServer().on('connect', (_, socket) => {
        socket.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n');
      });
      return { REST_BASE_URL: 'http://rewards.invalid', HTTP_PROXY: `http://${await listen(server)}` };
    },
    /^HTTP_PROXY: .*responded 407; check its user/,
  ],
  [
    'an SSH server in place of a proxy',
    async () => {
      const server = createSocketServer((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
      return { REST_BASE_URL: 'http://rewards.invalid', HTTP_PROXY: `http://${await listen(server)}` };
    },
    /^HTTP_PROXY: .*no HTTP; is it an HTTP proxy/,
  ],
  [
    'a service that the proxy does not reach',
    async () => {
      const server = createServer().on('connect', (_, socket) => {
        socket.end('HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n');
      });
      return { REST_BASE_URL: 'http://rewards.invalid', HTTP_PROXY: `http://${await listen(server)}` };
    },
    /^REST_BASE_URL: .*responded 503: it does not reach that host; check host and port$/,
  ],
  [
    'a discovery document in place of the key set',
    async () => ({
      ...GOOD,
      ...{ JWT_ISSUER: ISSUER, JWT_AUDIENCE: 'a' },
      JWT_JWKS_URL: await serve((_, to) => void to.end('{"jwks_uri":"https://login.example/keys"}')),
    }),
    /^JWT_JWKS_URL: .*use its jwks_uri/,
  ],
  [
    'a clock that is fast',
    async () => ({ ...GOOD, ...(await keySetAt(-90)) }),
    /^JWT_JWKS_URL: .* (?:89|9[01]) seconds ahead of that of/,
  ],
  [
    'a clock that is slow',
    async () => ({ ...GOOD, ...(await keySetAt(90)) }),
    /^JWT_JWKS_URL: .* (?:89|9[01]) seconds behind that of/,
  ],
  [
    'a web server in place of Redis',
    async () => ({
      ...GOOD,
      REDIS_URL: `redis://${await listen(createSocketServer((to) => to.write('HTTP/1.1 400 Bad Request\r\n')))}`,
    }),
    /^REDIS_URL: .*no Redis/,
  ],
  ['a Redis that is not there', () => ({ ...GOOD, REDIS_URL: 'redis://127.0.0.1:1' }), /^REDIS_URL: .*ECONNREFUSED/],
];

test.each(mistakes)('%s is named in one line', async (_, env, line) => {
  expect(await problemsOf(await env())).toEqual([expect.stringMatching(line)]);
});

test('connections that a sandbox forbids, as IPAddressDeny of systemd does, are not taken for a wrong scheme', async () => {
  const error = `Object.assign(new Error('connect EPERM'), { code: 'EPERM' })`;
  const forbidden = `import net from 'node:net'; net.connect = () => new net.Socket().destroy(${error});`;
  const NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(forbidden)}`;
  const { lines } = await probe({ ...GOOD, NODE_OPTIONS });
  expect(lines).toEqual(['REST_BASE_URL: no route leads there; check firewalls and routes (EPERM)']);
});

test('what hangs is named long before the operations of a gateway would end', async () => {
  const url = await serve(() => {});
  const env = {
    REST_BASE_URL: url,
    REDIS_URL: `redis://${await listen(createSocketServer(() => {}))}`,
    REDIS_TIMEOUT_MS: '600000',
    ...{ JWT_ISSUER: ISSUER, JWT_AUDIENCE: 'a', JWT_JWKS_URL: url },
    ...{ REST_TIMEOUT_MS: '600000', OPERATION_TIMEOUT_MS: '600000' },
  };
  const began = performance.now();
  const names = (await probe(env)).lines.map((line) => /^(\w+): .*(?:in time|timed out)/.exec(line)?.[1]);
  expect(names).toEqual(['REST_BASE_URL', 'JWT_JWKS_URL', 'REDIS_URL']);
  // It takes 7 s, on a busy machine more.
  expect(performance.now() - began).toBeLessThan(20_000);
});

test('a language that the account does not have is named', async () => {
  const { code, lines } = await probe(GOOD, ['en', 'tlh']);
  expect([code, lines]).toEqual([1, [expect.stringMatching(/^lang tlh: the service refuses it \(400, code 5\)/)]]);
});

test('redis is asked everything at once, so that a slow one takes no longer than one answer', async () => {
  const bulk = (text: string) => `$${text.length}\r\n${text}\r\n`;
  const answers = {
    role: `*1\r\n${bulk('master')}`,
    info: bulk('loading:0'),
    get: '$-1\r\n',
    eval: '*2\r\n:1\r\n:1\r\n',
  };
  let ofFour = 0;
  const waiting: (() => void)[] = [];
  const server = createSocketServer((to) => {
    to.on('data', (chunk) => {
      for (const [, name = ''] of chunk.toString().matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)) {
        const answer = Object(answers)[name.toLowerCase()];
        if (answer) ofFour += 1;
        waiting.push(() => to.write(answer ?? '+OK\r\n'));
      }
      // It answers the first of the four when it has got the last, on whatever connections.
      if (ofFour === 0 || ofFour >= 4) for (const answer of waiting.splice(0)) answer();
    });
  });
  const REDIS_URL = `redis://${await listen(server)}`;
  expect(await probe({ ...GOOD, REDIS_URL })).toMatchObject({ code: 0, lines: [] });
});

(redisIsInstalled ? test : test.skip)('a Redis that responds later than the gateway waits is named', async () => {
  const redis = await startRedis();
  const proxy = await startProxyOf(redis.url);
  proxy.delay(30);
  const slow = { ...GOOD, REDIS_URL: proxy.url };
  expect((await probe({ ...slow, REDIS_TIMEOUT_MS: '50' })).lines).toEqual([
    expect.stringMatching(/^REDIS_TIMEOUT_MS: Redis took \d+ ms, so events .* are refused; raise it/),
  ]);
  expect(await probe({ ...slow, REDIS_TIMEOUT_MS: '5000' })).toMatchObject({ code: 0, lines: [] });
});

(redisIsInstalled ? test : test.skip)('a Redis that allows the keys of this gateway alone is no mistake', async () => {
  const redis = await startRedis();
  const admin = new Redis(redis.url);
  atEnd(() => admin.disconnect());
  const gateway = await startProcess({ ...GOOD, REDIS_URL: redis.url });
  let key = '';
  await until(async () => {
    [key = ''] = await admin.keys('gateway:*');
    return key !== '';
  });
  gateway.child.kill('SIGTERM');
  const pattern = `${key.slice(0, key.lastIndexOf(':'))}:*`;
  await admin.call('ACL', 'SETUSER', 'one', 'on', '>hidden-word', `~${pattern}`, '+@all');
  const REDIS_URL = redis.url.replace('//', '//one:hidden-word@');
  expect(await probe({ ...GOOD, REDIS_URL })).toMatchObject({ code: 0, lines: [] });
});

(redisIsInstalled ? test : test.skip)(
  'redis: a wrong password, a full Redis and a replica are named, and nothing is written',
  async () => {
    const password = ['--requirepass', 'a-password'];
    const { url, port } = await startRedis(undefined, password);
    const withPassword = url.replace('//', '//:a-password@');
    expect(await problemsOf({ ...GOOD, REDIS_URL: url.replace('//', '//:hidden-word@') })).toEqual([
      expect.stringMatching(/^REDIS_URL: WRONGPASS.*check address, redis: or rediss:, user, password/),
    ]);
    // With a database, two commands are refused.
    const { href } = Object.assign(new URL(url), { password: 'hidden-word', pathname: '/3' });
    expect(await problemsOf({ ...GOOD, REDIS_URL: href })).toEqual([
      expect.stringMatching(/^REDIS_URL: (?:WRONGPASS|NOAUTH).*user, password/),
    ]);
    expect(await problemsOf({ ...GOOD, REDIS_URL: url })).toEqual([
      expect.stringMatching(/^REDIS_URL: NOAUTH.*user, password/),
    ]);
    expect(await problemsOf({ ...GOOD, REDIS_URL: withPassword })).toEqual([]);
    const client = new Redis(withPassword);
    atEnd(() => client.disconnect());
    expect(await client.dbsize()).toBe(0);
    // While a gateway that runs looks whether it may use its commands, its own key is a hash.
    const gateway = await startProcess({ ...GOOD, REDIS_URL: withPassword });
    let key: string | undefined;
    await until(async () => {
      [key] = await client.keys('*check');
      return key !== undefined;
    });
    gateway.child.kill('SIGSTOP');
    await client.del(`${key}`);
    await client.hset(`${key}`, 'a', 1);
    expect(await problemsOf({ ...GOOD, REDIS_URL: withPassword })).toEqual([]);
    gateway.child.kill('SIGKILL');
    await client.config('SET', 'maxmemory', '1');
    expect(await problemsOf({ ...GOOD, REDIS_URL: withPassword })).toEqual([
      expect.stringMatching(/^REDIS_URL: Redis is full \(\d+ of 1 bytes\); raise its maxmemory/),
    ]);
    await client.config('SET', 'maxmemory', '0');
    const replica = await startRedis(undefined, ['--replicaof', '127.0.0.1', `${port}`, '--masterauth', 'a-password']);
    expect(await problemsOf({ ...GOOD, REDIS_URL: replica.url })).toEqual([
      expect.stringContaining('this is a replica'),
    ]);
  },
);

/** A certificate, in a folder as `key.pem` and `cert.pem`. */
function certificateFor(name: string) {
  const folder = newFolder();
  const files = ['-keyout', 'key.pem', '-out', 'cert.pem', '-nodes', '-days', '30'];
  const names = ['-subj', '/CN=rewards.example', '-addext', `subjectAltName=${name}`];
  const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', ...files, ...names];
  execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const [key, cert] = [readFileSync(join(folder, 'key.pem')), readFileSync(join(folder, 'cert.pem'))];
  return { folder, tls: { key, cert } };
}

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
(hasOpenssl ? test : test.skip)(
  'openssl: an authority that is not trusted, and http in place of https, are named',
  async () => {
    const { folder, tls } = certificateFor('DNS:rewards.example');
    const address = await listen(createTlsServer(tls, (_, response) => void response.end('{}')));
    const unknown = await problemsOf({ REST_BASE_URL: `https://${address}` });
    expect(unknown).toEqual([expect.stringMatching(/^REST_CA_FILE: .*DEPTH_ZERO/)]);
    const REST_CA_FILE = join(folder, 'cert.pem');
    const other = await problemsOf({ REST_BASE_URL: `https://${address}`, REST_CA_FILE });
    expect(other).toEqual([expect.stringMatching(/^REST_BASE_URL: the certificate is for another host/)]);
    const plain = await problemsOf({ REST_BASE_URL: `http://${address}` });
    expect(plain).toEqual([expect.stringMatching(/^REST_BASE_URL: no response .*begin with https/)]);
  },
);

(hasOpenssl ? test : test.skip)('openssl: what is wrong with the certificate of Redis is named', async () => {
  const { folder, tls } = certificateFor('DNS:rewards.example');
  const REDIS_URL = `rediss://${await listen(createTlsSocketServer(tls))}`;
  // The name of Node's own error would be before its text in this process.
  const unknown = await probe({ ...GOOD, REDIS_URL });
  expect(unknown.lines).toEqual([expect.stringMatching(/^REDIS_CA_FILE: .*not trusted \(self.signed certificate\b/)]);
  const other = await problemsOf({ ...GOOD, REDIS_URL, REDIS_CA_FILE: join(folder, 'cert.pem') });
  expect(other).toEqual([expect.stringMatching(/^REDIS_URL: its certificate is for another host/)]);
});

(hasOpenssl ? test : test.skip).each([
  ['is of an unknown authority', 'IP:127.0.0.1', /SELF_SIGNED.*; name its authority in NODE_EXTRA_CA_CERTS$/],
  ['is missing, because it has no TLS,', '', /(?:WRONG_VERSION|EPROTO|PACKET_LENGTH).*; begin it with http:/],
])('openssl: an egress proxy whose certificate %s is named, with what to do', async (_, names, advice) => {
  const server = names === '' ? createServer() : createTlsSocketServer(certificateFor(names).tls);
  const env = { REST_BASE_URL: 'https://rewards.invalid', HTTPS_PROXY: `https://${await listen(server)}` };
  const [line, ...others] = await problemsOf(env);
  expect([line, others]).toEqual([expect.stringMatching(/^HTTPS_PROXY: /), []]);
  expect(line).toMatch(advice);
});

(hasOpenssl ? test : test.skip)('openssl: an egress proxy that must begin with https:// is named', async () => {
  const server = createTlsSocketServer(certificateFor('IP:127.0.0.1').tls);
  const env = { REST_BASE_URL: 'https://rewards.invalid', HTTPS_PROXY: `http://${await listen(server)}` };
  expect(await problemsOf(env)).toEqual([expect.stringMatching(/^HTTPS_PROXY: .*must it begin with https:/)]);
});

(hasOpenssl ? test : test.skip)(
  'openssl: a key server of an unknown authority, and the setting for it, are named',
  async () => {
    const JWT_JWKS_URL = `https://${await listen(createTlsSocketServer(certificateFor('IP:127.0.0.1').tls))}`;
    const problems = await problemsOf({ ...GOOD, JWT_ISSUER: ISSUER, JWT_AUDIENCE: 'a', JWT_JWKS_URL });
    expect(problems).toEqual([expect.stringMatching(/^JWT_JWKS_URL: .*self.signed .*NODE_EXTRA_CA_CERTS/)]);
  },
);

/** A name with two addresses, where nothing listens. */
const TWO_ADDRESSES = `import dns from 'node:dns';
  import { syncBuiltinESMExports } from 'node:module';
  const all = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }));
  dns.lookup = (_name, _options, done) => done(null, all);
  syncBuiltinESMExports();`;

test('an egress proxy with two addresses, of which none responds, is named, and not the REST service', async () => {
  const env = { REST_BASE_URL: 'https://rewards.invalid', HTTPS_PROXY: 'http://proxy.invalid:1' };
  const options = ['--import', `data:text/javascript,${encodeURIComponent(TWO_ADDRESSES)}`];
  const { ended, output } = spawnProcess(env, options, undefined, undefined, ['--probe']);
  expect((await ended).code).toBe(1);
  expect(output()).toContain('HTTPS_PROXY: the proxy cannot be reached (ECONNREFUSED)');
});

(hasOpenssl ? test : test.skip)(
  'openssl: a TLS proxy that does not reach the service is not taken for a certificate alone',
  async () => {
    const { folder, tls } = certificateFor('IP:127.0.0.1');
    const server = createTlsSocketServer(tls, (socket) => void socket.end());
    const env = { REST_BASE_URL: `https://${await listen(server)}`, REST_CA_FILE: join(folder, 'cert.pem') };
    expect(await problemsOf(env)).toEqual([
      expect.stringMatching(/^REST_BASE_URL: no response .*is it up behind its TLS proxy, or does/),
    ]);
  },
);

(hasOpenssl ? test : test.skip).each([
  ['TLS 1.3 closes the connection', { requestCert: true }, /^REST_CLIENT_CERT_FILE: the service wants a certificate/],
  ['a page of 400 says so', {}, /^REST_BASE_URL: .*client certificate \(REST_CLIENT_CERT_FILE\)/],
])('openssl: a client certificate that is missing is named when %s', async (_, options, line) => {
  const { folder, tls } = certificateFor('IP:127.0.0.1');
  const respond: RequestListener = (_, to) => void to.writeHead(400, { 'content-type': 'text/html' }).end('<p>');
  const server = createTlsServer({ ...tls, ...options, ca: tls.cert }, respond);
  const env = { REST_BASE_URL: `https://${await listen(server)}`, REST_CA_FILE: join(folder, 'cert.pem') };
  expect(await problemsOf(env)).toEqual([expect.stringMatching(line)]);
});
