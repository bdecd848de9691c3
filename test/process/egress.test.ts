import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, createServer, type Server as NetServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { loadConfig } from '../../src/config/config.ts';
import { fetchFor, proxyFor } from '../../src/egress-proxy.ts';
import { atEnd, newFile, newFolder } from '../kit/at-end.ts';
import { post } from '../kit/post.ts';
import { spawnProcess, startProcess } from '../kit/process.ts';
import { freePort, redisHasTls, startRedis } from '../kit/redis.ts';
import { rows } from '../kit/rows.ts';
import { bearer, claims, header, ISSUER, keySigner, sha256 } from '../kit/tokens.ts';
import { API_KEY, SECRET_KEY, SETTINGS } from '../kit/upstream.ts';
import { start, upstream } from './setup.ts';

/* The built program where only a proxy leads out, and in front of a service with a private certificate authority. */

const READ = { query: '{ player(playerUniqueId: "p1") { attributes { city } coupons { code } } }' };

async function listen<Kind extends NetServer>(server: Kind): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  atEnd(() => server.close());
  return Object(server.address()).port;
}

const TUNNEL = 'HTTP/1.1 200 OK\r\n\r\n';

test.each([
  ['closes the connection', '', 'nothing'],
  ['stops in the middle of its response', 'HTTP/1.1 2', 'nothing'],
  ['sends a response that undici refuses', 'HTTP/1.1 100 Continue\r\n\r\n', 'nothing'],
  ['sends a page with 200', `${TUNNEL}<html>Blocked</html>`, '200 with a text of its own'],
  ['sends an error behind 200', `${TUNNEL}HTTP/1.1 502 Bad Gateway\r\n\r\n`, '200 with a text of its own'],
])('a proxy that %s is asked once for each attempt; of a write, nothing was done', async (_case, bytes, response) => {
  const asked: string[] = [];
  const proxy = createServer((socket) => {
    socket
      .on('error', () => {})
      .once('data', (data) => {
        asked.push(String(data).split(/[ :]/)[1] ?? '');
        socket.end(bytes);
      });
  });
  const shop = {
    name: 'shop',
    sha256: sha256('client-token-for-tests'),
    scopes: ['players:read', 'players:write', 'any-player'],
  };
  const gateway = await startProcess({
    ...{ HTTP_PROXY: `127.0.0.1:${await listen(proxy)}`, REST_BASE_URL: 'http://rewards.invalid' },
    ...{ JWT_JWKS_URL: 'http://login.invalid/keys', JWT_ISSUER: ISSUER, JWT_AUDIENCE: 'referral-gateway' },
    CLIENT_TOKENS_FILE: newFile('clients.json', [shop]),
  });
  const failed = await gateway.logged(({ msg }) => /keys for tokens/.test(msg));
  expect([asked, failed.msg]).toEqual([['login.invalid'], expect.stringContaining(response)]);
  const headers = bearer('client-token-for-tests');
  const read = await post(gateway.url, { query: '{ player(playerUniqueId: "p1") { attributes { city } } }' }, headers);
  expect(read.codes).toEqual(['UPSTREAM_UNAVAILABLE']);
  const write = 'mutation { upsertPlayer(input: { playerUniqueId: "p1" }) { serviceId } }';
  const [error] = (await post(gateway.url, { query: write }, headers)).errors;
  expect(error?.extensions).toMatchObject({ outcome: 'NOT_DONE', retryable: true });
  const line = await gateway.logged(({ msg }) => msg === 'upstream call failed');
  expect(line.reason).toContain(`the egress proxy responded ${response}`);
  // At most three attempts of each.
  expect(asked.filter((host) => host === 'rewards.invalid').length).toBeLessThanOrEqual(6);
});

