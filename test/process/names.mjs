/*
 * In a network of its own (`unshare --mount --net`, as root), with a name server of its own: what becomes of the gateway when
 * the name of the REST service moves, or when the name server is slow or fails. Prints one line of JSON for each case.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { answerRedis } from './answer-redis.mjs';

const PORT = 8080;
const folder = mkdtempSync(join(tmpdir(), 'names-'));
const resolvers = join(folder, 'resolv.conf');
writeFileSync(resolvers, 'nameserver 127.0.0.53\noptions timeout:5 attempts:2\n');
execFileSync('ip', ['link', 'set', 'lo', 'up']);
execFileSync('mount', ['--bind', resolvers, '/etc/resolv.conf']);

/**
 * Where the name leads to, in this order, how long an answer takes in milliseconds, its code, that of other queries than for
 * IPv4 addresses, and how many queries for it came.
 */
const zone = { addresses: ['127.0.0.11'], delayMs: 0, code: 0, codeOfOthers: 0, queries: 0 };
const A = 1;
const [SERVFAIL, NXDOMAIN] = [2, 3];
const dns = createSocket('udp4', (query, { port, address }) => {
  const end = query.indexOf(0, 12) + 5;
  const isA = query.readUInt16BE(end - 4) === A;
  const head = Buffer.from(query.subarray(0, end));
  const addresses = isA && zone.code === 0 ? zone.addresses : [];
  head.writeUInt16BE(0x8180 | (isA ? zone.code : zone.code || zone.codeOfOthers), 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8);
  const records = addresses.map((to) =>
    Buffer.from([0xc0, 12, 0, A, 0, 1, 0, 0, 0, 1, 0, 4, ...to.split('.').map(Number)]),
  );
  if (isA) zone.queries += 1;
  setTimeout(() => dns.send(Buffer.concat([head, ...records]), port, address), zone.delayMs);
});
dns.bind(53, '127.0.0.53');

/**
 * A server at an address: how many requests it got, and the status and content type that it answers. The response about the
 * player `slow` comes well, when `release` is called.
 */
async function startService(address) {
  const service = { requests: 0, status: 200, type: 'application/json', connection: 'keep-alive', release: undefined };
  const server = createServer((request, response) => {
    service.requests += 1;
    service.firstAt ??= clock;
    const answer = (status, type) => {
      response.writeHead(status, { 'content-type': type, connection: service.connection });
      response.end('{"playerAttributes":{"city":"Porto"}}');
    };
    if (!request.url.endsWith('/slow')) answer(service.status, service.type);
    else service.release = () => answer(200, 'application/json');
  });
  /** From now on it refuses connections; those that are in use are kept. */
  service.refuse = () => server.close();
  service.listen = () => once(server.listen(PORT, address), 'listening');
  await service.listen();
  return service;
}

