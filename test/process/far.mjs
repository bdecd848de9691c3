/*
 * In a network of its own (`unshare --mount --net`, as root), with a device that takes 300 ms there and back (test/process/far.py):
 * what becomes of the gateway when all that it needs has an IPv4 and an IPv6 address, and one of them does not work. Prints one
 * line of JSON for each case.
 */
import { execFileSync, spawn } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createServer as createTlsTcpServer } from 'node:tls';
import { answerRedis } from './answer-redis.mjs';

const SECONDS_EACH_WAY = '0.15';
const folder = mkdtempSync(join(tmpdir(), 'far-'));
const file = (name) => join(folder, name);
writeFileSync(file('hosts'), '127.0.0.1 localhost\n2001:db8::2 far.example\n198.51.100.2 far.example\n');
execFileSync('ip', ['link', 'set', 'lo', 'up']);
execFileSync('mount', ['--bind', file('hosts'), '/etc/hosts']);
const device = spawn('python3', ['test/process/far.py', SECONDS_EACH_WAY], { stdio: ['pipe', 'pipe', 'inherit'] });
await once(device.stdout, 'data');
const setPolicy = async (family, policy) => {
  device.stdin.write(`${family} ${policy}\n`);
  await once(device.stdout, 'data');
};

const names = ['-subj', '/CN=far.example', '-addext', 'subjectAltName=DNS:far.example'];
const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', 'key.pem'];
execFileSync('openssl', ['req', '-x509', ...key, '-out', 'cert.pem', ...names], { cwd: folder, stdio: 'ignore' });
const tls = { key: readFileSync(file('key.pem')), cert: readFileSync(file('cert.pem')) };

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
const now = Math.floor(Date.now() / 1_000);
const claims = { iss: 'login', aud: 'gateway', sub: 'p1', scope: 'players:read', iat: now, exp: now + 3_600 };
const input = `${part({ alg: 'EdDSA' })}.${part(claims)}`;
const token = `${input}.${sign(null, Buffer.from(input), privateKey).toString('base64url')}`;

const answerRest = (_request, response) =>
  response.setHeader('content-type', 'application/json').end('{"playerAttributes":{"city":"Porto"}}');
const answerKeys = (_request, response) =>
  response.end(JSON.stringify({ keys: [publicKey.export({ format: 'jwk' })] }));
const proxy = createServer().on('connect', ({ url = '' }, client) => {
  // What the proxy asks is near to it.
  const target = connect(Number(url.split(':')[1]), '127.0.0.1', () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
  target.on('error', () => client.destroy()).pipe(client);
  client.on('error', () => target.destroy()).pipe(target);
});
const [rest, secureRest, keys, secureKeys, redis, secureRedis] = [
  ...[createServer(answerRest), createTlsServer(tls, answerRest)],
  ...[createServer(answerKeys), createTlsServer(tls, answerKeys)],
  ...[createTcpServer(answerRedis), createTlsTcpServer(tls, answerRedis)],
];
const listen = async (server) => {
  await once(server.listen(0, '::'), 'listening');
  return `far.example:${server.address().port}`;
};

// Long enough for a busy machine; the values of a deployment are shorter.
const COMMON = {
  ...{ PATH: process.env.PATH, PORT: '0', MANAGEMENT_PORT: '0', NODE_EXTRA_CA_CERTS: file('cert.pem') },
  ...{ REST_TIMEOUT_MS: '10000', OPERATION_TIMEOUT_MS: '20000', REDIS_TIMEOUT_MS: '5000' },
  ...{ JWT_ISSUER: 'login', JWT_AUDIENCE: 'gateway' },
};
const PLAIN = {
  REST_BASE_URL: `http://${await listen(rest)}`,
  JWT_JWKS_URL: `http://${await listen(keys)}/keys`,
  REDIS_URL: `redis://${await listen(redis)}`,
};
const SECURE = {
  REST_BASE_URL: `https://${await listen(secureRest)}`,
  REST_CA_FILE: file('cert.pem'),
  JWT_JWKS_URL: `https://${await listen(secureKeys)}/keys`,
  REDIS_URL: `rediss://${await listen(secureRedis)}`,
  REDIS_CA_FILE: file('cert.pem'),
};
const WAYS = {
  plain: PLAIN,
  TLS: SECURE,
  'TLS by a proxy': { ...SECURE, HTTPS_PROXY: `http://${await listen(proxy)}` },
};

/** Whether a gateway gets its keys and Redis, and how many of its first 20 reads, and of the next 20, it answers. */
async function tryGateway(env) {
  const child = spawn(process.execPath, ['dist/main.js'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (more) => {
    text += more;
  });
  while (!text.includes('"msg":"ready"')) await once(child.stdout, 'data');
  const lines = text.split('\n').filter((line) => line.startsWith('{'));
  const { url, management } = lines.map((line) => JSON.parse(line)).find(({ msg }) => msg === 'ready');
  /** Whether a page of the management port has this text within 20 seconds. */
  const shows = async (page, wanted) => {
    for (const end = performance.now() + 20_000; performance.now() < end; await delay(100)) {
      if ((await (await fetch(`${management}/${page}`)).text()).includes(wanted)) return true;
    }
    return false;
  };
  const body = JSON.stringify({ query: '{ me { attributes { city } } }' });
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const readAll = async () => {
    const end = performance.now() + 20_000;
    const read = async () => {
      const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body });
      // The machine may be so busy that the gateway refuses requests for a moment.
      if (response.status === 503 && performance.now() < end) return read();
      const { data } = await response.json();
      return data?.me?.attributes.city === 'Porto';
    };
    const all = await Promise.all(Array.from({ length: 20 }, read));
    return all.filter(Boolean).length;
  };
  const isReady = await shows('readyz', '"ready":true');
  const answered = [await readAll(), await readAll()];
  const isShared = await shows('metrics', '\ngateway_redis_up 1');
  child.kill('SIGKILL');
  return { isReady, answered, isShared };
}

for (const first of [4, 6]) {
  for (const broken of [4, 6]) {
    for (const policy of ['drop', 'refuse']) {
      await setPolicy(10 - broken, 'pass');
      await setPolicy(broken, policy);
      const NODE_OPTIONS = `--dns-result-order=ipv${first}first`;
      const tried = Object.entries(WAYS).map(async ([way, env]) => [
        way,
        await tryGateway({ ...COMMON, NODE_OPTIONS, ...env }),
      ]);
      console.log(JSON.stringify({ first, broken, policy, ...Object.fromEntries(await Promise.all(tried)) }));
    }
  }
}
rmSync(folder, { recursive: true });
process.exit();