test('an IPv6 address of a service or a key server is in brackets for a proxy', async () => {
  const proxy = await startEgressProxy(() => Number(new URL(upstream.url).port));
  const urls = ['http://[2001:db8::1]:8080', 'http://[2001:db8::2]:8443/keys', 'http://[2001:db8::3]/'];
  const through = loadConfig({ HTTP_PROXY: proxy.host }).rest.proxy;
  for (const url of urls) await fetchFor(new URL(url), through)(url).catch(() => undefined);
  expect(proxy.seen).toEqual(['1]:8080', '2]:8443', '3]:80'].map((end) => `CONNECT [2001:db8::${end}`));
});

test('a proxy that accepts connections and says nothing is asked once and named in the log; of a write, nothing was done', async () => {
  let asked = 0;
  const proxy = createServer((socket) => {
    asked += 1;
    socket.on('error', () => {});
  });
  const env = { REST_BASE_URL: 'http://rewards.invalid', HTTP_PROXY: `127.0.0.1:${await listen(proxy)}` };
  const gateway = await startProcess({ ...env, REST_TIMEOUT_MS: '500' });
  const read = '{ player(playerUniqueId: "p1") { attributes { city } } }';
  expect((await post(gateway.url, { query: read })).codes).toEqual(['UPSTREAM_TIMEOUT']);
  const write = 'mutation { upsertPlayer(input: { playerUniqueId: "p1" }) { serviceId } }';
  const [error] = (await post(gateway.url, { query: write })).errors;
  expect(error?.extensions).toMatchObject({ code: 'UPSTREAM_TIMEOUT', outcome: 'NOT_DONE', retryable: true });
  const line = await gateway.logged(({ msg }) => msg === 'upstream call failed');
  expect([line.reason, asked]).toEqual([expect.stringContaining('the egress proxy responded nothing'), 2]);
});

/** A proxy that alone can resolve names; it connects all of them to one port. With `credentials`, it wants them. */
async function startEgressProxy(port: () => number, credentials?: string, server: Server = createHttpServer()) {
  const seen: string[] = [];
  server.on('request', (request, response) => {
    seen.push(`${request.method} ${request.url}`);
    response.writeHead(405).end();
  });
  server.on('connect', ({ url, headers, rawHeaders }, socket) => {
    seen.push(`CONNECT ${url}`);
    // Some proxies refuse a tunnel without it.
    expect(headers['user-agent']).toMatch(/^referral-gateway\/\d/);
    expect(rawHeaders.join()).not.toMatch(new RegExp(`${API_KEY}|${SECRET_KEY}`));
    socket.on('error', () => {});
    const wanted = credentials && `Basic ${Buffer.from(credentials).toString('base64')}`;
    if (wanted && headers['proxy-authorization'] !== wanted) {
      return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n');
    }
    const target = connect(port(), '127.0.0.1', () => socket.write('HTTP/1.1 200 Connection established\r\n\r\n'));
    target.pipe(socket).pipe(target);
    target.on('error', () => socket.destroy());
    atEnd(() => target.destroy());
  });
  return { host: `127.0.0.1:${await listen(server)}`, seen };
}

