import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { startReference } from './kit.ts';

const ALERTS = new URL('../../../deploy/alerts.yaml', import.meta.url);

test('/metrics counts requests by route and status, has no id, and tells whether the store answers', async () => {
  const { client, store } = await startReference();
  await client.upsert('a-player-of-this-test', { city: 'Rome' });
  await client.player('a-player-of-this-test');
  await client.player('nobody');
  const { status, headers, text } = await client.call('GET', '/metrics');
  expect([status, headers.get('content-type')]).toEqual([200, expect.stringContaining('version=0.0.4')]);
  const player =
    'reference_request_duration_seconds_count{method="GET",route="/api/v3.0/integrations/player/:playerUniqueId"';
  expect(text).toContain(`${player},status="200"} 1\n`);
  expect(text).toContain(`${player},status="404"} 1\n`);
  expect(text).toContain('\nreference_store_up 1\n');
  expect(text).not.toMatch(/a-player-of-this-test|nobody/);
  for (const [name = ''] of readFileSync(ALERTS, 'utf8').matchAll(/\breference_\w+/g)) {
    expect(text).toContain(`# TYPE ${name.replace(/_(?:bucket|count|sum)$/, '')} `);
  }
  const promtool = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
  if (!promtool.error) expect(promtool).toMatchObject({ status: 0, stderr: '' });
  await store.close();
  expect((await client.call('GET', '/metrics')).text).toContain('\nreference_store_up 0\n');
});

test('/metrics is 404 behind a proxy', async () => {
  const { client } = await startReference();
  for (const headers of [{ 'x-forwarded-for': '192.0.2.1' }, { forwarded: 'for=192.0.2.1' }]) {
    expect((await client.call('GET', '/metrics', undefined, headers)).status).toBe(404);
  }
});
