import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { post, startGateway } from '../kit/gateway.ts';
import { freePort } from '../kit/redis.ts';
import { secretSigner } from '../kit/tokens.ts';
import { until } from '../kit/until.ts';

/** Starts the shipped nginx.conf; names and ports alone are replaced. Older versions than the shipped one lack `resolve`. */
async function startNginx(hosts: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'nginx-'));
  const url = `127.0.0.1:${await freePort()}`;
  const conf = readFileSync('deploy/nginx.conf', 'utf8')
    .replace('pid /tmp/nginx.pid;', `pid ${folder}/pid; daemon off; error_log ${folder}/error.log;`)
    .replace(/server gateway:4000 resolve;/, hosts.map((host) => `server ${host};`).join(' '))
    .replace(/keepalive_timeout 60s; #/, '#')
    .replace('listen 8080;', `listen ${url};`);
  writeFileSync(join(folder, 'nginx.conf'), conf);
  const child = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: 'inherit' });
  const ended = once(child, 'exit');
  await until(() => fetch(`http://${url}`).then(Boolean, () => false));
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true });
  };
  return { url: `http://${url}`, stop };
}

const withNginx = spawnSync('nginx', ['-v']).status === 0 ? test : test.skip;
withNginx(
  'behind the shipped nginx a client gets its response and cannot choose its address; a body over the limit is 413 without a gateway',
  async () => {
    const env = { TRUST_PROXY: '1', ...secretSigner().env, MAX_FAILED_AUTHENTICATIONS_BURST: '2' };
    const gateways = await Promise.all([1, 2].map(() => startGateway('http://127.0.0.1:1', env)));
    const nginx = await startNginx(gateways.map((gateway) => new URL(gateway.url).host));
    const statuses = new Set<number>();
    for (let attempt = 0; attempt < 8; attempt += 1) {
      const headers = { authorization: 'Bearer wrong', 'x-forwarded-for': `192.0.2.${attempt}` };
      statuses.add((await post(nginx.url, { query: '{ me { id } }' }, headers)).status);
    }
    // Each gateway counts failed tokens by the address that nginx tells.
    expect([...statuses]).toEqual([401, 429]);
    const before = gateways.map((gateway) => gateway.logged());
    expect((await fetch(`${nginx.url}/graphql`, { method: 'POST', body: 'x'.repeat(300_000) })).status).toBe(413);
    expect(gateways.map((gateway) => gateway.logged())).toEqual(before);
    await nginx.stop();
    await Promise.all(gateways.map((gateway) => gateway.close()));
  },
);