test.each([
  ['HTTPS_PROXY', 'HTTP_PROXY', undefined],
  ['https_proxy', 'http_proxy', 'ops:p@ss/word'],
  ['https_proxy', 'http_proxy', 'access-key:'],
])('%s and %s lead REST calls and key sets out, with user and password %s', async (https, http, credentials) => {
  const signer = keySigner('ES256', 'k1');
  const keys = createHttpServer((_request, response) => response.end(JSON.stringify({ keys: [signer.jwk] })));
  const keyPort = await listen(keys);
  const restPort = Number(new URL(upstream.url).port);
  let next = keyPort;
  const proxy = await startEgressProxy(() => next, credentials);
  const [user = '', password = ''] = credentials?.split(':') ?? [];
  const secret = password && `:${encodeURIComponent(password)}`;
  const url = `http://${credentials ? `${user}${secret}@` : ''}${proxy.host}`;
  const gateway = await startProcess({
    ...{ [https]: url, [http]: url, REST_BASE_URL: 'http://rewards.invalid' },
    ...{ JWT_JWKS_URL: 'http://login.invalid/keys', JWT_ISSUER: ISSUER, JWT_AUDIENCE: 'referral-gateway' },
  });
  await gateway.pageWhen('/readyz', ({ status }) => status === 200);
  next = restPort;
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const unsigned = `${part(header(signer))}.${part(claims())}`;
  const token = `${unsigned}.${signer.sign(unsigned).toString('base64url')}`;
  const answer = await post(gateway.url, READ, { authorization: `Bearer ${token}` });
  expect(answer.codes).toEqual([]);
  expect(upstream.requests.map(({ headers }) => headers.host)).toEqual(['rewards.invalid', 'rewards.invalid']);
  expect(proxy.seen.filter((line) => line.includes('login'))).toEqual(['CONNECT login.invalid:80']);
  expect(new Set(proxy.seen)).toEqual(new Set(['CONNECT login.invalid:80', 'CONNECT rewards.invalid:80']));
  expect(gateway.output()).not.toContain(password || 'no password at all');
});

test('a name with a dot at its end is looked up so; neither Host nor SNI has the dot', async () => {
  const names = new Set<string>();
  const service = createTlsServer({
    SNICallback: (name, done) => {
      names.add(name);
      done(new Error('There is no certificate here.'));
    },
  });
  let port = await listen(service);
  const proxy = await startEgressProxy(() => port);
  const gatewayFor = (REST_BASE_URL: string) => startProcess({ HTTP_PROXY: proxy.host, REST_BASE_URL });
  await post((await gatewayFor('https://rewards.invalid.')).url, READ);
  expect(names).toEqual(new Set(['rewards.invalid']));
  port = Number(new URL(upstream.url).port);
  expect((await post((await gatewayFor('http://rewards.invalid.:81')).url, READ)).codes).toEqual([]);
  expect(upstream.requests.map(({ headers }) => headers.host)).toEqual(['rewards.invalid:81', 'rewards.invalid:81']);
  expect(new Set(proxy.seen)).toEqual(new Set(['CONNECT rewards.invalid.:443', 'CONNECT rewards.invalid.:81']));
});

test('a Redis with TLS gets its name in SNI, by which managed services choose it', async () => {
  let named: string | undefined;
  const redis = createTlsServer({
    SNICallback: (name, done) => {
      named = name;
      done(new Error('There is no certificate here.'));
    },
  });
  const gateway = await start({ REDIS_URL: `rediss://localhost:${await listen(redis)}` });
  await gateway.logged(({ msg }) => msg.startsWith('Redis is not reachable'));
  expect(named).toBe('localhost');
});

test('a proxy that refuses is named in the log; NO_PROXY and loopback go around it', async () => {
  const proxy = await startEgressProxy(() => 1, 'ops:secret-of-the-proxy');
  const refused = await startProcess({ HTTP_PROXY: `http://${proxy.host}`, REST_BASE_URL: 'http://rewards.invalid' });
  expect((await post(refused.url, READ)).codes[0]).toBe('UPSTREAM_UNAVAILABLE');
  const line = await refused.logged(({ msg }) => msg === 'upstream call failed');
  expect(JSON.stringify(line)).toMatch(/the egress proxy responded 407/);
  const withoutKeys = await start({
    ...{ HTTP_PROXY: `http://${proxy.host}`, JWT_JWKS_URL: 'http://login.invalid/keys' },
    ...{ JWT_ISSUER: ISSUER, JWT_AUDIENCE: 'referral-gateway' },
  });
  const { msg } = await withoutKeys.logged((one) => one.msg.startsWith('the keys for tokens cannot be fetched'));
  expect(msg).toContain('Proxy response (407)');
  // It would ask again.
  withoutKeys.child.kill('SIGKILL');
  await withoutKeys.ended;
  const { length } = proxy.seen;
  // Some write a proxy without its scheme.
  const direct = await start({ HTTP_PROXY: proxy.host });
  expect((await post(direct.url, READ)).codes).toEqual([]);
  const exempt = await startProcess({
    ...{ HTTP_PROXY: `http://${proxy.host}`, NO_PROXY: '.example, .invalid', REST_BASE_URL: 'http://rewards.invalid' },
  });
  expect((await post(exempt.url, READ)).codes[0]).toBe('UPSTREAM_UNAVAILABLE');
  // From Node 22 on, this makes Node's own requests go through the proxy, also those to loopback.
  const keys = createHttpServer((_request, response) =>
    response.end(JSON.stringify({ keys: [keySigner('ES256', 'k1').jwk] })),
  );
  const JWT_JWKS_URL = `http://127.0.0.1:${await listen(keys)}/keys`;
  const tokens = { JWT_JWKS_URL, JWT_ISSUER: ISSUER, JWT_AUDIENCE: 'referral-gateway' };
  const byNode = await start({ HTTP_PROXY: `http://${proxy.host}`, NODE_USE_ENV_PROXY: '1', ...tokens });
  await byNode.pageWhen('/readyz', ({ status }) => status === 200);
  expect(proxy.seen).toHaveLength(length);
});

