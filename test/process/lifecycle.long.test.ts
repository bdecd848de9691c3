import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as elapsed } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { atEnd, newFolder } from '../kit/at-end.ts';
import { post } from '../kit/post.ts';
import { spawnProcess } from '../kit/process.ts';
import { secretSigner } from '../kit/tokens.ts';
import { until } from '../kit/until.ts';
import { ask, ENDED, start, upstream } from './setup.ts';

const isDraining = ({ status, text }: { status: number; text: string }) => status === 503 && text.includes('draining');

/** Resolves when no new connection is accepted, which is a moment after /readyz says that the process drains. */
const refuses = ({ url }: { url: string }) =>
  until(async () => (await fetch(`${url}/none`).catch(() => 'refused')) === 'refused');

const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const GET = (query: string) =>
  `GET /graphql?query=${query} HTTP/1.1\r\nHost: localhost\r\nApollo-Require-Preflight: 1\r\n\r\n`;

test('SIGTERM: 100 of 100 requests in flight are answered', async () => {
  // One caller with `any-player` has seven eighths of them.
  const gateway = await start({ REST_CONNECTIONS: '120' });
  let release = () => {};
  const after = new Promise<void>((resolve) => {
    release = resolve;
  });
  upstream.on('GET /player', ({ playerUniqueId }) => ({ after, json: { playerUniqueId } }));
  const answers = Array.from({ length: 100 }, (_, i) => ask(gateway, `p${i + 1}`));
  await upstream.received(100);

  gateway.child.kill('SIGTERM');
  expect((await gateway.pageWhen('/readyz', isDraining)).text).toBe('{"ready":false,"reasons":["draining"]}');
  expect((await gateway.page('/healthz')).status).toBe(200);
  await refuses(gateway);

  release();
  for (const [i, { data, headers }] of (await Promise.all(answers)).entries()) {
    expect([data, headers.get('connection')]).toEqual([{ player: { id: `p${i + 1}` } }, 'close']);
  }
  expect(await gateway.ended).toEqual(ENDED);
  expect(gateway.log().filter(({ msg }) => msg === 'operation')).toHaveLength(100);
  expect(gateway.log()).toContainEqual(expect.objectContaining({ msg: 'stopped', cut: false, exitCode: 0 }));
});

test('a process that was suspended, as platforms do between two requests, answers the next ones', async () => {
  const gateway = await start();
  const suspend = async () => {
    gateway.child.kill('SIGSTOP');
    await elapsed(3_000);
  };
  // The work of the start is in the first window of a second.
  await elapsed(2_000);
  for (const name of ['a', 'b', 'c', 'd']) {
    await suspend();
    gateway.child.kill('SIGCONT');
    // Enough for a timer or two.
    await elapsed(10);
    await suspend();
    const asked = ask(gateway, name);
    gateway.child.kill('SIGCONT');
    expect((await asked).status).toBe(200);
  }
});

test('SIGTERM: an event with a key whose client has left is sent, and its outcome is recorded', async () => {
  const gateway = await start({});
  const held = upstream.hold('POST /event');
  const client = new AbortController();
  const input = '{ playerUniqueId: "p1", idempotencyKey: "k", events: [{ name: "buy" }] }';
  const body = JSON.stringify({ query: `mutation { trackEvents(input: ${input}) { eventNames } }` });
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body, signal: client.signal };
  const left = fetch(`${gateway.url}/graphql`, request);
  await held.arrived;
  client.abort();
  await expect(left).rejects.toThrow('aborted');
  gateway.child.kill('SIGTERM');
  await refuses(gateway);
  held.release();
  expect(await Promise.race([gateway.ended, upstream.requests[0]?.gone])).toEqual(ENDED);
  expect(gateway.log()).toContainEqual(expect.objectContaining({ type: 'mutation', outcome: 'OK' }));
});

