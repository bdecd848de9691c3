import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { Lifecycle } from '../../src/process/lifecycle.ts';
import { createLog } from '../../src/process/log.ts';
import { startManagement } from '../../src/process/management.ts';
import { post } from '../kit/gateway.ts';
import { type GatewayProcess, type Page, startProcess } from '../kit/process.ts';
import { until } from '../kit/until.ts';
import { API_KEY, SECRET_KEY, startUpstream, type Upstream } from '../kit/upstream.ts';

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
  gateway = await startProcess({ REST_BASE_URL: upstream.url, ...env });
  return gateway;
}

const READY = { status: 200, text: '{"ready":true}' };
const readyBut = (condition: string) => ({ status: 200, text: `{"ready":true,"conditions":["${condition}"]}` });
const PLAYER = '{ player(playerUniqueId: "p1") { attributes { email } coupons { code } } }';

test('the management port tells health, readiness and metrics, and nothing about keys or players', async () => {
  const { url, page } = await start();
  await post(url, { query: PLAYER });
  expect(await page('/healthz')).toEqual({ status: 200, text: '{"status":"ok"}' });
  expect(await page('/readyz')).toEqual(READY);
  const metrics = await page('/metrics');
  expect(metrics.status).toBe(200);
  for (const name of ['process_cpu_seconds_total', 'nodejs_eventloop_lag_p99_seconds', 'gateway_operations_total']) {
    expect(metrics.text).toContain(`\n${name}`);
  }
  for (const secret of [API_KEY, SECRET_KEY, 'p1@example.com', '"p1"', 'P1-1']) {
    expect(metrics.text).not.toContain(secret);
  }
});

test('neither port serves what belongs to the other', async () => {
  const { url, page } = await start();
  for (const path of ['/graphql', '/', '/metrics/x']) expect((await page(path)).status).toBe(404);
  for (const path of ['/healthz', '/readyz', '/metrics']) expect((await fetch(url + path)).status).toBe(404);
});

test('as long as the gateway starts it is healthy, but not ready', async () => {
  const log = createLog('silent', { write: () => undefined });
  const lifecycle: { phase: Lifecycle['phase'] } = { phase: 'starting' };
  const management = await startManagement({ host: '127.0.0.1', port: 0 }, lifecycle, log);
  const statusOf = async (path: string) => (await fetch(management.url + path)).status;
  expect(await (await fetch(`${management.url}/readyz`)).text()).toBe('{"ready":false,"reasons":["starting"]}');
  expect(await Promise.all(['/healthz', '/readyz', '/metrics'].map(statusOf))).toEqual([200, 503, 503]);
  management.setSource({ status: () => ({ reasons: [], conditions: [] }), metrics: async () => '' });
  expect(await Promise.all(['/healthz', '/readyz', '/metrics'].map(statusOf))).toEqual([200, 503, 200]);
  lifecycle.phase = 'running';
  expect(await Promise.all(['/healthz', '/readyz', '/metrics'].map(statusOf))).toEqual([200, 200, 200]);
  await management.stop();
});

test('an open breaker leaves the gateway ready, and body and metrics tell it, until the service works again', async () => {
  const { url, page } = await start();
  upstream.on('GET /player', { status: 500 });
  // The breaker counts a player once per window, so each request is about another one.
  let players = 0;
  const ask = () => {
    players += 1;
    return post(url, { query: PLAYER.replace('"p1"', `"p${players}"`) });
  };
  // The breaker changes with what it sees: without a request it would stay as it is.
  const isReady = (wanted: Page) =>
    until(async () => {
      await ask();
      const now = await page('/readyz');
      expect(now.status).toBe(200);
      return now.text === wanted.text;
    });
  const hasMetric = (wanted: string) =>
    until(async () => {
      await ask();
      return (await page('/metrics')).text.includes(wanted);
    });
  await isReady(readyBut('breaker-open'));
  expect((await page('/healthz')).status).toBe(200);
  await hasMetric('rest_breaker{state="open"} 1');
  expect((await page('/metrics')).text).toMatch(/^rest_breaker_openings_total [1-9]/m);
  upstream.on('GET /player', 'usual');
  await isReady(READY);
  await hasMetric('rest_breaker{state="closed"} 1');
});

test('the metrics tell the version of the build', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  expect((await (await start()).page('/metrics')).text).toContain(`\ngateway_build_info{version="${version}"} 1`);
});

test('a gateway without the keys of its tokens is healthy, but not ready', async () => {
  const { page } = await start({ JWT_JWKS_URL: 'http://127.0.0.1:1/k', JWT_ISSUER: 'issuer', JWT_AUDIENCE: 'gateway' });
  expect(await page('/readyz')).toEqual({ status: 503, text: '{"ready":false,"reasons":["no-keys"]}' });
  expect((await page('/healthz')).status).toBe(200);
});

test('nothing but JSON goes to stdout in production', async () => {
  const { output, url } = await start({
    NODE_ENV: 'production',
    JWT_SECRET: 'a-secret-of-more-than-32-bytes-for-tests',
    JWT_ISSUER: 'issuer',
    JWT_AUDIENCE: 'gateway',
  });
  await post(url, { query: PLAYER });
  await gateway?.logged(({ msg }) => msg === 'operation');
  for (const line of output().trimEnd().split('\n')) expect(() => JSON.parse(line)).not.toThrow();
});