async function startGateway(env) {
  const given = {
    PATH: process.env.PATH,
    PORT: '0',
    MANAGEMENT_PORT: '0',
    REST_BASE_URL: `http://rewards.example:${PORT}`,
  };
  const child = spawn(process.execPath, ['dist/main.js'], {
    env: { ...given, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part) => {
    text += part;
  });
  while (!text.includes('"msg":"ready"')) await once(child.stdout, 'data');
  const { url, management } = text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .find(({ msg }) => msg === 'ready');
  /** Whether a read of a player succeeds. */
  const read = async (id) => {
    const query = 'query ($id: ID!) { player(playerUniqueId: $id) { attributes { city } } }';
    const body = JSON.stringify({ query, variables: { id } });
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    return (await response.json()).data?.player?.attributes?.city === 'Porto';
  };
  /** Whether a page of the management port has this text within 15 seconds. */
  const shows = async (page, text) => {
    for (const end = performance.now() + 15_000; performance.now() < end; await delay(50)) {
      if ((await (await fetch(`${management}/${page}`)).text()).includes(text)) return true;
    }
    return false;
  };
  const hasRedis = () => shows('metrics', '\ngateway_redis_up 1');
  const hasKeys = () => shows('readyz', '"ready":true');
  return { child, read, hasRedis, hasKeys };
}

const say = (name, result) => console.log(JSON.stringify({ name, ...result }));
const [first, second] = [await startService('127.0.0.11'), await startService('127.0.0.12')];

/** A clock in milliseconds that is slow while this process gets no time, because the machine is busy. */
let clock = 0;
setInterval(() => {
  clock += 20;
}, 20);

/** Reads until the second address has answered; the time until its first request, by `clock`. */
async function untilMoved(read) {
  const began = clock;
  second.firstAt = undefined;
  for (let n = 0; second.firstAt === undefined || !(await read(`m${n}`)); n += 1) {
    await read(`n${n}`);
    if (clock - began > 60_000) return undefined;
  }
  return second.firstAt - began;
}

const whileOthersAreUsed = { REST_TIMEOUT_MS: '10000', REST_CONNECTION_MAX_AGE_S: '600' };
for (const [name, env, status, type] of [
  ['the old address answers 503', {}, 503, 'application/json'],
  ['the old address answers well', { REST_CONNECTION_MAX_AGE_S: '3' }, 200, 'application/json'],
  ['the old address has no route', {}, 404, 'text/plain; charset=utf-8'],
  ['the old address is for another host', {}, 421, 'application/json'],
  ['the old address refuses', {}, undefined, undefined],
]) {
  zone.addresses = ['127.0.0.11'];
  Object.assign(first, { status: 200, type: 'application/json', release: undefined });
  const { child, read } = await startGateway({ ...whileOthersAreUsed, ...env });
  const isWell = await read('before');
  const slow = read('slow');
  while (!first.release) await delay(5);
  zone.addresses = ['127.0.0.12'];
  if (status === undefined) first.refuse();
  else Object.assign(first, { status, type });
  const ms = await untilMoved(read);
  first.release();
  say(name, { isWell, ms, isSlowWell: await slow });
  child.kill('SIGKILL');
}
await first.listen();

/** Each read opens a connection. */
Object.assign(first, { status: 200, type: 'application/json', connection: 'close', requests: 0 });
Object.assign(second, { connection: 'close', requests: 0 });
zone.addresses = ['127.0.0.11', '127.0.0.12'];
const shared = await startGateway({});
const reads = await Promise.all(Array.from({ length: 40 }, (_, n) => shared.read(`r${n}`)));
say('a name has two servers', { isWell: !reads.includes(false), least: Math.min(first.requests, second.requests) });
shared.child.kill('SIGKILL');

/** One address is not reached by the first reads, and could be by the others. */
zone.addresses = ['127.0.0.13', '127.0.0.11'];
const avoiding = await startGateway({});
const found = [];
for (let n = 0; n < 20; n += 1) found.push(await avoiding.read(`a${n}`));
const third = await startService('127.0.0.13');
for (const id of ['b', 'c', 'd']) found.push(await avoiding.read(id));
say('an address is not reached', { isWell: !found.includes(false), requests: third.requests });
avoiding.child.kill('SIGKILL');

/** One address resets each connection, so no TLS begins on it; the first read that meets it is sent again. */
const tls = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=x'];
const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
const named = ['-addext', 'subjectAltName=DNS:rewards.example', '-keyout', keyFile, '-out', certFile];
const hasOpenssl = spawnSync('openssl', [...tls, ...named], { stdio: 'ignore' }).status === 0;
if (hasOpenssl) {
  const certificate = { key: readFileSync(keyFile), cert: readFileSync(certFile) };
  const well = createTlsServer(certificate, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
    response.end('{"playerAttributes":{"city":"Porto"}}');
  });
  await once(well.listen(PORT + 4, '127.0.0.11'), 'listening');
  let resets = 0;
  const resetting = createTcpServer((client) => {
    client.once('data', () => {
      resets += 1;
      client.resetAndDestroy();
    });
  });
  await once(resetting.listen(PORT + 4, '127.0.0.12'), 'listening');
  zone.addresses = ['127.0.0.11', '127.0.0.12'];
  const secure = await startGateway({ REST_BASE_URL: `https://rewards.example:${PORT + 4}`, REST_CA_FILE: certFile });
  const found = [];
  for (let n = 0; n < 30; n += 1) found.push(await secure.read(`t${n}`));
  say('TLS fails at an address', { isWell: !found.includes(false), resets });
  secure.child.kill('SIGKILL');
  for (const server of [well, resetting]) server.close();
} else say('TLS fails at an address', { skipped: 'openssl is missing' });

/** Listens at three addresses, and is stopped with full queues: the kernel then drops what opens a connection. */
const hole = `const { createServer } = require('node:net');
  for (const host of ['127.0.0.8', '127.0.0.9', '127.0.0.10']) createServer().listen({ port: ${PORT}, host, backlog: 1 });
  setTimeout(() => console.log('listening'), 100);`;
const holes = spawn(process.execPath, ['-e', hole], { stdio: ['ignore', 'pipe', 'inherit'] });
await once(holes.stdout, 'data');
holes.kill('SIGSTOP');
zone.addresses = ['127.0.0.8', '127.0.0.9', '127.0.0.10'];
const fillers = zone.addresses.flatMap((to) =>
  Array.from({ length: 4 }, () => connect(PORT, to).on('error', () => {})),
);
zone.addresses.push('127.0.0.11');
const swallowed = await startGateway({});
const later = [];
while (later.length < 4 && !later.includes(true)) later.push(await swallowed.read(`w${later.length}`));
say('three addresses swallow what is sent', { isWell: later.includes(true), again: await swallowed.read('x') });