test.each([
  ['after SHUTDOWN_GRACE_MS', '100', 0],
  ['by a second Ctrl-C at once', '600000', 1],
])('what hangs is cut %s', async (_when, SHUTDOWN_GRACE_MS, code) => {
  const gateway = await start({ SHUTDOWN_GRACE_MS });
  upstream.on('GET /player', { fault: 'hang' });
  const answer = ask(gateway).then(String, String);
  await upstream.received(1);
  gateway.child.kill('SIGTERM');
  const again = code && setInterval(() => gateway.child.kill('SIGINT'), 150);
  expect(await gateway.ended).toEqual({ code, signal: null });
  clearInterval(again);
  if (code) expect(await answer).toContain('fetch failed');
  const stopped = expect.objectContaining({ msg: 'stopped', cut: true, exitCode: 0 });
  expect(gateway.log()).toEqual(code ? expect.not.arrayContaining([stopped]) : expect.arrayContaining([stopped]));
});

test('what SHUTDOWN_GRACE_MS cuts is told what is known of it', async () => {
  const gateway = await start({ SHUTDOWN_GRACE_MS: '100' });
  for (const endpoint of ['POST /player', 'GET /player'] as const) upstream.on(endpoint, { fault: 'hang' });
  const fields = Array.from(
    { length: 10 },
    (_, n) => `p${n}: upsertPlayer(input: { playerUniqueId: "p${n}" }) { serviceId }`,
  );
  const write = post(gateway.url, { query: `mutation { ${fields.join(' ')} }` });
  const read = ask(gateway);
  await upstream.received(2);
  gateway.child.kill('SIGTERM');
  const told = (await write).errors.map(({ extensions: { outcome, retryable } }) => [outcome, retryable]);
  // Because of the first, the operation must not be repeated as a whole.
  expect(told).toEqual([['UNKNOWN', false], ...Array(9).fill(['NOT_DONE', false])]);
  await gateway.logged(({ reason }) => reason === 'POST /integrations/player: the connection failed');
  expect((await read).codes).toEqual(['UPSTREAM_UNAVAILABLE']);
  expect(await gateway.ended).toEqual(ENDED);
});

test('SIGTERM that a platform repeats cuts nothing', async () => {
  const gateway = await start();
  const held = upstream.hold('GET /player');
  const answer = ask(gateway);
  await held.arrived;
  gateway.child.kill('SIGTERM');
  await gateway.pageWhen('/readyz', isDraining);
  for (const _ of 'abc') {
    await elapsed(150);
    gateway.child.kill('SIGTERM');
  }
  held.release();
  expect((await answer).data).toEqual({ player: { id: 'p1' } });
  expect(await gateway.ended).toEqual(ENDED);
  expect(gateway.log().filter(({ msg }) => msg === 'stopping')).toHaveLength(1);
});

test('during SHUTDOWN_DELAY_MS requests are answered and told to go elsewhere, and then no more are accepted', async () => {
  const gateway = await start({ SHUTDOWN_DELAY_MS: '5000', SHUTDOWN_GRACE_MS: '600000' });
  const held = upstream.hold('GET /player');
  const before = ask(gateway);
  await held.arrived;
  const began = performance.now();
  gateway.child.kill('SIGTERM');
  await gateway.pageWhen('/readyz', isDraining);
  // For balancers that check nothing but this port.
  expect((await fetch(`${gateway.url}/healthz`)).status).toBe(503);
  const { data, headers } = await ask(gateway, 'p2');
  expect([data, headers.get('connection')]).toEqual([{ player: { id: 'p2' } }, 'close']);
  held.release();
  expect((await before).headers.get('connection')).toBe('close');
  expect(await gateway.ended).toEqual(ENDED);
  expect(performance.now() - began).toBeGreaterThan(4_900);
});

test('a signal is handled before the program is loaded', async () => {
  const tell =
    'process.stderr.write("heap "+process.memoryUsage().heapUsed);setImmediate(()=>process.kill(process.pid,"SIGTERM"))';
  const watch = `process.on("newListener",(name)=>{if(name==="SIGINT"){${tell}}})`;
  const gateway = spawnProcess({ REST_BASE_URL: upstream.url }, ['--import', `data:text/javascript,${watch}`]);
  expect(await gateway.ended).toEqual(ENDED);
  // Loaded it takes more than 20 MB.
  expect(Number(/heap (\d+)/.exec(gateway.output())?.[1])).toBeLessThan(10_000_000);
  expect(gateway.output()).not.toContain('"ready"');
});