const FORMS = rows<[except: string, direct: string, ...through: string[]]>(`
  * | http://rewards.example
  rewards.example | http://rewards.example | https://rewards.example.org | http://otherrewards.example
  .example | https://rewards.example:8443 | https://example.org
  *.rewards.example, other | http://eu.rewards.example | http://rewards.example.org
  one.example;two.example|.three | http://two.example | http://one.example2
  one.example two.example | http://two.example. | http://three.example
  REWARDS.example:8443 | https://rewards.example:8443 | https://rewards.example
  rewards.example:443 | https://rewards.example | http://rewards.example
  10.0.0.0/8,172.16.0.0/12 | http://172.31.4.5 | http://172.32.0.1 | http://rewards.example
  10.1.2.3:8080 | http://10.1.2.3:8080 | http://10.1.2.3
  2001:db8::/32 | http://[2001:db8:4::5] | http://[2001:db9::1] | http://10.1.2.3
  2001:db8::7 | http://[2001:db8::7]:4100 | http://[2001:db8::8]
  [2001:db8::7]:4100 | http://[2001:db8::7]:4100 | http://[2001:db8::7]
  10.0.0.0/99,/,: | http://[::1]:4100 | http://10.0.0.1
  none.example | http://127.3.2.1 | http://rewards.example
  none.example | http://localhost:4100 | http://localhost.example
`);

test.each(FORMS)('NO_PROXY=%s leads to %s without the proxy', (NO_PROXY, direct, ...through) => {
  const { proxy } = loadConfig({ HTTP_PROXY: 'proxy.example:3128', NO_PROXY }).rest;
  expect(proxyFor(new URL(direct), proxy)).toBeUndefined();
  for (const url of through) expect(proxyFor(new URL(url), proxy)).toBe('http://proxy.example:3128/');
});

test('a proxy that is no URL is refused at the start, without its password', async () => {
  const { output, ended } = spawnProcess({ HTTPS_PROXY: 'socks5://me:hidden-word@proxy:1080' });
  expect(await ended).toEqual({ code: 1, signal: null });
  expect(output()).toContain('HTTPS_PROXY: must be the URL of an HTTP proxy');
  expect(output()).not.toContain('hidden-word');
});

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

