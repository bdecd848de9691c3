import { expect, test } from '@jest/globals';
import { startBoth, startGateway, type TestGateway } from '../kit/gateway.ts';
import { spawnProcess, startProcess } from '../kit/process.ts';
import { raw, requestBytes } from '../kit/raw.ts';
import { secretSigner } from '../kit/tokens.ts';

/* An open gateway must not be reached from elsewhere, nor through a website whose name points to this machine. */

const open = await startBoth();
const proxied = await startGateway(open.upstream.url, { TRUST_PROXY: 'loopback' });
const guarded = await startGateway(open.upstream.url, secretSigner().env);

async function statusOf({ url }: TestGateway, host: string, ...more: string[]) {
  const headers = [`Host: ${host}`, 'Content-Type: application/json', ...more];
  const body = JSON.stringify({ query: '{ player(playerUniqueId: "p1") { id } }' });
  return (await raw(url, requestBytes({ headers, body }))).status;
}

test.each(['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '192.168.0.7:4000', 'x'])(
  '%s is not this machine, and nothing is asked upstream',
  async (host) => {
    expect(await statusOf(open.gateway, host)).toBe(421);
    expect(await statusOf(proxied, host, 'X-Forwarded-Host: localhost')).toBe(421);
    expect(open.upstream.calls()).toEqual([]);
  },
);

test.each(['localhost', 'localhost:4000', '127.0.0.1:80', '[::1]:4000'])('%s is this machine', async (host) => {
  expect(await statusOf(open.gateway, host)).toBe(200);
});

test('a gateway that asks for tokens answers to every name', async () => {
  expect(await statusOf(guarded, 'gateway.example')).toBe(401);
});

test('the management port is on loopback unless MANAGEMENT_HOST says otherwise, and tells no more then', async () => {
  /** Another address of this machine. */
  const elsewhere = (management: string) => management.replace(/127\.0\.0\.1|0\.0\.0\.0/, '127.0.0.2');
  const usual = await startProcess({ REST_BASE_URL: open.upstream.url });
  await expect(fetch(`${elsewhere(usual.management)}/healthz`)).rejects.toThrow('fetch failed');
  const everywhere = await startProcess({ REST_BASE_URL: open.upstream.url, MANAGEMENT_HOST: '0.0.0.0' });
  const paths = ['/healthz', '/readyz', '/metrics', '/graphql', '/'];
  const responses = await Promise.all(paths.map((path) => fetch(elsewhere(everywhere.management) + path)));
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 404, 404]);
});

test('a sandbox that does not tell the interfaces of the machine, as systemd without AF_NETLINK, has both ports on all addresses', async () => {
  const refused = `import os from 'node:os'; os.networkInterfaces = () => { throw new Error('uv_interface_addresses returned 97'); };`;
  const env = { REST_BASE_URL: open.upstream.url, ...secretSigner().env, HOST: '0.0.0.0', MANAGEMENT_HOST: '0.0.0.0' };
  const program = await startProcess(env, ['--import', `data:text/javascript,${encodeURIComponent(refused)}`]);
  const urls = [program.url, program.management].map((url) => `${url.replace('127.0.0.1', '127.0.0.2')}/healthz`);
  const responses = await Promise.all(urls.map((url) => fetch(url)));
  expect(responses.map(({ status }) => status)).toEqual([200, 200]);
});

test('HOST=localhost listens at 127.0.0.1 alone, also where the name has two addresses', async () => {
  const twoAddresses = `import dns from 'node:dns'; const { lookup } = dns; dns.lookup = (name, ...rest) =>
    name === 'localhost' && rest.length === 2 ? rest[1](null, [{ address: '::1' }, { address: '127.0.0.1' }]) : lookup(name, ...rest);`;
  const env = { REST_BASE_URL: open.upstream.url, HOST: 'localhost' };
  const { url } = await startProcess(env, ['--import', `data:text/javascript,${encodeURIComponent(twoAddresses)}`]);
  await expect(fetch(url.replace('127.0.0.1', '[::1]'))).rejects.toThrow('fetch failed');
});

test('an open gateway on a public address refuses to start', async () => {
  const { ended, output } = spawnProcess({ REST_BASE_URL: open.upstream.url, HOST: '0.0.0.0' });
  expect((await ended).code).toBe(1);
  expect(output()).toContain('HOST: without a token setting the gateway is open to everybody');
});