test('Ctrl-C that arrives twice, from the terminal and from npm, counts once', async () => {
  const gateway = await start();
  const held = upstream.hold('GET /player');
  const answer = ask(gateway);
  await held.arrived;
  gateway.child.kill('SIGINT');
  gateway.child.kill('SIGINT');
  await gateway.pageWhen('/readyz', isDraining);
  held.release();
  expect((await answer).data).toEqual({ player: { id: 'p1' } });
  expect(await gateway.ended).toEqual(ENDED);
});

test('connections nobody uses do not hold the process up', async () => {
  const gateway = await start({ SHUTDOWN_GRACE_MS: '600000' });
  const { hostname, port } = new URL(gateway.url);
  const unused = connect(Number(port), hostname);
  const closed = once(unused, 'close');
  await once(unused, 'connect');
  const agent = new Agent({ keepAlive: true });
  const [idle] = await once(get(`${gateway.url}/graphql?query={__typename}`, { agent }), 'response');
  await once(idle.resume(), 'end');
  gateway.child.kill('SIGTERM');
  expect(await gateway.ended).toEqual(ENDED);
  await closed;
  agent.destroy();
});

test('half a head does not hold the process up for longer than a head may take', async () => {
  const gateway = await start({ SHUTDOWN_GRACE_MS: '600000' });
  const client = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  client.write(`${GET('{__typename}')}GET /graph`);
  await once(client, 'data');
  gateway.child.kill('SIGTERM');
  expect(await gateway.ended).toEqual(ENDED);
});

