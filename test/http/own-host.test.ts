import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { startBoth } from '../kit/gateway.ts';
import { spawnProcess, startProcess } from '../kit/process.ts';
import { raw, requestBytes } from '../kit/raw.ts';

/* The addresses and names by which a gateway can be reached. An open gateway must not be reached through a website whose name points to this machine. */
const BODY = JSON.stringify({ query: '{ player(playerUniqueId: "p1") { id } }' });

let open: Awaited<ReturnType<typeof startBoth>>;
let guarded: Awaited<ReturnType<typeof startBoth>>;
beforeAll(async () => {
  open = await startBoth();
  guarded = await startBoth({ JWT_SECRET: 's'.repeat(32), JWT_ISSUER: 'issuer', JWT_AUDIENCE: 'audience' });
});
beforeEach(() => open.upstream.forget());
afterAll(() => Promise.all([open.close(), guarded.close()]));

const ask = (url: string, host: string) =>
  raw(url, requestBytes({ headers: [`Host: ${host}`, 'Content-Type: application/json'], body: BODY }));

test.each(['localhost', 'localhost:4000', '127.0.0.1:80', '[::1]:4000'])('%s is this machine', async (host) => {
  expect((await ask(open.gateway.url, host)).status).toBe(200);
});

test.each(['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '192.168.0.7:4000', 'x'])(
  '%s is not, and nothing is asked upstream',
  async (host) => {
    const { status, body } = await ask(open.gateway.url, host);
    expect({ status, code: JSON.parse(body).errors[0].extensions.code }).toEqual({ status: 421, code: 'BAD_REQUEST' });
    expect(open.upstream.calls()).toEqual([]);
  },
);

test('behind a proxy, a forwarded host does not hide the host', async () => {
  const proxied = await startBoth({ TRUST_PROXY: 'loopback' });
  const headers = ['Host: evil.example', 'X-Forwarded-Host: localhost', 'Content-Type: application/json'];
  const { status } = await raw(proxied.gateway.url, requestBytes({ headers, body: BODY }));
  expect(status).toBe(421);
  await proxied.close();
});

test('a gateway that asks for tokens answers to every name', async () => {
  expect((await ask(guarded.gateway.url, 'gateway.example')).status).toBe(401);
});

/** Another address of this machine, at which nobody listens who listens on 127.0.0.1 alone. */
const elsewhere = (management: string) => management.replace('127.0.0.1', '127.0.0.2').replace('0.0.0.0', '127.0.0.2');

test('the management port is on loopback unless MANAGEMENT_HOST says otherwise, and tells no more then', async () => {
  const env = { REST_BASE_URL: open.upstream.url };
  const usual = await startProcess(env);
  await expect(fetch(`${elsewhere(usual.management)}/healthz`)).rejects.toThrow('fetch failed');
  await usual.kill();
  const everywhere = await startProcess({ ...env, MANAGEMENT_HOST: '0.0.0.0' });
  const statusOf = async (path: string) => (await fetch(elsewhere(everywhere.management) + path)).status;
  expect(await Promise.all(['/healthz', '/readyz', '/metrics', '/graphql', '/'].map(statusOf))).toEqual([
    ...[200, 200, 200, 404, 404],
  ]);
  await everywhere.kill();
});

test('an open gateway on a public address refuses to start', async () => {
  const { ended, output } = spawnProcess({ REST_BASE_URL: open.upstream.url, HOST: '0.0.0.0' });
  expect((await ended).code).toBe(1);
  expect(output()).toContain('HOST: without a token setting the gateway is open to everybody');
});
