import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createRestClient, type RestClient } from '../../src/rest/client.ts';
import { Secret } from '../../src/rest/secret.ts';
import { API_KEY, SECRET_KEY, startUpstream, type Upstream } from '../kit/upstream.ts';

let upstream: Upstream;
let rest: RestClient;
const op = () => ({
  signal: new AbortController().signal,
  deadline: performance.now() + 10_000,
  requestId: 'r1',
  spend() {},
});
beforeAll(async () => {
  upstream = await startUpstream();
  rest = createRestClient({
    baseUrl: upstream.url,
    apiKey: () => new Secret(API_KEY),
    secretKey: () => new Secret(SECRET_KEY),
  });
});
beforeEach(() => upstream.forget());
afterAll(async () => {
  await rest.close();
  await upstream.close();
});

test('reads a player', async () => {
  expect(await rest.getPlayer('p1', undefined, op())).toMatchObject({
    id: 'p1',
    attributes: { tags: ['vip', 'early bird'] },
  });
  expect(await rest.listCoupons('p1', op())).toHaveLength(10);
  expect(await rest.listReferrals('p1', 2, 50, op())).toMatchObject({ count: 10, total: 60 });
  expect(await rest.getPlayer('nobody', 'fr', op())).toBeNull();
  expect(upstream.calls()).toEqual([
    'GET /integrations/player/p1',
    'GET /integrations/transactions/p1/coupon',
    'GET /integrations/players/p1/referrals?page=2&limit=50',
    'GET /integrations/player/nobody',
  ]);
});
