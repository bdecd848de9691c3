import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { post } from './kit/gateway.ts';
import { type GatewayProcess, spawnProcess, startProcess } from './kit/process.ts';
import { startUpstream, type Upstream } from './kit/upstream.ts';

/* Each test starts programs, which takes its time on a busy machine. */
jest.setTimeout(60_000);

let upstream: Upstream;
let gateway: GatewayProcess | undefined;
beforeEach(async () => {
  upstream = await startUpstream();
  gateway = undefined;
});
afterEach(async () => {
  await gateway?.kill();
  await upstream.close();
});

async function start(env: Record<string, string> = {}): Promise<GatewayProcess> {
  const running = await startProcess({ REST_BASE_URL: upstream.url, WORKERS: '2', ...env });
  gateway = running;
  // Log lines are written together, a little later than what they tell of.
  await running.logged(() => workersOf(running).length === 2);
  return running;
}

/** A request on a connection of its own, so that the workers take turns. */
const ask = ({ url }: GatewayProcess, id: string) =>
  post(url, { query: `query Player { player(playerUniqueId: "${id}") { id } }` }, { connection: 'close' });

const workersOf = ({ log }: GatewayProcess): number[] =>
  log().flatMap(({ msg, worker }) => (msg === 'worker listens' ? [worker] : []));

test('WORKERS=2: one port, one announcement, both workers serve, one page of metrics for all', async () => {
  const running = await start();
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => ask(running, `p${i + 1}`)));
  expect(answers.map(({ data }) => data.player.id)).toEqual(answers.map((_, i) => `p${i + 1}`));
  expect(running.log().filter(({ msg }) => msg === 'ready')).toHaveLength(1);

  const operations = () => running.log().filter(({ msg }) => msg === 'operation').length;
  await running.logged(() => operations() === answers.length);
  const served = new Set(running.log().flatMap(({ msg, pid }) => (msg === 'operation' ? [pid] : [])));
  expect([...served].sort()).toEqual(workersOf(running).sort());
  expect(served).not.toContain(running.child.pid);

  const { text } = await running.page('/metrics');
  expect(text).toContain('gateway_operations_total{operation="Player",type="query",outcome="OK"} 20');
  expect(text).toContain('rest_breaker{state="closed"} 2');
  expect(await running.page('/readyz')).toEqual({ status: 200, text: '{"ready":true}' });
});

test('a worker that dies is replaced, and counted', async () => {
  const running = await start();
  const [victim = 0, other] = workersOf(running);
  process.kill(victim, 'SIGKILL');
  // Some of these questions are sent to a worker whose pipe is closed already.
  const pages = await Promise.all(Array.from({ length: 20 }, () => running.page('/readyz')));
  expect(pages.map(({ status }) => status)).toEqual(pages.map(() => 200));
  await running.logged(({ worker, msg }) => msg === 'worker listens' && worker !== victim && worker !== other);
  expect(running.log()).toContainEqual(expect.objectContaining({ worker: victim, signal: 'SIGKILL', level: 50 }));
  expect((await ask(running, 'p1')).data).toEqual({ player: { id: 'p1' } });
  expect((await ask(running, 'p2')).data).toEqual({ player: { id: 'p2' } });
  expect((await running.page('/metrics')).text).toContain('gateway_worker_deaths_total 1');
});

const OPERATIONS = /gateway_operations_total\{operation="Player",type="query",outcome="OK"\} (\d+)/;
const operationsIn = (text: string) => Number(OPERATIONS.exec(text)?.[1] ?? 0);

test('counters never fall when workers die, and none of what a page told is lost', async () => {
  const running = await start();
  for (let round = 1; round <= 3; round += 1) {
    await Promise.all(Array.from({ length: 20 }, (_, i) => ask(running, `p${i + 1}`)));
    const { text } = await running.page('/metrics');
    expect(operationsIn(text)).toBe(20 * round);
    const victim = workersOf(running).at(-1) ?? 0;
    process.kill(victim, 'SIGKILL');
    await running.logged(({ worker, msg }) => msg === 'a worker died and is replaced' && worker === victim);
    expect(operationsIn((await running.page('/metrics')).text)).toBe(20 * round);
    await running.logged(() => workersOf(running).length === 2 + round);
  }
});

