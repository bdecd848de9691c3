import { expect, test } from '@jest/globals';
import { startReference } from './kit.ts';
import { onEachStore } from './stores.ts';

onEachStore('health', (service) => {
  const get = async (path: string) => {
    const response = await fetch(`${service().reference.url}${path}`);
    return [response.status, await response.json()];
  };

  test('is told without a key', async () => {
    expect(await get('/healthz')).toEqual([200, { status: 'ok' }]);
    expect(await get('/readyz')).toEqual([200, { ready: true }]);
  });

  test('returns 404 for an unknown path, in the form of all errors', async () => {
    expect(await get('/metrics')).toEqual([404, { code: 404, message: 'There is nothing at this path' }]);
  });
});

test('returns 503 for /readyz while the store does not answer, and 200 for /healthz', async () => {
  const reference = await startReference();
  await reference.store.close();
  expect((await fetch(`${reference.url}/readyz`)).status).toBe(503);
  expect((await fetch(`${reference.url}/healthz`)).status).toBe(200);
  await reference.app.close();
});
