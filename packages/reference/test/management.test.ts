import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openLibsql } from '../../src/reference/store/libsql.ts';
import { startProxy } from '../kit/tcp-proxy.ts';
import { environmentOf, forkReference, killLeftovers, type RunningProcess, startAlone } from './process.ts';
import { onEachStore, POSTGRES } from './stores.ts';

onEachStore('the management port', (service) => {
  const get = async (path: string) => {
    const response = await fetch(`${service().reference.managementUrl}${path}`);
    return { status: response.status, text: await response.text(), type: response.headers.get('content-type') };
  };

  test('tells health, readiness and metrics without a key', async () => {
    expect(await get('/healthz')).toMatchObject({ status: 200, text: '{"status":"ok"}' });
    expect(await get('/readyz')).toMatchObject({ status: 200, text: '{"ready":true}' });
    await service().client.player('someone@example.com');
    const { status, type, text } = await get('/metrics');
    expect([status, type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    expect(text).toMatch(
      /^reference_requests_total\{method="GET",route="\/api\/v3\.0\/integrations\/player\/:playerUniqueId",status="404"\} 1$/m,
    );
    expect(text).toContain('reference_request_duration_seconds_bucket');
    expect(text).not.toContain('someone');
  });

  test('has the operator’s routes, and the public port has not', async () => {
    const { client } = service();
    for (const path of ['coupon/issue', 'coupon/use', 'report', 'backup']) {
      expect(await client.call('POST', `/operator/${path}`, {})).toMatchObject({ status: 404, body: { code: 404 } });
      expect((await client.operator(path, {})).status).not.toBe(404);
    }
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      expect((await client.call('GET', path)).status).toBe(404);
    }
  });

  test('answers unknown paths and methods in the form of all errors', async () => {
    expect(JSON.parse((await get('/operator/report')).text)).toEqual({
      code: 405,
      message: 'This path takes POST only',
    });
    expect(JSON.parse((await get('/x')).text)).toEqual({ code: 404, message: 'There is nothing at this path' });
  });
});

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'reference-'));
});
afterEach(async () => {
  killLeftovers();
  await rm(dataDir, { recursive: true, force: true });
});
const readiness = async ({ managementUrl }: RunningProcess) => {
  const response = await fetch(`${managementUrl}/readyz`);
  return [response.status, await response.json()];
};

describe('the process', () => {
  for (const { name, place } of POSTGRES) {
    test(`is not ready while ${name} hangs, and is ready again without a restart`, async () => {
      const at = await place();
      const url = new URL(at.databaseUrl ?? '');
      const proxy = await startProxy(Number(url.port), url.hostname);
      url.host = proxy.host;
      const service = await forkReference({
        ...environmentOf({ databaseUrl: url.href, dataDir }),
        REFERENCE_DATABASE_HEALTH_TIMEOUT_MS: '200',
        REFERENCE_DATABASE_CONNECT_TIMEOUT_MS: '100',
      });
      expect(await readiness(service)).toEqual([200, { ready: true }]);
      proxy.hang();
      expect(await readiness(service)).toEqual([503, { ready: false, reasons: ['store'] }]);
      expect((await fetch(`${service.managementUrl}/healthz`)).status).toBe(200);
      proxy.cut();
      const refused = await service.client.upsert('meanwhile');
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
      expect(refused.body.message).toBe('The database cannot be reached; nothing of this request was stored');
      proxy.resume();
      while ((await readiness(service))[0] !== 200);
      expect((await service.client.upsert('after')).status).toBe(200);
      expect((await service.client.player('meanwhile')).status).toBe(404);
      expect(await service.end('SIGTERM')).toBe(0);
      await proxy.close();
      await at.remove();
    });
  }

  test('reports draining for SHUTDOWN_DELAY_MS, answers meanwhile and closes connections, then ends with 0', async () => {
    const env = { ...environmentOf({ databaseUrl: undefined, dataDir }), SHUTDOWN_DELAY_MS: '500' };
    const service = await startAlone(env);
    const gone = service.end('SIGTERM');
    let reasons: unknown;
    do [, reasons] = await readiness(service);
    while (JSON.stringify(reasons) === '{"ready":true}');
    expect(reasons).toEqual({ ready: false, reasons: ['draining'] });
    const reply = await service.client.upsert('late');
    expect([reply.status, reply.headers.get('connection')]).toEqual([200, 'close']);
    expect(await gone).toBe(0);
    const store = await openLibsql(join(dataDir, 'reference.db'));
    expect(await store.read((queries) => queries.selectFrom('players').select('player_unique_id').execute())).toEqual([
      { player_unique_id: 'late' },
    ]);
    await store.close();
  });
});
