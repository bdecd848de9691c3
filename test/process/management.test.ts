import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import type { Lifecycle } from '../../src/process/lifecycle.ts';
import { createLog } from '../../src/process/log.ts';
import { startManagement } from '../../src/process/management.ts';
import { atEnd, newFile } from '../kit/at-end.ts';
import { post } from '../kit/post.ts';
import { keySigner, secretSigner, sha256, token } from '../kit/tokens.ts';
import { until } from '../kit/until.ts';
import { ask, start, upstream } from './setup.ts';

const READY = { status: 200, text: '{"ready":true}' };
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

test('the management port tells health, readiness and metrics alone; in production stdout has nothing but JSON', async () => {
  const signer = secretSigner();
  // Apollo Server reports by itself where it finds these.
  const apollo = { APOLLO_KEY: 'service:shop:key', APOLLO_GRAPH_REF: 'shop@current', APOLLO_SCHEMA_REPORTING: 'true' };
  const gateway = await start({ NODE_ENV: 'production', FEDERATION: 'true', ...apollo, ...signer.env });
  const { url, page } = gateway;
  const query = '{ me { attributes { email } coupons { code } } }';
  await post(url, { query }, { authorization: `Bearer ${token(signer)}` });
  expect(await page('/healthz')).toEqual({ status: 200, text: '{"status":"ok"}' });
  expect(await page('/readyz')).toEqual(READY);
  expect(await page('/readyz/')).toEqual(READY);
  const { text } = await page('/metrics');
  for (const name of ['process_cpu_seconds_total', 'nodejs_eventloop_lag_p99_seconds', 'gateway_operations_total']) {
    expect(text).toContain(`\n${name}`);
  }
  expect(text).toContain(`\ngateway_build_info{version="${version}"} 1`);
  // The kit looks for keys, tokens and addresses.
  expect(text).not.toMatch(/"p1"|P1-1/);
  for (const path of ['/graphql', '/', '/metrics/x']) expect((await page(path)).status).toBe(404);
  for (const path of ['/readyz', '/metrics']) expect((await fetch(url + path)).status).toBe(404);
  expect(await page('/graphql')).toMatchObject({
    status: 404,
    text: expect.stringContaining('GraphQL is on the other one'),
  });
  // For platforms that check nothing but this port. It says nothing more.
  for (const path of ['/healthz', '/healthz/']) {
    const health = await fetch(url + path);
    expect([health.status, await health.text()]).toEqual([200, '']);
  }
  await gateway.logged(({ msg }) => msg === 'operation');
  expect(gateway.output()).not.toMatch(/reporting|inline trac/i);
  for (const line of gateway.output().trimEnd().split('\n')) expect(() => JSON.parse(line)).not.toThrow();
});

test('as long as the gateway starts it is healthy, but not ready', async () => {
  const log = createLog('silent', { write: () => undefined });
  const lifecycle: { phase: Lifecycle['phase'] } = { phase: 'starting' };
  let source: Parameters<typeof startManagement>[2] = () => undefined;
  const management = await startManagement({ host: '127.0.0.1', port: 0 }, lifecycle, () => source(), log);
  const statusOf = async (path: string) => (await fetch(management.url + path)).status;
  const statuses = () => Promise.all(['/healthz', '/readyz', '/metrics'].map(statusOf));
  expect(await (await fetch(`${management.url}/readyz`)).text()).toBe('{"ready":false,"reasons":["starting"]}');
  expect(await statuses()).toEqual([200, 503, 503]);
  source = () => ({ status: () => ({ reasons: [], conditions: [] }), metrics: async () => '' });
  expect(await statuses()).toEqual([200, 503, 200]);
  lifecycle.phase = 'running';
  expect(await statuses()).toEqual([200, 200, 200]);
  await management.stop();
});

const GET_PLAYER = 'GET /integrations/player/{playerUniqueId}';

test('an open breaker leaves the gateway ready, and body and metrics tell it, until the service works again', async () => {
  const gateway = await start();
  let players = 0;
  const shows = (ready: string, metric: string) =>
    until(async () => {
      // The breaker changes with what it sees, and counts a player once per window.
      await ask(gateway, `player-${players++}`);
      const [readiness, { text }] = [await gateway.page('/readyz'), await gateway.page('/metrics')];
      expect(readiness.status).toBe(200);
      return readiness.text === ready && text.includes(metric);
    });
  upstream.on('GET /player', { status: 500 });
  await shows(
    `{"ready":true,"conditions":["breaker-open ${GET_PLAYER}"]}`,
    `rest_breaker{endpoint="${GET_PLAYER}",state="open"} 1`,
  );
  expect((await gateway.page('/healthz')).status).toBe(200);
  // A trial may be sent, and nobody sends one: the service is as bad as before.
  const halfOpen = `rest_breaker{endpoint="${GET_PLAYER}",state="half-open"} 1`;
  await until(async () => (await gateway.page('/metrics')).text.includes(halfOpen));
  expect((await gateway.page('/readyz')).text).toContain('breaker-open');
  expect((await gateway.page('/metrics')).text).toMatch(/^rest_breaker_openings_total\{endpoint="GET .+"\} [1-9]/m);
  upstream.on('GET /player', 'usual');
  await shows(READY.text, `rest_breaker{endpoint="${GET_PLAYER}",state="closed"} 1`);
});

test('a gateway without the keys of its tokens is healthy, but not ready, also beside client tokens, until they come', async () => {
  const [signer, secret] = [keySigner('ES256', 'first'), randomBytes(32).toString('base64url')];
  const client = { name: 'shop', sha256: sha256(secret), scopes: ['players:read', 'any-player'] };
  const server = createServer((_, response) => response.end(JSON.stringify({ keys: [signer.jwk] })));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const settings = {
    JWT_JWKS_URL: `http://127.0.0.1:${port}/k`,
    CLIENT_TOKENS_FILE: newFile('clients.json', [client]),
  };
  const { url, page } = await start({ ...signer.env, JWT_PUBLIC_KEY: '', ...settings });
  expect(await page('/readyz')).toEqual({ status: 503, text: '{"ready":false,"reasons":["no-keys"]}' });
  expect((await page('/healthz')).status).toBe(200);
  const query = '{ player(playerUniqueId: "p1") { id } }';
  const statusOf = async (jwt: string) => (await post(url, { query }, { authorization: `Bearer ${jwt}` })).status;
  expect([await statusOf(secret), await statusOf(token(signer))]).toEqual([200, 503]);
  await once(server.listen(port, '127.0.0.1'), 'listening');
  atEnd(() => server.close().closeAllConnections());
  await until(async () => (await page('/readyz')).status === 200);
  expect(await statusOf(token(signer))).toBe(200);
});
