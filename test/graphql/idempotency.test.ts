import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { createMemoryKeys } from '../../src/graphql/idempotency-store.ts';
import { type Answer, post, startGateway, type TestGateway } from '../kit/gateway.ts';
import { redisIsInstalled, startRedis, type TestRedis } from '../kit/redis.ts';
import { startProxy } from '../kit/tcp-proxy.ts';
import { secretSigner, token, UNLIMITED } from '../kit/tokens.ts';
import { startUpstream, type Upstream } from '../kit/upstream.ts';

/* Events with an idempotency key reach the REST service at most once, whatever happens between it, the gateway and a client. */

const TRACK =
  'mutation Track($input: TrackEventsInput!) { trackEvents(input: $input) { eventNames userErrors { code field } } }';
const PURCHASE = { playerUniqueId: 'p1', events: [{ name: 'place_order', metadata: { amount: 49.9, shop: 'a' } }] };
const DONE = { trackEvents: { eventNames: ['place_order'], userErrors: [] } };
const UNKNOWN = [{ path: ['trackEvents'], extensions: { outcome: 'UNKNOWN', retryable: false } }];

let upstream: Upstream;
const cleanUps: (() => unknown)[] = [];
beforeEach(async () => {
  upstream = await startUpstream();
  cleanUps.push(() => upstream.close());
});
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function start(env: Record<string, string> = {}): Promise<TestGateway> {
  const gateway = await startGateway(upstream.url, env);
  cleanUps.push(() => gateway.close());
  return gateway;
}

const track = ({ query }: TestGateway, input: object, headers?: Record<string, string>): Promise<Answer> =>
  query(TRACK, { input: { ...PURCHASE, ...input } }, headers);
/** As a client does: repeats what is retryable. Redis on a busy machine may take longer than the gateway waits for it. */
async function send(gateway: TestGateway, input: object): Promise<Answer> {
  let response = await track(gateway, input);
  for (let attempt = 1; attempt < 20 && response.errors[0]?.extensions['retryable'] === true; attempt += 1) {
    await sleep(Number(response.errors[0].extensions['retryAfterMs']));
    response = await track(gateway, input);
  }
  return response;
}
const sent = () => upstream.calls().filter((call) => call === 'POST /integrations/event').length;