/** A private authority, and certificates that it issued, as PEM files by name. */
function createAuthority(authority = 'Own authority') {
  const folder = newFolder();
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const ca = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial'];
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '30', '-subj', `/CN=${authority}`);
  const issue = (name: string, subject: string, days = '30') => {
    openssl('req', ...key, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${subject}`);
    const alternative = newFile('names', `subjectAltName=IP:127.0.0.1,DNS:${subject}`);
    openssl('x509', '-req', '-in', `${name}.csr`, ...ca, '-out', `${name}.pem`, '-days', days, '-extfile', alternative);
  };
  issue('server', 'rewards.example');
  issue('client', 'gateway');
  issue('expired', 'rewards.example', '-1');
  return (file: string) => join(folder, file);
}

(hasOpenssl ? test : test.skip)(
  'openssl: an egress proxy with TLS leads to services with TLS and without',
  async () => {
    const file = createAuthority();
    const tls = { key: readFileSync(file('server.key')), cert: readFileSync(file('server.pem')) };
    const service = createTlsServer(tls, (_request, response) => {
      response
        .setHeader('content-type', 'application/json')
        .end('{"playerUniqueId":"p1","playerAttributes":{"city":"Pune"}}');
    });
    let port = await listen(service);
    const proxy = await startEgressProxy(() => port, undefined, createTlsServer(tls));
    const url = `https://${proxy.host}`;
    const env = { HTTPS_PROXY: url, HTTP_PROXY: url, NODE_EXTRA_CA_CERTS: file('ca.pem') };
    const read = { query: '{ player(playerUniqueId: "p1") { attributes { city } } }' };
    const inside = await startProcess({
      ...env,
      REST_BASE_URL: 'https://rewards.example',
      REST_CA_FILE: file('ca.pem'),
    });
    expect((await post(inside.url, read)).data).toEqual({ player: { attributes: { city: 'Pune' } } });
    // The proxy's address as the name of a server: Node warns of it, and from 26 refuses it.
    expect(inside.output()).not.toContain('DEP0123');
    const stranger = await startProcess({
      ...env,
      REST_BASE_URL: 'https://other.example',
      REST_CA_FILE: file('ca.pem'),
    });
    expect((await post(stranger.url, read)).codes).toEqual(['UPSTREAM_UNAVAILABLE']);
    port = Number(new URL(upstream.url).port);
    const plain = await startProcess({ ...env, REST_BASE_URL: 'http://rewards.example' });
    expect((await post(plain.url, read)).codes).toEqual([]);
    // One whose certificate is for another name gets nothing of a call.
    const foreign = { HTTP_PROXY: url.replace('127.0.0.1', 'localhost'), NODE_EXTRA_CA_CERTS: file('ca.pem') };
    const misled = await startProcess({ ...foreign, REST_BASE_URL: 'http://rewards.example' });
    expect((await post(misled.url, read)).codes).toEqual(['UPSTREAM_UNAVAILABLE']);
    const line = await misled.logged(({ msg }) => msg === 'upstream call failed');
    expect(JSON.stringify(line)).toContain(
      'the egress proxy responded with the TLS error ERR_TLS_CERT_ALTNAME_INVALID',
    );
    expect(new Set(proxy.seen)).toEqual(
      new Set(['CONNECT rewards.example:443', 'CONNECT other.example:443', 'CONNECT rewards.example:80']),
    );
  },
);

const EXPIRED = 'the certificate of CN=rewards.example expired on ';

