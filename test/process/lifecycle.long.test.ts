import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { spawnProcess } from '../kit/process.ts';
import { ask, ENDED, start, upstream } from './setup.ts';

/** A grace that ends no test: what ends the process is something else. */
const LONG = { SHUTDOWN_GRACE_MS: '600000' };

const isDraining = ({ status, text }: { status: number; text: string }) => status === 503 && text.includes('draining');

test('SIGTERM: 100 of 100 requests in flight are answered', async () => {
  // On a busy machine it takes its time until a hundred requests are in flight.
  const gateway = await start({ REST_TIMEOUT_MS: '60000', OPERATION_TIMEOUT_MS: '60000' });
  let release = () => {};
  const after = new Promise<void>((resolve) => {
    release = resolve;
  });
  upstream.on('GET /player', ({ playerUniqueId }) => ({ after, json: { playerUniqueId } }));
  const answers = Array.from({ length: 100 }, (_, i) => ask(gateway, `p${i + 1}`));
  await gateway.pageWhen('/metrics', ({ text }) => {
    const [active, queued] = ['active', 'queued'].map((name) => text.match(`rest_requests_${name} (\\d+)`)?.[1]);
    return Number(active) + Number(queued) === 100;
  });

  gateway.child.kill('SIGTERM');
  expect((await gateway.pageWhen('/readyz', isDraining)).text).toBe('{"ready":false,"reasons":["draining"]}');
  expect((await gateway.page('/healthz')).status).toBe(200);
  await expect(ask(gateway, 'late')).rejects.toThrow('fetch failed');

  release();
  for (const [i, { data, headers }] of (await Promise.all(answers)).entries()) {
    expect([data, headers.get('connection')]).toEqual([{ player: { id: `p${i + 1}` } }, 'close']);
  }
  expect(await gateway.ended).toEqual(ENDED);
  expect(gateway.log().filter(({ msg }) => msg === 'operation')).toHaveLength(100);
  expect(gateway.log()).toContainEqual(expect.objectContaining({ msg: 'stopped', cut: false, exitCode: 0 }));
});

test('what hangs is cut after SHUTDOWN_GRACE_MS', async () => {
  const gateway = await start({ SHUTDOWN_GRACE_MS: '100' });
  upstream.on('GET /player', { fault: 'hang' });
  const answer = ask(gateway).then(String, String);
  await upstream.received(1);
  gateway.child.kill('SIGTERM');
  expect(await answer).toContain('fetch failed');
  expect(await gateway.ended).toEqual(ENDED);
  expect(gateway.log()).toContainEqual(expect.objectContaining({ msg: 'stopped', cut: true, exitCode: 0 }));
});

test('during SHUTDOWN_DELAY_MS requests are answered and told to go elsewhere, and then no more are accepted', async () => {
  const gateway = await start({ SHUTDOWN_DELAY_MS: '1500', ...LONG });
  const held = upstream.hold('GET /player');
  const before = ask(gateway);
  await held.arrived;
  const began = performance.now();
  gateway.child.kill('SIGTERM');
  await gateway.pageWhen('/readyz', isDraining);
  expect(performance.now() - began).toBeLessThan(1_000);
  const { data, headers } = await ask(gateway, 'p2');
  expect([data, headers.get('connection')]).toEqual([{ player: { id: 'p2' } }, 'close']);
  held.release();
  expect((await before).headers.get('connection')).toBe('close');
  expect(await gateway.ended).toEqual(ENDED);
  expect(performance.now() - began).toBeGreaterThan(1_400);
});

test('a signal is handled before the program is loaded', async () => {
  const watch = `process.on("newListener",(name)=>{if(name==="SIGINT")process.stderr.write("heap "+process.memoryUsage().heapUsed+"\\n")})`;
  const gateway = spawnProcess({ REST_BASE_URL: upstream.url }, ['--import', `data:text/javascript,${watch}`]);
  await gateway.written(() => /heap \d+\n/.test(gateway.output()));
  gateway.child.kill('SIGTERM');
  expect(await gateway.ended).toEqual(ENDED);
  // Loaded it takes more than 20 MB.
  expect(Number(/heap (\d+)/.exec(gateway.output())?.[1])).toBeLessThan(10_000_000);
  expect(gateway.output()).not.toContain('"ready"');
});

test('a second signal ends the process at once', async () => {
  const gateway = await start(LONG);
  upstream.on('GET /player', { fault: 'hang' });
  const answer = ask(gateway).then(String, String);
  await upstream.received(1);
  gateway.child.kill('SIGTERM');
  await gateway.pageWhen('/readyz', isDraining);
  const again = setInterval(() => gateway.child.kill('SIGTERM'), 50);
  expect(await gateway.ended).toEqual({ code: 1, signal: null });
  clearInterval(again);
  expect(await answer).toContain('fetch failed');
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
  const gateway = await start(LONG);
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

test.each([
  ['uncaughtException', 'throw new Error("unforeseen")'],
  ['unhandledRejection', 'Promise.reject(new Error("unforeseen"))'],
])('%s is told, what is in flight is finished, and the process ends with 1', async (_origin, failure) => {
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
  const directory = await mkdtemp(join(tmpdir(), 'reference-'));
  // The last variable is what `node --watch` (npm run dev) sets: Node then sends messages of its own.
  const env = { REST_BASE_URL: '', REFERENCE_PORT: '0', DATA_DIR: directory, WATCH_REPORT_DEPENDENCIES: '1' };
  const gateway = await start(env);
  const { reference } = await gateway.logged(({ reference }) => reference !== undefined);
  process.kill(reference, 'SIGKILL');
  expect(await gateway.ended).toEqual({ code: 1, signal: null });
  expect(gateway.output()).toContain('the reference service ended unexpectedly; the gateway cannot go on without it');
  await rm(directory, { recursive: true });
});

test('a port that is taken is told in a sentence', async () => {
  const { port } = new URL(upstream.url);
  const { ended, output } = spawnProcess({ REST_BASE_URL: upstream.url, PORT: port });
  expect(await ended).toEqual({ code: 1, signal: null });
  expect(output()).toContain(`address already in use 127.0.0.1:${port}; set PORT or MANAGEMENT_PORT`);
  expect(output()).not.toContain('    at ');
});