const redis = createTcpServer(answerRedis);
await once(redis.listen(PORT, '127.0.0.14'), 'listening');
zone.addresses = ['127.0.0.8', '127.0.0.14'];
const sharing = await startGateway({ REDIS_URL: `redis://redis.example:${PORT}` });
say('an address of Redis swallows what is sent', { isWell: await sharing.hasRedis() });
sharing.child.kill('SIGKILL');
for (const filler of fillers) filler.destroy();
for (const { child } of [swallowed, { child: holes }]) child.kill('SIGKILL');

zone.addresses = ['127.0.0.11'];
const steady = await startGateway({});
const lost = [await steady.read('before')];
/** At most 200 reads a second, which no limit refuses. */
const readOn = async (name) => {
  lost.push(await steady.read(`${name}${lost.length}`));
  await delay(5);
};
for (const [name, failure] of [
  ['SERVFAIL', { code: SERVFAIL }],
  ['NXDOMAIN', { code: NXDOMAIN }],
  ['an answer after 10 s', { code: 0, delayMs: 10_000 }],
]) {
  // The addresses of the look-up before are used without another for two seconds.
  for (zone.queries = 0; zone.queries === 0; ) await readOn(name);
  Object.assign(zone, failure, { queries: 0 });
  while (zone.queries === 0) await readOn(name);
  await readOn(name);
}
say('the name server fails', { isWell: !lost.includes(false) });
steady.child.kill('SIGKILL');

/** All names lead to this proxy, and it leads to the service. */
const proxy = createServer().on('connect', (_request, client) => {
  const target = connect(PORT, '127.0.0.11', () => client.write('HTTP/1.1 200 Connection established\r\n\r\n'));
  target.on('error', () => client.destroy()).pipe(client);
  client.on('error', () => target.destroy()).pipe(target);
});
await once(proxy.listen(PORT + 1, '127.0.0.11'), 'listening');
for (const [name, env] of [
  ['a name server takes a second', {}],
  ['it does so for the name of an egress proxy', { HTTP_PROXY: `http://proxy.example:${PORT + 1}` }],
]) {
  Object.assign(zone, { delayMs: 1_000, code: 0, queries: 0 });
  const { child, read } = await startGateway(env);
  const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => read(`s${n}`)));
  say(name, { answered: answers.filter(Boolean).length, queries: zone.queries });
  child.kill('SIGKILL');
}

/** The first tunnels do not reach one address of the proxy, and others could. */
Object.assign(zone, { delayMs: 0, addresses: ['127.0.0.13', '127.0.0.11'] });
const tunnelling = await startGateway({ HTTP_PROXY: `http://proxy.example:${PORT + 1}` });
const through = [];
for (let n = 0; n < 20; n += 1) through.push(await tunnelling.read(`p${n}`));
let tunnels = 0;
const other = createServer().on('connection', () => {
  tunnels += 1;
});
await once(other.listen(PORT + 1, '127.0.0.13'), 'listening');
for (const id of ['q1', 'q2', 'q3']) through.push(await tunnelling.read(id));
say('an address of the egress proxy is not reached', { isWell: !through.includes(false), tunnels });
tunnelling.child.kill('SIGKILL');

/** Port 53 takes queries and responds to none. Its turn takes 5 s, as by default. */
await once(createSocket('udp4').bind(53, '127.0.0.52'), 'listening');
writeFileSync(resolvers, 'nameserver 127.0.0.52\nnameserver 127.0.0.53\n');
const { publicKey } = generateKeyPairSync('ed25519');
const keys = createServer((_request, response) =>
  response.end(JSON.stringify({ keys: [publicKey.export({ format: 'jwk' })] })),
);
await once(keys.listen(PORT + 2, '127.0.0.14'), 'listening');
Object.assign(zone, { delayMs: 0, addresses: ['127.0.0.14'] });
const tokens = { JWT_JWKS_URL: `http://login.example:${PORT + 2}/keys`, JWT_ISSUER: 'login', JWT_AUDIENCE: 'gateway' };
const patient = await startGateway({ ...tokens, REDIS_URL: `redis://redis.example:${PORT}` });
const [isReady, isShared] = await Promise.all([patient.hasKeys(), patient.hasRedis()]);
const probing = spawn(process.execPath, ['dist/main.js', '--probe'], {
  env: { PATH: process.env.PATH, ...tokens, REDIS_URL: `redis://redis.example:${PORT}` },
  stdio: ['ignore', 'ignore', 'pipe'],
});
const mistakes = await probing.stderr.setEncoding('utf8').toArray();
say('the first name server is silent', { isReady, isShared, mistakes });
patient.child.kill('SIGKILL');

writeFileSync(resolvers, 'nameserver 127.0.0.53\n');
zone.codeOfOthers = SERVFAIL;
const closed = await startGateway(tokens);
const hasFound = await closed.hasKeys();
closed.child.kill('SIGKILL');
zone.addresses = ['127.0.0.11'];
const open = await startGateway({});
say('the name server fails for IPv6', { isReady: hasFound, isWell: await open.read('y') });
open.child.kill('SIGKILL');
rmSync(folder, { recursive: true });
process.exit();