(hasOpenssl ? test : test.skip)(
  'openssl: a private authority and a client certificate, each wrong in its own way',
  async () => {
    const file = createAuthority();
    const text = (name: string) => readFileSync(file(name), 'utf8');
    const subjects: string[] = [];
    const tls = { key: text('server.key'), cert: text('server.pem'), ca: text('ca.pem') };
    const server = createTlsServer({ ...tls, requestCert: true }, (request, response) => {
      const { subject } = Object(request.socket).getPeerCertificate();
      subjects.push(subject.CN);
      response.setHeader('content-type', 'application/json').end('{"playerUniqueId":"p1"}');
    });
    const REST_BASE_URL = `https://127.0.0.1:${await listen(server)}`;
    const pem = (name: string) => newFile('one-line.pem', text(name).trim().replaceAll('\n', '\\n'));
    const files = { REST_CLIENT_CERT_FILE: pem('client.pem'), REST_CLIENT_KEY_FILE: pem('client.key') };
    const trusted = { REST_BASE_URL, REST_CA_FILE: file('ca.pem'), ...files };
    const read = { query: '{ player(playerUniqueId: "p1") { attributes { city } } }' };
    const gateway = await startProcess(trusted);
    expect((await post(gateway.url, read)).codes).toEqual([]);
    expect(subjects).toEqual(['gateway']);

    // A file that Windows wrote, with the certificate of the service in place of its authority.
    const pinned = newFile('pinned.pem', `\ufeff${text('server.pem').replaceAll('\n', '\r\n')}`);
    const pinning = await startProcess({ ...trusted, REST_CA_FILE: pinned });
    expect((await post(pinning.url, read)).codes).toEqual([]);
    subjects.pop();

    const stranger = await startProcess({ REST_BASE_URL });
    expect((await post(stranger.url, read)).codes).toEqual(['UPSTREAM_UNAVAILABLE']);
    const { cause } = await stranger.logged(({ msg }) => msg === 'upstream call failed');
    expect(JSON.stringify(cause)).toContain('SELF_SIGNED_CERT_IN_CHAIN');
    expect(subjects).toHaveLength(1);

    const encrypted = (...form: string[]) => {
      const args = ['pkey', '-in', file('client.key'), '-aes128', '-passout', 'pass:words', ...form];
      return newFile('encrypted.key', execFileSync('openssl', args, { encoding: 'utf8' }));
    };
    const wrong: [Record<string, string>, string | RegExp][] = [
      [
        { ...trusted, REST_CLIENT_KEY_FILE: file('server.key') },
        'REST_CLIENT_KEY_FILE: is not the key of the certificate',
      ],
      [{ ...trusted, REST_CLIENT_KEY_FILE: '' }, 'REST_CLIENT_KEY_FILE: is needed with REST_CLIENT_CERT_FILE'],
      ...[['-traditional'], []].map((form): (typeof wrong)[number] => [
        { ...trusted, REST_CLIENT_KEY_FILE: encrypted(...form) },
        'REST_CLIENT_KEY_FILE: must be a private key in PEM, without a passphrase',
      ]),
      [{ ...trusted, REST_CA_FILE: file('ca.key') }, 'REST_CA_FILE: the file has no certificate in PEM'],
      [{ ...trusted, REST_CA_FILE: file('none.pem') }, /REST_CA_FILE: (?:Error: )?ENOENT/],
      [{ ...trusted, REST_CA_FILE: file('expired.pem') }, `REST_CA_FILE: ${EXPIRED}`],
      [
        { ...trusted, REST_CLIENT_CERT_FILE: file('expired.pem'), REST_CLIENT_KEY_FILE: file('expired.key') },
        `REST_CLIENT_CERT_FILE: ${EXPIRED}`,
      ],
      [{ ...trusted, REST_BASE_URL: 'http://127.0.0.1:1' }, 'REST_BASE_URL: must begin with https://'],
      [{ REDIS_URL: 'redis://127.0.0.1:1', REDIS_CA_FILE: file('ca.pem') }, 'REDIS_URL: must begin with rediss://'],
    ];
    // In this process, where Node's own errors are printed with their name. That such a report ends the program has a test above.
    for (const [env, sentence] of wrong) expect(() => loadConfig({ ...SETTINGS, ...env })).toThrow(sentence);
  },
);

