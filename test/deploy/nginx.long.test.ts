import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { post, startGateway, type TestGateway } from '../kit/gateway.ts';
import { freePort } from '../kit/redis.ts';
import { secretSigner } from '../kit/tokens.ts';
import { startUpstream, type Upstream } from '../kit/upstream.ts';
import { read } from './files.ts';

/* The shipped nginx.conf in front of two gateways; names and ports alone are replaced. */

const installed = spawnSync('nginx', ['-v']).status === 0;
if (!installed) process.stderr.write('nginx is not installed: the tests behind it are skipped.\n');

(installed ? describe : describe.skip)('behind the shipped nginx', () => {
  let upstream: Upstream;
  let gateways: TestGateway[];
  let url: string;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    upstream = await startUpstream();
    const env = { TRUST_PROXY: '1', ...secretSigner().env, MAX_FAILED_AUTHENTICATIONS_BURST: '2' };
    gateways = [await startGateway(upstream.url, env), await startGateway(upstream.url, env)];
    ({ url, stop } = await startNginx(gateways.map((gateway) => new URL(gateway.url).host)));
  });
  afterAll(async () => {
    await stop();
    await Promise.all(gateways.map((gateway) => gateway.close()));
    await upstream.close();
  });

  test('a client gets its response, and cannot choose its address', async () => {
    const statuses = new Set<number>();
    for (let attempt = 0; attempt < 8; attempt += 1) {
      const headers = { authorization: 'Bearer wrong', 'x-forwarded-for': `192.0.2.${attempt}` };
      statuses.add((await post(url, { query: '{ me { id } }' }, headers)).status);
    }
    // Each gateway counts failed tokens by the address that nginx tells.
    expect([...statuses]).toEqual([401, 429]);
  });

  test('returns 413 for a body over the limit without asking a gateway', async () => {
    const before = gateways.map((gateway) => gateway.logged().length);
    const response = await fetch(`${url}/graphql`, { method: 'POST', body: 'x'.repeat(300_000) });
    expect(response.status).toBe(413);
    expect(gateways.map((gateway) => gateway.logged().length)).toEqual(before);
  });
});

/** Starts it on a free port. Older versions than the shipped one lack `resolve`. */
async function startNginx(hosts: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'nginx-'));
  const port = await freePort();
  const conf = read('deploy/nginx.conf')
    .replace('pid /tmp/nginx.pid;', `pid ${folder}/pid; daemon off; error_log ${folder}/error.log;`)
    .replace(/server gateway:4000 resolve;/, hosts.map((host) => `server ${host};`).join(' '))
    .replace(/keepalive_timeout 60s; #/, '#')
    .replace('listen 8080;', `listen 127.0.0.1:${port};`);
  writeFileSync(join(folder, 'nginx.conf'), conf);
  const child = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: 'inherit' });
  const ended = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  for (let attempt = 0; attempt < 100; attempt += 1) {
    if (
      await fetch(url).then(
        () => true,
        () => false,
      )
    )
      break;
    await sleep(50);
  }
  return {
    url,
    async stop() {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}