describe('one gateway', () => {
  test('a repetition gets the same response and a fresh player, and sends nothing', async () => {
    const gateway = await start();
    const query = `mutation ($input: TrackEventsInput!) { trackEvents(input: $input) { eventNames player { id } } }`;
    const input = { ...PURCHASE, idempotencyKey: 'key-of-this-test' };
    const responses = [await gateway.query(query, { input }), await gateway.query(query, { input })];
    for (const { data, errors } of responses) {
      expect({ data, errors }).toEqual({
        data: { trackEvents: { eventNames: ['place_order'], player: { id: 'p1' } } },
        errors: [],
      });
    }
    expect(upstream.calls()).toEqual([
      'POST /integrations/event',
      'GET /integrations/player/p1',
      'GET /integrations/player/p1',
    ]);
    expect(gateway.logged()).not.toContain('key-of-this-test');
  });

  test('without a key, or with null, every operation sends its events', async () => {
    const gateway = await start();
    for (const input of [{}, {}, { idempotencyKey: null }, { idempotencyKey: null }]) await track(gateway, input);
    expect(sent()).toBe(4);
  });

  test('a key belongs to a caller and a player', async () => {
    const signer = secretSigner();
    const gateway = await start(signer.env);
    const as = (sub: string) => ({ authorization: `Bearer ${token(signer, { sub })}` });
    const idempotencyKey = 'k';
    for (const caller of ['server-a', 'server-b']) {
      for (const playerUniqueId of ['p1', 'p2', 'p1', 'p2']) {
        expect((await track(gateway, { idempotencyKey, playerUniqueId }, as(caller))).data).toEqual(DONE);
      }
    }
    expect(sent()).toBe(4);
  });

  test.each<[string, object]>([
    ['another name', { events: [{ name: 'subscribe', metadata: { amount: 49.9, shop: 'a' } }] }],
    ['another value', { events: [{ name: 'place_order', metadata: { amount: 50, shop: 'a' } }] }],
    ['no metadata', { events: [{ name: 'place_order' }] }],
    ['one event more', { events: [...PURCHASE.events, { name: 'subscribe' }] }],
  ])('a key that comes again with %s is refused', async (_name, other) => {
    const gateway = await start();
    await track(gateway, { idempotencyKey: 'k' });
    const { data, errors } = await track(gateway, { idempotencyKey: 'k', ...other });
    const userErrors = [{ code: 'INVALID', field: ['input', 'idempotencyKey'] }];
    expect({ data, errors }).toEqual({ data: { trackEvents: { eventNames: [], userErrors } }, errors: [] });
    expect(sent()).toBe(1);
  });

  test('members of metadata in another order are the same input', async () => {
    const gateway = await start();
    await track(gateway, { idempotencyKey: 'k' });
    const events = [{ name: 'place_order', metadata: { shop: 'a', amount: 49.9 } }];
    expect((await track(gateway, { idempotencyKey: 'k', events })).data).toEqual(DONE);
    expect(sent()).toBe(1);
  });

  test.each([
    ['', 'REQUIRED'],
    ['  ', 'REQUIRED'],
    ['x'.repeat(129), 'TOO_LONG'],
    ['a\nb', 'INVALID'],
    ['a\0b', 'INVALID'],
    ['\ud800', 'INVALID'],
  ])('the key %j is a user error %s, and nothing is sent', async (idempotencyKey, code) => {
    const { data, errors } = await track(await start(), { idempotencyKey });
    const userErrors = [{ code, field: ['input', 'idempotencyKey'] }];
    expect({ data, errors }).toEqual({ data: { trackEvents: { eventNames: [], userErrors } }, errors: [] });
    expect(sent()).toBe(0);
  });

  test('128 characters are a key', async () => {
    expect((await track(await start(), { idempotencyKey: 'ü'.repeat(128) })).data).toEqual(DONE);
  });

  test.each([['hang'], ['reset'], ['cut']] as const)(
    'an event with the fault %s is never sent again',
    async (fault) => {
      const gateway = await start({ REST_TIMEOUT_MS: '300' });
      upstream.on('POST /event', { fault, json: {} }, 'usual');
      for (let repetition = 0; repetition < 3; repetition += 1) {
        const { data, errors } = await track(gateway, { idempotencyKey: 'k' });
        expect(data).toEqual({ trackEvents: null });
        expect(errors).toMatchObject(UNKNOWN);
      }
      expect(sent()).toBe(1);
    },
  );

  test('an event that was not sent is sent when it comes again', async () => {
    const gateway = await start();
    await upstream.stop();
    const { errors } = await track(gateway, { idempotencyKey: 'k' });
    expect(errors).toMatchObject([{ extensions: { outcome: 'NOT_DONE', retryable: true } }]);
    await upstream.restart();
    expect((await track(gateway, { idempotencyKey: 'k' })).data).toEqual(DONE);
    expect((await track(gateway, { idempotencyKey: 'k' })).data).toEqual(DONE);
    expect(sent()).toBe(1);
  });

  test('an event that the service refused is sent when it comes again', async () => {
    const gateway = await start();
    upstream.on('POST /event', { status: 400, json: { code: 5, message: 'no' } }, 'usual');
    const userErrors = [{ code: 'REJECTED', field: ['input'] }];
    const refused = await track(gateway, { idempotencyKey: 'k' });
    expect(refused.data).toEqual({ trackEvents: { eventNames: [], userErrors } });
    expect((await track(gateway, { idempotencyKey: 'k' })).data).toEqual(DONE);
    expect(sent()).toBe(2);
  });

  test('a repetition of an operation that is under way is told to come again', async () => {
    const gateway = await start();
    const held = upstream.hold('POST /event');
    const first = track(gateway, { idempotencyKey: 'k' });
    await held.arrived;
    const { data, errors } = await track(gateway, { idempotencyKey: 'k' });
    expect(data).toEqual({ trackEvents: null });
    expect(errors.map(({ extensions }) => extensions)).toEqual([
      { code: 'UPSTREAM_TIMEOUT', outcome: 'UNKNOWN', retryable: true, retryAfterMs: 1_000 },
    ]);
    // Another key is another operation.
    expect((await track(gateway, { idempotencyKey: 'another' })).data).toEqual(DONE);
    held.release();
    expect((await first).data).toEqual(DONE);
    expect((await track(gateway, { idempotencyKey: 'k' })).data).toEqual(DONE);
    expect(sent()).toBe(2);
  });

  test('an event whose response is lost on the way to the client is sent once, and its repetition is DONE', async () => {
    const gateway = await start();
    const { port, hostname } = new URL(gateway.url);
    const proxy = await startProxy(Number(port), hostname);
    cleanUps.push(() => proxy.close());
    const held = upstream.hold('POST /event');
    const variables = { input: { ...PURCHASE, idempotencyKey: 'k' } };
    const lost = expect(post(`http://${proxy.host}`, { query: TRACK, variables })).rejects.toThrow('fetch failed');
    await held.arrived;
    proxy.cut();
    held.release();
    await lost;
    expect((await send(gateway, { idempotencyKey: 'k' })).data).toEqual(DONE);
    expect(sent()).toBe(1);
  });

  test('twelve callers with very many keys take no key from another caller, and each has a bound', async () => {
    const signer = secretSigner();
    const gateway = await start({ ...signer.env, ...UNLIMITED });
    const as = (sub: string) => ({ authorization: `Bearer ${token(signer, { sub, scope: 'events:write' })}` });
    const victim = { ...PURCHASE, playerUniqueId: 'victim', idempotencyKey: 'k' };
    expect((await track(gateway, victim, as('victim'))).data).toEqual(DONE);
    // Twenty keys in one operation; the first of these callers goes over its bound of 1,000.
    const inputs = Array.from({ length: 20 }, (_, i) => `i${i}`);
    const query = `mutation (${inputs.map((name) => `$${name}: TrackEventsInput!`)}) {
      ${inputs.map((name) => `${name}: trackEvents(input: $${name}) { eventNames }`)} }`;
    const codes: unknown[] = [];
    const flood = async (caller: string, first: number) => {
      const inputOf = (i: number) => ({
        playerUniqueId: caller,
        events: [{ name: 'e' }],
        idempotencyKey: `${first + i}`,
      });
      const variables = Object.fromEntries(inputs.map((name, i) => [name, inputOf(i)]));
      const { errors } = await gateway.query(query, variables, as(caller));
      codes.push(...errors.map(({ extensions }) => `${caller} ${extensions['code']} ${extensions['outcome']}`));
    };
    for (let first = 0; first <= 1_000; first += 100) {
      const firsts = [0, 20, 40, 60, 80].map((more) => first + more).filter((one) => one <= 1_000);
      await Promise.all(firsts.map((one) => flood('c0', one)));
    }
    await Promise.all(Array.from({ length: 11 }, (_, i) => flood(`c${i + 1}`, 0)));
    expect(codes).toEqual(Array.from({ length: 20 }, () => 'c0 RATE_LIMITED NOT_DONE'));
    upstream.forget();
    expect((await track(gateway, victim, as('victim'))).data).toEqual(DONE);
    expect(sent()).toBe(0);
  }, 60_000);
});