(hasOpenssl ? test : test.skip).each([
  ['has expired', 'expired', '127.0.0.1', 'CERT_HAS_EXPIRED'],
  ['is for another host', 'server', 'localhost', 'ERR_TLS_CERT_ALTNAME_INVALID'],
])(
  'openssl: a service whose certificate %s gets no request; the log says why, at the start and at each call',
  async (_, name, host, cause) => {
    const file = createAuthority();
    let requests = 0;
    const tls = { key: readFileSync(file(`${name}.key`)), cert: readFileSync(file(`${name}.pem`)) };
    const service = createTlsServer(tls, () => {
      requests += 1;
    });
    const port = await listen(service);
    const gateway = await startProcess({ REST_BASE_URL: `https://${host}:${port}`, REST_CA_FILE: file('ca.pem') });
    const atStart = await gateway.logged(({ level, msg }) => level === 40 && String(msg).startsWith('REST_BASE_URL: '));
    expect(atStart.msg).toMatch(new RegExp(`certificate is .* \\(${cause}\\)$`));
    expect((await post(gateway.url, READ)).codes[0]).toBe('UPSTREAM_UNAVAILABLE');
    const line = await gateway.logged(({ msg }) => msg === 'upstream call failed');
    expect([line.cause, requests]).toEqual([cause, 0]);
  },
);

(hasOpenssl ? test.each(['-tls1_2', '-tls1_3']) : test.skip.each(['']))(
  'openssl %s: a service that wants a client certificate has done nothing without one',
  async (version) => {
    const file = createAuthority();
    const files = ['-cert', file('server.pem'), '-key', file('server.key'), '-CAfile', file('ca.pem')];
    const wants = ['-Verify', '1', '-verify_return_error', '-www'];
    const service = spawn('openssl', ['s_server', '-accept', '127.0.0.1:0', ...files, ...wants, version]);
    atEnd(() => service.kill());
    let output = '';
    for await (const text of service.stdout) {
      output += text;
      if (/ACCEPT \S+:\d+\n/.test(output)) break;
    }
    const port = /ACCEPT \S+:(\d+)/.exec(output)?.[1];
    const gateway = await startProcess({ REST_BASE_URL: `https://127.0.0.1:${port}`, REST_CA_FILE: file('ca.pem') });
    const query =
      'mutation { trackEvents(input: { playerUniqueId: "p1", events: [{ name: "visit" }] }) { eventNames } }';
    const [error] = (await post(gateway.url, { query })).errors;
    expect(error?.extensions).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', outcome: 'NOT_DONE', retryable: true });
    const line = await gateway.logged(({ msg }) => msg === 'upstream call failed');
    expect(line.cause).toMatch(/^ERR_SSL_.*ALERT/);
  },
);

(hasOpenssl && redisHasTls ? test : test.skip)(
  'a Redis with TLS that wants a client certificate keeps the keys of events; of a foreign authority, it is named once',
  async () => {
    const file = createAuthority();
    const port = await freePort();
    const files = ['--tls-ca-cert-file', file('ca.pem'), '--tls-cert-file', file('server.pem')];
    await startRedis(0, ['--tls-port', `${port}`, '--tls-key-file', file('server.key'), ...files]);
    const trusted = {
      ...{ REDIS_URL: `rediss://127.0.0.1:${port}/0`, REDIS_CA_FILE: file('ca.pem') },
      ...{ REDIS_CLIENT_CERT_FILE: file('client.pem'), REDIS_CLIENT_KEY_FILE: file('client.key') },
    };
    const event = {
      query: `mutation { trackEvents(input: { playerUniqueId: "p1", idempotencyKey: "k", events: [{ name: "buy" }] }) {
        eventNames } }`,
    };
    for (const { url } of [await start(trusted), await start(trusted)])
      expect((await post(url, event)).codes).toEqual([]);
    // The second gateway knows the key of the first.
    expect(upstream.calls()).toEqual(['POST /integrations/event']);
    const foreign = await start({ ...trusted, REDIS_CA_FILE: createAuthority('Another authority')('ca.pem') });
    const isAboutRedis = ({ msg }: { msg: string }) => msg.startsWith('Redis is');
    expect((await foreign.logged(isAboutRedis)).reason).toMatch(/certificate/);
    const [error] = (await post(foreign.url, event)).errors;
    expect(error?.extensions).toMatchObject({ code: 'OVERLOADED', outcome: 'NOT_DONE', retryable: true });
    expect(foreign.log().filter(isAboutRedis)).toHaveLength(1);
  },
);
