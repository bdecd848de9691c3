import { expect, test } from '@jest/globals';
import { secretOf } from '../../src/config/secret.ts';
import { API_KEY, SECRET_KEY } from '../kit/upstream.ts';
import { CALLS, failure, operation, read, start } from './setup.ts';

/** The headers of ours that went upstream, as they were written. */
function sent(rawHeaders: string[]) {
  const ours =
    /^(?:apikey|secretkey|lang|x-request-id|traceparent|tracestate|content-type|accept-encoding|cache-control)$/i;
  const pairs = rawHeaders.map((name, index) => [name, rawHeaders[index + 1]] as const);
  return Object.fromEntries(pairs.filter(([name], index) => index % 2 === 0 && ours.test(name)));
}

test('each operation is one request with exactly the headers and the body it needs', async () => {
  const { upstream, rest } = await start();
  const device = { playerUniqueId: 'p1', deviceToken: 't', osType: 'ios' };
  const report = { playerUniqueId: 'p1', events: { place_order: { amount: 5, tags: ['a', 'b'] }, seen: {} } };
  const trace = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', tracestate: 'vendor=1' };
  const op = operation();

  await rest.getPlayer('p1', undefined, operation({ traceHeaders: Object.entries(trace).flat() }));
  await rest.getPlayer('p1', 'fr', op);
  await rest.listCoupons('p1', op);
  await rest.listReferrals('p1', 2, 20, op);
  await rest.upsertPlayer(device, op);
  await rest.trackEvents(report, op);
  await rest.deletePlayer('p1', op);

  const all = { 'accept-encoding': 'identity', 'cache-control': 'no-cache' };
  const always = { ...all, APIKey: API_KEY, 'x-request-id': 'request-1' };
  const secret = { ...always, secretKey: SECRET_KEY };
  const json = { ...always, 'content-type': 'application/json' };
  const calls = upstream.calls();
  expect(upstream.requests.map(({ rawHeaders, body }, index) => [calls[index], sent(rawHeaders), body])).toEqual([
    ['GET /integrations/player/p1', { ...always, ...trace }, undefined],
    ['GET /integrations/player/p1', { ...always, Lang: 'fr' }, undefined],
    ['GET /integrations/transactions/p1/coupon', secret, undefined],
    ['GET /integrations/players/p1/referrals?page=2&limit=20', always, undefined],
    ['POST /integrations/player', json, device],
    ['POST /integrations/event', json, report],
    ['DELETE /integrations/player/p1', secret, undefined],
  ]);
});

test('a key that no header can carry is a misconfiguration, and nothing is sent', async () => {
  const { upstream, rest } = await start({ apiKey: secretOf('two\nlines') });
  await expect(read(rest)).rejects.toMatchObject({ code: 'UPSTREAM_MISCONFIGURED' });
  expect(upstream.calls()).toEqual([]);
});

test('a path in the base URL stands before the version', async () => {
  const { upstream } = await start();
  const { rest } = await start({ baseUrl: `${upstream.url}/rewards/` });
  await failure(read(rest));
  expect(upstream.calls()).toEqual(['GET /rewards/api/v3.0/integrations/player/p1']);
});

test.each([
  [{}, { serviceId: 's-1' }, 's-1'],
  [{ serviceIdField: 'brandId' }, { brandId: 's-1', serviceId: 'no' }, 's-1'],
])('with the settings %j the service id of %j is %j', async (options, json, serviceId) => {
  const { upstream, rest } = await start(options);
  upstream.on('POST /player', { json });
  expect(await rest.upsertPlayer({ playerUniqueId: 'p1' }, operation())).toEqual({ serviceId });
});

test.each([
  ...['', ' ', '..', 'x'.repeat(1_025), 'ü'.repeat(513), 'p1/./p2', 'p1\\.', '%2e%2E', '..%5Cp2', '%252e%252e%252fp2'],
  ...['a\u0000b', 'a\nb', '\u0085', 'a\udc00b', 'a\u202eb'],
])('the id %j is refused before anything is sent', async (id) => {
  const { upstream, rest } = await start();
  for (const call of Object.values(CALLS)) await expect(call(rest, id)).rejects.toThrow(/^A playerUniqueId must/);
  expect(upstream.calls()).toEqual([]);
});

test('a call is reported to its operation and to the observer, without ids and keys', async () => {
  const { rest, seen } = await start();
  const op = operation();
  await rest.listReferrals('p1', 1, 50, op);
  const name = 'GET /integrations/players/{playerUniqueId}/referrals';
  const endpoint = expect.objectContaining({ name, operationId: 'listPlayerReferrals' });
  const times = { ms: expect.any(Number), queueMs: expect.any(Number) };
  const record = { endpoint, began: expect.any(Number), status: 200, ...times, attempts: 1, error: undefined };
  expect(op.records).toEqual([record]);
  expect(seen.calls).toEqual([record]);
  expect(seen.attempts).toEqual([200]);
});