test('a client that does not send all of a refused body gets its response when the process drains', async () => {
  const gateway = await start({ SHUTDOWN_GRACE_MS: '600000' });
  const client = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  let received = '';
  client.on('data', (chunk) => {
    received += chunk;
  });
  client.write(`${GET('{__typename}')}POST /nope HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf`);
  await once(client, 'data');
  gateway.child.kill('SIGTERM');
  expect(await gateway.ended).toEqual(ENDED);
  expect([...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['200', '404']);
});

test('while the process drains, the first request of a connection is answered; one behind it may be lost', async () => {
  const gateway = await start({ SHUTDOWN_GRACE_MS: '600000' });
  const held = [upstream.hold('GET /player'), upstream.hold('GET /coupon')];
  const client = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  client.write(
    ['attributes{city}', 'coupons{code}'].map((part) => GET(`{player(playerUniqueId:"p1"){${part}}}`)).join(''),
  );
  await Promise.all(held.map(({ arrived }) => arrived));
  gateway.child.kill('SIGTERM');
  await refuses(gateway);
  for (const { release } of held) release();
  expect((await text(client)).match(/"data":\{"player":\{/g)?.length).toBeGreaterThan(0);
  expect(await gateway.ended).toEqual(ENDED);
});

test('a client that is still reading a response gets all of it, and then the end of the connection', async () => {
  const gateway = await start({ SHUTDOWN_GRACE_MS: '600000', KEEP_ALIVE_TIMEOUT_MS: '600000' });
  const code = 'x'.repeat(1_900_000);
  upstream.on('GET /coupon', { json: { coupons: [{ code }] } });
  const client = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  client.write(GET('{player(playerUniqueId:"p1"){coupons{code}}}'));
  await gateway.logged(({ msg }) => msg === 'operation');
  gateway.child.kill('SIGTERM');
  await refuses(gateway);
  expect((await text(client)).split(code)).toHaveLength(2);
  expect(await gateway.ended).toEqual(ENDED);
});

test('an uncaught error is told, what is in flight is finished, and the process ends with 1', async () => {
  const failure = 'Promise.reject(new Error("unforeseen"))';
  const gateway = await start({}, ['--import', `data:text/javascript,process.on("SIGUSR2",()=>{${failure}})`]);
  const held = upstream.hold('GET /player');
  const answer = ask(gateway);
  await held.arrived;
  gateway.child.kill('SIGUSR2');
  await gateway.pageWhen('/readyz', isDraining);
  // A signal while it drains neither drains again nor changes the exit code.
  gateway.child.kill('SIGTERM');
  await gateway.logged(({ msg }) => msg === 'stopping');
  held.release();
  expect((await answer).data).toEqual({ player: { id: 'p1' } });
  expect(await gateway.ended).toEqual({ code: 1, signal: null });
  const told = gateway.log().find(({ msg }) => msg === 'uncaught error');
  expect(told).toMatchObject({ level: 60, err: { message: 'unforeseen' } });
});

test('when the reference service beside it dies, the gateway says so and ends with 1', async () => {
  // The last variable is what `node --watch` (npm run dev) sets: Node then sends messages of its own.
  const env = { REST_BASE_URL: '', REFERENCE_PORT: '0', DATA_DIR: newFolder(), WATCH_REPORT_DEPENDENCIES: '1' };
  const gateway = await start(env);
  const { reference } = await gateway.logged(({ reference }) => reference !== undefined);
  process.kill(reference, 'SIGKILL');
  expect(await gateway.ended).toEqual({ code: 1, signal: null });
  expect(gateway.output()).toContain('the reference service ended unexpectedly; the gateway cannot go on without it');
});

test('a reference service that does not stop is killed when the time to stop is over, also when it was over before', async () => {
  const env = { REST_BASE_URL: '', REFERENCE_PORT: '0', DATA_DIR: newFolder(), SHUTDOWN_GRACE_MS: '1' };
  const gateway = await start(env);
  const { reference } = await gateway.logged(({ reference }) => reference !== undefined);
  process.kill(reference, 'SIGSTOP');
  atEnd(() => isRunning(reference) && process.kill(reference, 'SIGKILL'));
  const answer = ask(gateway);
  await gateway.pageWhen('/metrics', ({ text }) => /^gateway_operations_active 1$/m.test(text));
  gateway.child.kill('SIGTERM');
  expect(await gateway.ended).toEqual(ENDED);
  expect(isRunning(reference)).toBe(false);
  expect((await answer).codes).toEqual(['UPSTREAM_UNAVAILABLE']);
});

test('what the program cannot start with is told in sentences, without secrets', async () => {
  const { port } = new URL(upstream.url);
  const taken = spawnProcess({ REST_BASE_URL: upstream.url, PORT: port });
  expect(await taken.ended).toEqual({ code: 1, signal: null });
  expect(taken.output()).toContain(`address already in use 127.0.0.1:${port}; set PORT or MANAGEMENT_PORT`);
  expect(taken.output()).not.toContain('    at ');

  const elsewhere = spawnProcess({ REST_BASE_URL: upstream.url, MANAGEMENT_HOST: '192.0.2.1' });
  expect(await elsewhere.ended).toEqual({ code: 1, signal: null });
  expect(elsewhere.output()).toMatch(/EADDRNOTAVAIL.+; set HOST and MANAGEMENT_HOST to addresses of this machine/);
  expect(elsewhere.output()).not.toContain('    at ');

  const local = spawnProcess({ ...secretSigner().env, REST_BASE_URL: upstream.url, HOST: 'fe80::1' });
  expect(await local.ended).toEqual({ code: 1, signal: null });
  expect(local.output()).toMatch(/EINVAL.+; a link-local address needs its interface/);
  expect(local.output()).not.toContain('    at ');

  // As a kernel without IPv6 says it.
  const withoutIpv6 = `import { Server } from 'node:net';
    Server.prototype.listen = function () {
      const error = new Error('listen EAFNOSUPPORT: address family not supported :::4000');
      process.nextTick(() => this.emit('error', Object.assign(error, { code: 'EAFNOSUPPORT', syscall: 'listen' })));
      return this;
    };`;
  const ipv6 = spawnProcess(
    { REST_BASE_URL: upstream.url, HOST: '::', JWT_SECRET: 'x'.repeat(32), JWT_ISSUER: 'a', JWT_AUDIENCE: 'b' },
    ['--import', `data:text/javascript,${encodeURIComponent(withoutIpv6)}`],
  );
  expect(await ipv6.ended).toEqual({ code: 1, signal: null });
  expect(ipv6.output()).toContain('this machine has no IPv6; set HOST and MANAGEMENT_HOST to 0.0.0.0');
  expect(ipv6.output()).not.toContain('    at ');

  const REST_BASE_URL = 'http://hunter4:hunter5@rewards.example';
  const { ended, output } = spawnProcess({ NODE_ENV: 'production', JWT_SECRET: 'hunter2', REST_BASE_URL });
  expect((await ended).code).toBe(1);
  for (const name of ['JWT_SECRET', 'JWT_ISSUER', 'REST_BASE_URL']) expect(output()).toContain(`  ${name}: `);
  expect(output()).not.toMatch(/hunter\d/);
});