test('a worker that hangs is killed and replaced within 10 s, and its counters are kept', async () => {
  const running = await start();
  await Promise.all(Array.from({ length: 20 }, (_, i) => ask(running, `p${i + 1}`)));
  expect(operationsIn((await running.page('/metrics')).text)).toBe(20);
  const [victim = 0] = workersOf(running);
  const began = performance.now();
  process.kill(victim, 'SIGSTOP');
  // A readiness probe waits for one second.
  const ready = await Promise.race([running.page('/readyz'), new Promise((resolve) => setTimeout(resolve, 1_000))]);
  expect(ready).toMatchObject({ status: 200 });
  await running.logged(({ worker, msg }) => msg === 'a worker hangs and is killed' && worker === victim);
  await running.logged(() => workersOf(running).length === 3);
  expect(performance.now() - began).toBeLessThan(10_000);
  expect(operationsIn((await running.page('/metrics')).text)).toBe(20);
  const { data } = await ask(running, 'p1');
  expect(data).toEqual({ player: { id: 'p1' } });
});

test('SIGTERM to all of them: what is in flight is finished by every worker, and all end', async () => {
  const running = await start();
  let release = () => {};
  const after = new Promise<void>((resolve) => {
    release = resolve;
  });
  upstream.on('GET /player', ({ playerUniqueId }) => ({ after, json: { playerUniqueId } }));
  const answers = Array.from({ length: 10 }, (_, i) => ask(running, `p${i + 1}`));
  await upstream.received(10);
  // As a service manager may do it: to the whole group.
  for (const pid of [running.child.pid ?? 0, ...workersOf(running)]) process.kill(pid, 'SIGTERM');
  await running.pageWhen('/readyz', ({ text }) => text.includes('draining'));
  await Promise.all(
    workersOf(running).map((pid) => running.logged((line) => line.pid === pid && line.msg === 'stopping')),
  );
  await expect(ask(running, 'late')).rejects.toThrow('fetch failed');
  release();
  expect((await Promise.all(answers)).map(({ data }) => data?.player.id)).toEqual(answers.map((_, i) => `p${i + 1}`));
  expect(await running.ended).toEqual({ code: 0, signal: null });
  for (const pid of workersOf(running)) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});

test('SIGTERM while the other workers start: the first one finishes what is in flight', async () => {
  const { child, output, written, ended } = spawnProcess({ REST_BASE_URL: upstream.url, WORKERS: '4' });
  const listens = /GraphQL listens at (http:[^"]+)"/;
  await written(() => listens.test(output()));
  let release = () => {};
  const after = new Promise<void>((resolve) => {
    release = resolve;
  });
  upstream.on('GET /player', ({ playerUniqueId }) => ({ after, json: { playerUniqueId } }));
  const [, url = ''] = listens.exec(output()) ?? [];
  const answer = post(url, { query: '{ player(playerUniqueId: "p1") { id attributes { city } } }' });
  await upstream.received(1);
  child.kill('SIGTERM');
  // The primary and at least one worker.
  await Promise.race([written(() => output().split('"msg":"stopping"').length > 2), ended]);
  release();
  expect((await answer).data).toMatchObject({ player: { id: 'p1' } });
  expect(await ended).toEqual({ code: 0, signal: null });
});

test('a request that hangs in a worker is cut after SHUTDOWN_GRACE_MS', async () => {
  const running = await start({ SHUTDOWN_GRACE_MS: '100' });
  upstream.on('GET /player', { fault: 'hang' });
  const answer = ask(running, 'p1').then(String, String);
  await upstream.received(1);
  running.child.kill('SIGTERM');
  expect(await answer).toContain('fetch failed');
  expect(await running.ended).toEqual({ code: 0, signal: null });
});

test('when the primary is killed, its workers end', async () => {
  const running = await start();
  running.child.kill('SIGKILL');
  // The pipe of their output closes with the last of them.
  expect(await running.ended).toEqual({ code: null, signal: 'SIGKILL' });
});

test('workers that cannot start end the gateway, which says why, once', async () => {
  const { port } = new URL(upstream.url);
  const { ended, output } = spawnProcess({ REST_BASE_URL: upstream.url, WORKERS: '3', PORT: port });
  expect(await ended).toEqual({ code: 1, signal: null });
  expect(output().split(`127.0.0.1:${port} is in use`)).toHaveLength(2);
  expect(output()).toContain('A worker ended before it listened (exit code 1)');
});