describe('keys in memory', () => {
  test('a key is kept for 24 hours', async () => {
    let now = 1;
    const keys = createMemoryKeys(() => now);
    await keys.claim('k', 'a');
    now += 86_400_000 - 1;
    expect(await keys.claim('k', 'b')).toEqual({ record: 'a', ageMs: 86_399_999 });
    now += 1;
    expect(await keys.claim('k', 'b')).toBeUndefined();
  });

  test('when memory is full new keys are refused, and no old one is evicted', async () => {
    const keys = createMemoryKeys(() => 1, 2);
    await keys.claim('a', 'a');
    await keys.claim('b', 'b');
    await expect(keys.claim('c', 'c')).rejects.toThrow();
    expect(await keys.claim('a', 'c')).toEqual({ record: 'a', ageMs: 0 });
    await keys.release('b', 'another');
    await expect(keys.claim('c', 'c')).rejects.toThrow();
    await keys.release('b', 'b');
    expect(await keys.claim('c', 'c')).toBeUndefined();
  });
});

(redisIsInstalled ? describe : describe.skip)('replicas with one Redis', () => {
  let redis: TestRedis;
  let inspect: Redis;
  beforeAll(async () => {
    redis = await startRedis();
    inspect = new Redis(redis.port);
  });
  beforeEach(() => inspect.flushall());
  afterAll(async () => {
    inspect.disconnect();
    await redis.kill();
  });
  const env = (host = `127.0.0.1:${redis.port}`) => ({ REDIS_URL: `redis://${host}/0` });

  test('an event that comes to both at once, many times, is sent once', async () => {
    const both = [await start(env()), await start(env())];
    const idempotencyKey = 'key-of-this-test';
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => both.map((gateway) => send(gateway, { idempotencyKey }))).flat(),
    );
    for (const { data } of responses) expect(data).toEqual(DONE);
    expect(sent()).toBe(1);
    expect(both.map((gateway) => gateway.logged()).join()).not.toContain(idempotencyKey);
  });

  test('each knows the outcome of the other, and refuses another input', async () => {
    const [a, b] = [await start({ ...env(), REST_TIMEOUT_MS: '300' }), await start(env())];
    upstream.on('POST /event', { status: 400, json: { code: 5, message: 'no' } }, { fault: 'hang' }, 'usual');
    expect((await send(a, { idempotencyKey: 'k' })).data.trackEvents.userErrors).toMatchObject([{ code: 'REJECTED' }]);
    expect((await send(a, { idempotencyKey: 'k' })).errors).toMatchObject(UNKNOWN);
    expect((await send(b, { idempotencyKey: 'k' })).errors).toMatchObject(UNKNOWN);
    expect(sent()).toBe(2);
    expect((await send(b, { idempotencyKey: 'l' })).data).toEqual(DONE);
    expect((await send(a, { idempotencyKey: 'l' })).data).toEqual(DONE);
    const events = [{ name: 'subscribe' }];
    expect((await send(a, { idempotencyKey: 'l', events })).data.trackEvents.userErrors).toEqual([
      { code: 'INVALID', field: ['input', 'idempotencyKey'] },
    ]);
    expect(sent()).toBe(3);
  });

  test('what Redis holds has a bounded size, ends after 24 hours, and names nobody', async () => {
    const gateway = await start(env());
    const events = [{ name: 'place_order', metadata: { text: 'long '.repeat(10_000) } }];
    await send(gateway, { idempotencyKey: 'secret-key', events });
    const [key = ''] = await inspect.keys('gateway:*:key:*');
    const stored = JSON.stringify([key, await inspect.get(key)]);
    expect(stored.length).toBeLessThan(500);
    expect(stored).not.toMatch(/secret-key|p1"|place_order/);
    expect(await inspect.pttl(key)).toBeGreaterThan(86_400_000 - 60_000);
    expect(await inspect.pttl(key)).toBeLessThanOrEqual(86_400_000);
  });

  test('the lease of a gateway that cannot record the outcome ends: unknown, and never sent again', async () => {
    const proxy = await startProxy(redis.port, '127.0.0.1');
    cleanUps.push(() => proxy.close());
    const [a, b] = [await start({ ...env(proxy.host), OPERATION_TIMEOUT_MS: '2000' }), await start(env())];
    // The first operation of a process takes longest.
    await send(a, { idempotencyKey: 'first' });
    upstream.forget();
    const held = upstream.hold('POST /event');
    const first = send(a, { idempotencyKey: 'k' });
    await held.arrived;
    proxy.hang();
    held.release();
    expect((await first).data).toEqual(DONE);
    // While the claim lasts a repetition is retryable, so `send` repeats it until the claim has ended.
    expect((await send(b, { idempotencyKey: 'k' })).errors).toMatchObject(UNKNOWN);
    expect(sent()).toBe(1);
  });

  test.each(['cut', 'hang'] as const)(
    'Redis is not reachable (%s): events with a key are refused, others are sent',
    async (fault) => {
      const proxy = await startProxy(redis.port, '127.0.0.1');
      cleanUps.push(() => proxy.close());
      const gateway = await start(env(proxy.host));
      proxy.hang();
      if (fault === 'cut') proxy.cut();
      for (let repetition = 0; repetition < 3; repetition += 1) {
        const { status, errors } = await track(gateway, { idempotencyKey: 'k' });
        expect(status).toBe(200);
        expect(errors).toMatchObject([
          { extensions: { code: 'OVERLOADED', outcome: 'NOT_DONE', retryable: true, retryAfterMs: 1_000 } },
        ]);
      }
      expect(sent()).toBe(0);
      expect((await track(gateway, {})).data).toEqual(DONE);
      expect(sent()).toBe(1);
    },
  );
});
