import { expect, test } from '@jest/globals';
import { Secret } from '../../src/config/secret.ts';
import { API_KEY, SECRET_KEY } from '../kit/upstream.ts';
import { operation, start } from './setup.ts';

/** The headers of ours that went upstream, as they were written. */
function sent(rawHeaders: string[]): Record<string, string | undefined> {
  const ours = /^(?:apikey|secretkey|lang|x-request-id|traceparent|content-type|accept-encoding)$/i;
  const pairs = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 && ours.test(name) ? [[name, rawHeaders[index + 1]]] : [],
  );
  return Object.fromEntries(pairs);
}

const always = { 'accept-encoding': 'identity', APIKey: API_KEY, 'x-request-id': 'request-1' };
const body = { 'content-type': 'application/json' };

test('each operation is one request with exactly the headers and the body it needs', async () => {
  const { upstream, rest } = await start();
  const op = operation();

  await rest.getPlayer('p1', undefined, op);
  await rest.getPlayer('p1', 'fr', op);
  await rest.listCoupons('p1', op);
  await rest.listReferrals('p1', 2, 20, op);
  await rest.upsertPlayer({ playerUniqueId: 'p1', deviceToken: 't', osType: 'ios' }, op);
  await rest.trackEvents(
    { playerUniqueId: 'p1', events: { place_order: { amount: 5, tags: ['a', 'b'] }, seen: {} } },
    op,
  );
  await rest.deletePlayer('p1', op);

  const seen = upstream.requests.map(({ rawHeaders, body: json }, index) => [
    upstream.calls()[index],
    sent(rawHeaders),
    json,
  ]);
  expect(seen).toEqual([
    ['GET /integrations/player/p1', always, undefined],
    ['GET /integrations/player/p1', { ...always, Lang: 'fr' }, undefined],
    ['GET /integrations/transactions/p1/coupon', { ...always, secretKey: SECRET_KEY }, undefined],
    ['GET /integrations/players/p1/referrals?page=2&limit=20', always, undefined],
    ['POST /integrations/player', { ...always, ...body }, { playerUniqueId: 'p1', deviceToken: 't', osType: 'ios' }],
    [
      'POST /integrations/event',
      { ...always, ...body },
      { playerUniqueId: 'p1', events: { place_order: { amount: 5, tags: ['a', 'b'] }, seen: {} } },
    ],
    ['DELETE /integrations/player/p1', { ...always, secretKey: SECRET_KEY }, undefined],
  ]);
  expect(op.records).toHaveLength(7);
});

test('the trace context goes along when there is one', async () => {
  const { upstream, rest } = await start();
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  await rest.getPlayer(
    'p1',
    undefined,
    operation({ traceHeaders: ['traceparent', traceparent, 'tracestate', 'vendor=1'] }),
  );
  expect(upstream.requests[0]?.headers).toMatchObject({ traceparent, tracestate: 'vendor=1' });
});

test('a key that no header can carry is a misconfiguration, and nothing is sent', async () => {
  const { upstream, another } = await start();
  const rest = another({ apiKey: new Secret('two\nlines') });
  await expect(rest.getPlayer('p1', undefined, operation())).rejects.toMatchObject({ code: 'UPSTREAM_MISCONFIGURED' });
  expect(upstream.calls()).toEqual([]);
});

test('a path in the base URL stands before the version', async () => {
  const { upstream, another } = await start();
  await another({ baseUrl: `${upstream.url}/rewards/` }).getPlayer('p1', undefined, operation());
  expect(upstream.calls()).toEqual(['GET /rewards/api/v3.0/integrations/player/p1']);
});

test.each([
  ['serviceId', undefined, { serviceId: 's-1' }, 's-1'],
  ['another name', 'brandId', { brandId: 's-1', serviceId: 'no' }, 's-1'],
  ['a number', undefined, { serviceId: 71 }, '71'],
  ['nothing', undefined, undefined, undefined],
])('the service id is read from %s', async (_case, serviceIdField, json, expected) => {
  const { upstream, another } = await start();
  upstream.on('POST /player', { json });
  const rest = another(serviceIdField === undefined ? {} : { serviceIdField });
  const { serviceId, playerUniqueId } = await rest.upsertPlayer({ playerUniqueId: 'p1' }, operation());
  expect({ serviceId, playerUniqueId }).toEqual({ serviceId: expected, playerUniqueId: 'p1' });
});

test.each([
  ...['', ' ', '.', '..', 'x'.repeat(1_025), 'ü'.repeat(513)],
  ...['../p2', 'p1/..', 'p1/../p2', 'p1/./p2', '..\\p2', 'p1\\.', '%2e%2E', '..%2fp2', '..%5Cp2', '%252e%252e%252fp2'],
  ...['a\u0000b', 'a\nb', 'a\u007f', '\u0085', '\ud800', 'a\udc00b'],
  ...['\u061ca', 'a\u200e', 'a\u202eb', 'a\u2066b\u2069'],
])('the id %j is refused before anything is sent', async (id) => {
  const { upstream, rest } = await start();
  const op = operation();
  const calls = [
    rest.getPlayer(id, undefined, op),
    rest.listCoupons(id, op),
    rest.listReferrals(id, 1, 50, op),
    rest.deletePlayer(id, op),
    rest.upsertPlayer({ playerUniqueId: id }, op),
    rest.trackEvents({ playerUniqueId: id, events: {} }, op),
  ];
  for (const call of calls) await expect(call).rejects.toThrow(/^A playerUniqueId must/);
  expect(upstream.calls()).toEqual([]);
  expect(op.records).toEqual([]);
});

test.each(['', 'en, fr', 'en\r\nsecretKey: x', 'français', 'x'.repeat(65)])(
  'the language %j is refused before anything is sent',
  async (lang) => {
    const { upstream, rest } = await start();
    await expect(rest.getPlayer('p1', lang, operation())).rejects.toThrow(/language code has 1 to 64/);
    expect(upstream.calls()).toEqual([]);
  },
);

test('a call is reported to its operation and to the observer, without ids and keys', async () => {
  const { rest, seen } = await start();
  const op = operation();
  await rest.listReferrals('p1', 1, 50, op);
  const record = {
    method: 'GET',
    template: '/integrations/players/{playerUniqueId}/referrals',
    status: 200,
    ms: expect.any(Number),
    queueMs: expect.any(Number),
    attempts: 1,
    error: undefined,
  };
  expect(op.records).toEqual([record]);
  expect(seen.calls).toEqual([record]);
  expect(seen.attempts).toEqual([200]);
});
