import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { loadConfig } from '../../src/config/config.ts';
import { secretOf } from '../../src/config/secret.ts';
import { createMemoryStore, createRedisStore } from '../../src/graphql/idempotency-store.ts';
import { connectRedis } from '../../src/process/redis.ts';
import { createRedisTimeout } from '../../src/redis-timeout.ts';
import { atEnd } from '../kit/at-end.ts';
import { startGateway, type TestGateway } from '../kit/gateway.ts';
import { type Answer, post } from '../kit/post.ts';
import { redisIsInstalled, startRedis, type TestRedis } from '../kit/redis.ts';
import { startProxy } from '../kit/tcp-proxy.ts';
import { bearer, secretSigner, UNLIMITED } from '../kit/tokens.ts';
import { until } from '../kit/until.ts';
import { startUpstream, type Upstream } from '../kit/upstream.ts';

/* Events with an idempotency key reach the REST service at most once, whatever happens between it, the gateway and a client. */

const TRACK =
  'mutation Track($input: TrackEventsInput!) { trackEvents(input: $input) { eventNames userErrors { code field } } }';
const PURCHASE = { playerUniqueId: 'p1', events: [{ name: 'place_order', metadata: { amount: 49.9, shop: 'a' } }] };
/** Everything but `Date`. */
const REAL_TIMERS = [
  ...(['nextTick', 'queueMicrotask', 'performance', 'hrtime'] as const),
  ...(['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'clearImmediate'] as const),
];
/** The longest key. */
const KEY = 'ü'.repeat(128);
const DONE = { trackEvents: { eventNames: ['place_order'], userErrors: [] } };
const UNKNOWN = [{ path: ['trackEvents'], extensions: { outcome: 'UNKNOWN', retryable: false } }];
const refused = (code: string, field: string[]) => ({ trackEvents: { eventNames: [], userErrors: [{ code, field }] } });
const OTHER_INPUT = refused('INVALID', ['input', 'idempotencyKey']);

let upstream: Upstream;
beforeEach(async () => {
  upstream = await startUpstream();
});
const start = (env: Record<string, string> = {}) => startGateway(upstream.url, env);
const track = ({ query }: TestGateway, input: object, headers?: Record<string, string>): Promise<Answer> =>
  query(TRACK, { input: { ...PURCHASE, idempotencyKey: KEY, ...input } }, headers);
/** As a client does: repeats what is retryable. Redis on a busy machine may take longer than the gateway waits for it. */
async function send(gateway: TestGateway, input: object = {}): Promise<Answer> {
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
    for (let repetition = 0; repetition < 2; repetition += 1) {
      const { data } = await gateway.query(query, { input: { ...PURCHASE, idempotencyKey: 'key-of-this-test' } });
      expect(data.trackEvents).toEqual({ eventNames: ['place_order'], player: { id: 'p1' } });
    }
    const player = 'GET /integrations/player/p1';
    expect(upstream.calls()).toEqual(['POST /integrations/event', player, player]);
    await gateway.query(query, { input: PURCHASE });
    expect(gateway.logged()).not.toContain('key-of-this-test');
    const lines = [...gateway.logged().matchAll(/^.*"msg":"operation".*$/gm)].map(([line]) => JSON.parse(line).reports);
    expect(lines).toEqual([
      { keyed: 1, unkeyed: 0, repeated: 0 },
      { keyed: 1, unkeyed: 0, repeated: 1 },
      { keyed: 0, unkeyed: 1, repeated: 0 },
    ]);
    const metrics = await gateway.metrics();
    const counts = ['keyed', 'unkeyed', 'repeated'].map(
      (kind) => new RegExp(`gateway_event_reports_total\\{kind="${kind}"\\} (\\d+)`).exec(metrics)?.[1],
    );
    expect(counts).toEqual(['2', '1', '1']);
  });

  test('a key belongs to a caller and a player', async () => {
    const signer = secretSigner();
    const gateway = await start(signer.env);
    for (const headers of ['server-a', 'server-b'].map((sub) => bearer(signer, { sub }))) {
      for (const playerUniqueId of ['p1', 'p2'])
        expect((await track(gateway, { playerUniqueId }, headers)).data).toEqual(DONE);
    }
    expect(sent()).toBe(4);
  });

  const [purchase] = PURCHASE.events;
  test.each<[string, object[], data: object]>([
    ['another value', [{ ...purchase, metadata: { amount: 50, shop: 'a' } }], OTHER_INPUT],
    ['one event more', [...PURCHASE.events, { name: 'subscribe' }], OTHER_INPUT],
    ['its metadata in another order', [{ ...purchase, metadata: { shop: 'a', amount: 49.9 } }], DONE],
  ])('a key that comes again with %s sends nothing', async (_what, events, data) => {
    const gateway = await start();
    await track(gateway, {});
    expect(await track(gateway, { events })).toMatchObject({ data, errors: [] });
    expect(sent()).toBe(1);
  });

  test.each(['hang', 'reset'] as const)('an event with the fault %s is never sent again', async (fault) => {
    const gateway = await start({ REST_TIMEOUT_MS: '300' });
    upstream.on('POST /event', { fault }, 'usual');
    for (let repetition = 0; repetition < 2; repetition += 1) {
      expect(await track(gateway, {})).toMatchObject({ data: { trackEvents: null }, errors: UNKNOWN });
    }
    expect(sent()).toBe(1);
  });

  test('an event that was not sent, or was refused by the service, is sent when it comes again', async () => {
    const gateway = await start();
    await upstream.stop();
    const { errors } = await track(gateway, {});
    expect(errors).toMatchObject([{ extensions: { outcome: 'NOT_DONE', retryable: true } }]);
    await upstream.restart();
    upstream.on('POST /event', { status: 400, json: { code: 5, message: 'no' } }, 'usual');
    expect((await track(gateway, {})).data).toEqual(refused('REJECTED', ['input']));
    expect((await track(gateway, {})).data).toEqual(DONE);
    expect(sent()).toBe(2);
  });

  test('a repetition of an operation that is under way is told to come again', async () => {
    const gateway = await start();
    const held = upstream.hold('POST /event');
    const first = track(gateway, {});
    await held.arrived;
    const { errors } = await track(gateway, {});
    const extensions = { code: 'UPSTREAM_TIMEOUT', outcome: 'UNKNOWN', retryable: true, retryAfterMs: 1_000 };
    expect(errors).toMatchObject([{ extensions }]);
    held.release();
    for (const { data } of [await first, await track(gateway, {})]) expect(data).toEqual(DONE);
    expect(sent()).toBe(1);
  });

  test('an event whose response is lost on the way to the client is sent once, and its repetition is DONE', async () => {
    const gateway = await start();
    const { port, hostname } = new URL(gateway.url);
    const proxy = await startProxy(Number(port), hostname);
    const held = upstream.hold('POST /event');
    const variables = { input: { ...PURCHASE, idempotencyKey: KEY } };
    const lost = expect(post(`http://${proxy.host}`, { query: TRACK, variables })).rejects.toThrow('fetch failed');
    await held.arrived;
    proxy.cut();
    held.release();
    await lost;
    expect((await send(gateway)).data).toEqual(DONE);
    expect(sent()).toBe(1);
  });

  test('a player has as many keys as a day may have, 1,000 by default; over them, it takes no key from another caller', async () => {
    const signer = secretSigner();
    expect(loadConfig({}).idempotencyKeys.player).toBe(1_000);
    const gateway = await start({ ...signer.env, ...UNLIMITED, MAX_IDEMPOTENCY_KEYS_PER_DAY: '100' });
    const as = (sub: string) => bearer(signer, { sub, scope: 'events:write' });
    const victim = { playerUniqueId: 'victim' };
    expect((await track(gateway, victim, as('victim'))).data).toEqual(DONE);
    const codes: unknown[] = [];
    for (let key = 0; key <= 100; key += 1) {
      const { errors } = await track(gateway, { playerUniqueId: 'c', idempotencyKey: `${key}` }, as('c'));
      codes.push(...errors.map(({ extensions }) => `${extensions['code']} ${extensions['outcome']}`));
    }
    expect(codes).toEqual(['RATE_LIMITED NOT_DONE']);
    upstream.forget();
    expect((await track(gateway, victim, as('victim'))).data).toEqual(DONE);
    expect(sent()).toBe(0);
  });

  test('a caller over its keys waits until its oldest end; its old keys, keys of nothing done and others do not', async () => {
    const redis = redisIsInstalled ? [{ REDIS_URL: (await startRedis()).url }] : [];
    for (const store of [{}, ...redis]) {
      const signer = secretSigner();
      const most = { MAX_IDEMPOTENCY_KEYS_PER_DAY: '2', MAX_SERVER_IDEMPOTENCY_KEYS_PER_DAY: '3' };
      const gateway = await start({ ...signer.env, ...most, ...store });
      const player = bearer(signer, { sub: 'p1', scope: 'events:write' });
      const server = bearer(signer, { sub: 'shop', scope: 'events:write any-player' });
      const claim = (idempotencyKey: string, headers: object) => track(gateway, { idempotencyKey }, { ...headers });
      upstream.on('POST /event', { status: 400, json: { code: 5, message: 'no' } }, 'usual');
      expect((await claim('refused', player)).data).toEqual(refused('REJECTED', ['input']));
      for (const key of ['one', 'two']) expect((await claim(key, player)).data).toEqual(DONE);
      const [over] = (await claim('three', player)).errors;
      expect(over?.extensions).toMatchObject({ code: 'RATE_LIMITED', outcome: 'NOT_DONE', retryable: true });
      const waitMs = Number(over?.extensions['retryAfterMs']);
      expect(Number.isInteger(waitMs) && waitMs > 86_000_000 && waitMs <= 86_400_000).toBe(true);
      for (const key of ['one', 'two']) expect((await claim(key, player)).data).toEqual(DONE);
      for (const key of ['one', 'two', 'three']) expect((await claim(key, server)).data).toEqual(DONE);
      expect((await claim('four', server)).codes).toEqual(['RATE_LIMITED']);
      expect(sent()).toBe(6);
      upstream.forget();
    }
  });
});

describe('keys in memory', () => {
  const HOUR = 3_600_000;
  const keyOf = (caller: string, key: unknown, max = 1_000_000) => ({ caller, key: `${key}`, max });

  test('are kept for 24 hours each, and their caller may have others as soon as the oldest end', async () => {
    let now = 1;
    const keys = createMemoryStore(() => now);
    const claim = (key: string, entry = 'a') => keys.claim(keyOf('one', key, 3), entry);
    for (const key of ['first', 'second']) expect(await claim(key)).toBeUndefined();
    now += HOUR;
    expect(await claim('third')).toBeUndefined();
    now += HOUR;
    expect(await claim('fourth')).toEqual({ retryAfterMs: 22 * HOUR });
    await keys.release(keyOf('one', 'third'), 'of another claim');
    expect(await claim('fourth')).toEqual({ retryAfterMs: 22 * HOUR });
    await keys.release(keyOf('one', 'third'), 'a');
    expect(await claim('fourth')).toBeUndefined();
    now += 22 * HOUR - 1;
    expect(await claim('first', 'b')).toEqual({ entry: 'a', ageMs: 24 * HOUR - 1 });
    now += 1;
    expect(await claim('first', 'b')).toBeUndefined();
    expect(await claim('fourth', 'b')).toEqual({ entry: 'a', ageMs: 22 * HOUR });
  });

  test('have room for each caller, however many keys the others have', async () => {
    const keys = createMemoryStore(() => 1);
    /** How many keys a caller gets. */
    const fill = async (caller: string, most = 1_000_000) => {
      for (let key = 0; key < most; key += 1) {
        const found = await keys.claim(keyOf(caller, key), 'a');
        if (found) return expect(found).toEqual({ retryAfterMs: 24 * HOUR }) ?? key;
      }
      return most;
    };
    const servers = [await fill('shop'), await fill('till'), await fill('app')];
    expect(servers).toEqual([100_000, 50_000, 25_000]);
    for (let player = 0; player < 100; player += 1) expect(await fill(`player-${player}`, 20)).toBe(20);
    expect(await keys.claim(keyOf('shop', 0), 'b')).toEqual({ entry: 'a', ageMs: 0 });
  });

  test('of callers that do not return make room for others', async () => {
    let now = 1;
    const keys = createMemoryStore(() => now);
    for (let caller = 0; caller < 200_000; caller += 1) await keys.claim(keyOf(`${caller}`, 'k'), 'a');
    await expect(keys.claim(keyOf('late', 'k'), 'a')).rejects.toThrow('200000 idempotency keys are in memory');
    now += 24 * HOUR;
    expect(await keys.claim(keyOf('late', 'k'), 'a')).toBeUndefined();
  });
});

(redisIsInstalled ? describe : describe.skip)('replicas with one Redis', () => {
  let redis: TestRedis;
  let inspect: Redis;
  beforeAll(async () => {
    redis = await startRedis();
    inspect = new Redis(redis.port);
    atEnd(() => inspect.disconnect());
  });
  beforeEach(() => inspect.flushall());
  const env = (host = `127.0.0.1:${redis.port}`) => ({ REDIS_URL: `redis://${host}/0` });

  test('an event that comes to both at once, many times, is sent once', async () => {
    const both = [await start(env()), await start(env())];
    const sending = Array.from({ length: 10 }, () => both.map((gateway) => send(gateway))).flat();
    for (const { data } of await Promise.all(sending)) expect(data).toEqual(DONE);
    expect(sent()).toBe(1);
  });

  test('each knows the outcome of the other, and refuses another input', async () => {
    const [a, b] = [await start({ ...env(), REST_TIMEOUT_MS: '300' }), await start(env())];
    upstream.on('POST /event', { fault: 'hang' }, 'usual');
    for (const gateway of [a, b]) expect((await send(gateway)).errors).toMatchObject(UNKNOWN);
    expect(sent()).toBe(1);
    const idempotencyKey = 'l';
    for (const gateway of [b, a]) expect((await send(gateway, { idempotencyKey })).data).toEqual(DONE);
    expect((await send(a, { idempotencyKey, events: [{ name: 'subscribe' }] })).data).toEqual(OTHER_INPUT);
    expect(sent()).toBe(2);
  });

  test('a replica whose clock is an hour ahead says that an operation is under way, and then its outcome', async () => {
    const [a, b] = [await start(env()), await start(env())];
    const held = upstream.hold('POST /event');
    const first = send(a);
    await held.arrived;
    jest.useFakeTimers({ now: Date.now() + 3_600_000, doNotFake: REAL_TIMERS });
    atEnd(() => jest.useRealTimers());
    const extensions = { code: 'UPSTREAM_TIMEOUT', outcome: 'UNKNOWN', retryable: true };
    expect((await track(b, {})).errors).toMatchObject([{ extensions }]);
    held.release();
    for (const { data } of [await first, await track(b, {})]) expect(data).toEqual(DONE);
    expect(sent()).toBe(1);
  });

  test('what Redis holds has a bounded size, ends after 24 hours, and names nobody', async () => {
    const events = [{ name: 'place_order', metadata: { text: 'long '.repeat(10_000) } }];
    await send(await start(env()), { idempotencyKey: 'secret-key', events });
    const [key = ''] = await inspect.keys('gateway:*:key:*');
    const stored = JSON.stringify([key, await inspect.get(key)]);
    expect(stored.length).toBeLessThan(500);
    expect(stored).not.toMatch(/secret-key|p1"|place_order/);
    const leftMs = await inspect.pttl(key);
    expect(leftMs > 86_340_000 && leftMs <= 86_400_000).toBe(true);
  });

  test('a claim whose answer came while the process was busy is no failure', async () => {
    const [url, config] = [secretOf(redis.url), loadConfig({ REDIS_TIMEOUT_MS: '50' })];
    const shared = await connectRedis(url, 'http://rewards.example', config, pino({ level: 'silent' }));
    atEnd(() => shared.stop());
    const store = createRedisStore(shared.redis, shared.withLongTimeout);
    const claimed = store.claim({ key: 'busy', caller: 'one', max: 3 }, 'entry');
    // It is written in this turn; then nothing is read for longer than Redis may take.
    await new Promise(setImmediate);
    for (const end = performance.now() + 200; performance.now() < end; );
    expect(await claimed).toBeUndefined();
  });

  test('keys that ended no longer count, and the oldest that count say when another one may come', async () => {
    const store = createRedisStore(inspect, createRedisTimeout(5_000, 0));
    const claim = (key: string) => store.claim({ key, caller: 'one', max: 3 }, 'entry');
    for (const key of ['first', 'second', 'third']) expect(await claim(key)).toBeUndefined();
    const counts = Object.values(await inspect.hgetall('keys-of:one'));
    expect(counts.reduce((all, one) => all + Number(one), 0)).toBe(3);
    // As if the first had been claimed 25 hours ago, and the others 23.
    const [seconds = 0] = await inspect.time();
    const step = Math.floor(seconds / 300);
    await inspect.del('keys-of:one');
    await inspect.hset('keys-of:one', { [step - 25 * 12]: 1, [step - 23 * 12]: 2 });
    expect(await claim('fourth')).toBeUndefined();
    const over = await claim('fifth');
    const waitMs = over && 'retryAfterMs' in over ? over.retryAfterMs : 0;
    expect(waitMs > 3_000_000 && waitMs <= 3_600_000).toBe(true);
    await store.release({ key: 'fourth', caller: 'one', max: 3 }, 'entry');
    expect(await claim('fifth')).toBeUndefined();
  });

  test('the claim of a gateway that cannot record the outcome ends: unknown, and never sent again', async () => {
    const proxy = await startProxy(redis.port);
    const [a, b] = [
      await start({ ...env(proxy.host), REST_TIMEOUT_MS: '2000', OPERATION_TIMEOUT_MS: '2000' }),
      await start(env()),
    ];
    // The first operation of a process takes longest.
    await send(a, { idempotencyKey: 'first' });
    upstream.forget();
    const held = upstream.hold('POST /event');
    const first = send(a);
    await held.arrived;
    proxy.hang();
    held.release();
    expect((await first).data).toEqual(DONE);
    // While the claim lasts a repetition is retryable, so `send` repeats it until the claim has ended.
    expect((await send(b)).errors).toMatchObject(UNKNOWN);
    expect(sent()).toBe(1);
  });

  test.each([
    ['the connection is lost', 'DONE'],
    ['Redis is full', 'DONE'],
    ['Redis is a replica', 'DONE'],
    ['Redis is full', 'NOT_DONE'],
  ])('when %s as %s is recorded, both gateways know it afterwards', async (fault, outcome) => {
    const own = await startRedis();
    const client = new Redis(own.port);
    atEnd(() => client.disconnect());
    const proxy = await startProxy(own.port);
    const [a, b] = [await start(env(proxy.host)), await start({ REDIS_URL: own.url })];
    await send(a, { idempotencyKey: 'first' });
    upstream.forget();
    const held = upstream.hold('POST /event', outcome === 'DONE' ? 'usual' : { status: 429 });
    const first = track(a, {});
    await held.arrived;
    if (fault === 'the connection is lost') {
      proxy.cut();
    } else if (fault === 'Redis is full') await client.config('SET', 'maxmemory', '1');
    else await client.replicaof('127.0.0.1', '1');
    held.release();
    const extensions = { outcome: 'NOT_DONE', retryable: true };
    if (outcome === 'DONE') expect((await first).data).toEqual(DONE);
    else expect((await first).errors).toMatchObject([{ extensions }]);
    await client.config('SET', 'maxmemory', '0');
    await client.replicaof('NO', 'ONE');
    // One that is refused until `a` is connected again, or finds the claim, is repeated.
    for (const gateway of [a, b]) expect((await send(gateway)).data).toEqual(DONE);
    expect(sent()).toBe(outcome === 'DONE' ? 1 : 2);
  });

  test.each([
    ['is full', 'DONE'],
    ['hangs', 'DONE'],
    ['hangs', 'UNKNOWN'],
  ])('while Redis %s and does not take %s, the gateway that sent the events tells it', async (fault, outcome) => {
    const own = await startRedis();
    const admin = new Redis(own.port);
    atEnd(() => admin.disconnect());
    const gateway = await start({ REDIS_URL: own.url });
    const signUp = { playerUniqueId: 'p8', idempotencyKey: 'sign-up-8', events: [{ name: 'sign_up' }] };
    await send(gateway, { idempotencyKey: 'first' });
    upstream.forget();
    const held = upstream.hold('POST /event', outcome === 'DONE' ? 'usual' : { fault: 'reset' });
    const first = track(gateway, signUp);
    await held.arrived;
    if (fault === 'hangs') own.hang();
    else await admin.config('SET', 'maxmemory', '1');
    held.release();
    const answers = [await first, await track(gateway, signUp), await track(gateway, signUp)];
    for (const { data, errors } of answers) {
      if (outcome === 'UNKNOWN') expect(errors).toMatchObject(UNKNOWN);
      else expect(data).toEqual({ trackEvents: { eventNames: ['sign_up'], userErrors: [] } });
    }
    expect((await track(gateway, { ...signUp, events: [{ name: 'visit' }] })).data).toEqual(OTHER_INPUT);
    expect(sent()).toBe(1);
  });

  describe('a claim that cannot be released, because Redis is a replica,', () => {
    async function startReplica() {
      const own = await startRedis();
      const client = new Redis(own.port);
      atEnd(() => client.disconnect());
      const store = createRedisStore(client, createRedisTimeout(5_000, 0));
      const key = { key: 'order-7', caller: 'kiosk', max: 3 };
      expect(await store.claim(key, 'first')).toBeUndefined();
      await client.replicaof('127.0.0.1', '1');
      await store.release(key, 'first');
      expect(await client.get('key:order-7')).toBe('first');
      await client.replicaof('NO', 'ONE');
      return { client, claim: () => store.claim(key, 'second') };
    }

    test('is released before it is claimed again', async () => {
      const { claim } = await startReplica();
      expect(await claim()).toBeUndefined();
    });

    test('is released when it takes writes again, without another request', async () => {
      const { client } = await startReplica();
      await until(async () => (await client.get('key:order-7')) === null);
    });
  });

  test('an event that was refused while Redis hung is sent when Redis answers again', async () => {
    const own = await startRedis();
    const gateway = await start({ REDIS_URL: own.url });
    await send(gateway, { idempotencyKey: 'first' });
    upstream.forget();
    own.hang();
    const extensions = { code: 'OVERLOADED', outcome: 'NOT_DONE', retryable: true };
    expect((await track(gateway, {})).errors).toMatchObject([{ extensions }]);
    expect(gateway.logged()).toContain('"reason":"There was no response in time');
    own.resume();
    expect((await send(gateway)).data).toEqual(DONE);
    expect(sent()).toBe(1);
  });

  test('a key that is claimed again and again while Redis hangs asks it once for each claim', async () => {
    const own = await startRedis();
    const client = new Redis(own.port);
    atEnd(() => client.disconnect());
    await client.ping();
    own.hang();
    let asked = 0;
    const withLongTimeout = createRedisTimeout(20, 0);
    const store = createRedisStore(client, (ask) => {
      asked += 1;
      return withLongTimeout(ask);
    });
    const key = { key: 'order-9', caller: 'till', max: 100 };
    for (let n = 0; n < 60; n += 1) await expect(store.claim(key, `claim-${n}`)).rejects.toThrow();
    expect(asked).toBeLessThan(100);
    own.resume();
    await until(() =>
      store.claim(key, 'last').then(
        (found) => found === undefined,
        () => false,
      ),
    );
    expect(await client.get('key:order-9')).toBe('last');
  });

  /** A store with a Redis of its own, which has 20 ms for a response. */
  async function startStore() {
    const own = await startRedis();
    const client = new Redis(own.port);
    atEnd(() => client.disconnect());
    return { own, client, store: createRedisStore(client, createRedisTimeout(20, 0)) };
  }

  test('while Redis hangs, a repetition that got no answer does not hide the outcome that came after it', async () => {
    const { own, client, store } = await startStore();
    const order = { key: 'order-12', caller: 'till', max: 100 };
    expect(await store.claim(order, 'claim')).toBeUndefined();
    own.hang();
    const repetition = store.claim(order, 'repetition');
    await store.replace(order, 'DONE');
    await expect(repetition).rejects.toThrow();
    expect(await store.claim(order, 'another')).toEqual({ entry: 'DONE', ageMs: 0 });
    own.resume();
    await until(async () => (await client.get('key:order-12')) === 'DONE');
  });

  test('while Redis hangs, 24,000 claims of other keys do not replace an outcome that it did not take', async () => {
    const { own, client, store } = await startStore();
    const order = { key: 'order-10', caller: 'till', max: 100_000 };
    expect(await store.claim(order, 'claim')).toBeUndefined();
    own.hang();
    await store.replace(order, 'DONE');
    // As many at once as there can be requests in flight.
    for (let n = 0; n < 24_000; n += 1_000) {
      const keys = Array.from({ length: 1_000 }, (_, index) => ({ ...order, key: `order-of-others-${n + index}` }));
      await Promise.allSettled(keys.map((key) => store.claim(key, 'claim')));
    }
    expect(await store.claim(order, 'repetition')).toEqual({ entry: 'DONE', ageMs: 0 });
    own.resume();
    await until(async () => (await client.get('key:order-10')) === 'DONE');
    await until(() =>
      store.claim({ ...order, key: 'order-11' }, 'claim').then(
        () => true,
        () => false,
      ),
    );
  });

  test('an event whose claim got no answer before the connection closed is sent when it is repeated', async () => {
    const proxy = await startProxy(redis.port);
    const gateway = await start(env(proxy.host));
    await send(gateway, { idempotencyKey: 'first' });
    upstream.forget();
    proxy.cutReplyTo('PEXPIRE');
    expect((await track(gateway, {})).errors).toMatchObject([{ extensions: { code: 'OVERLOADED' } }]);
    expect((await send(gateway)).data).toEqual(DONE);
    expect(sent()).toBe(1);
  });

  test.each(['cut', 'hang'])('without Redis (%s) events with a key are refused, others sent', async (fault) => {
    const proxy = await startProxy(redis.port);
    const gateway = await start(env(proxy.host));
    proxy.hang();
    if (fault === 'cut') proxy.cut();
    const extensions = { code: 'OVERLOADED', outcome: 'NOT_DONE', retryable: true, retryAfterMs: 1_000 };
    for (let repetition = 0; repetition < 2; repetition += 1) {
      expect(await track(gateway, {})).toMatchObject({ status: 200, errors: [{ extensions }] });
    }
    expect(sent()).toBe(0);
    expect((await track(gateway, { idempotencyKey: null })).data).toEqual(DONE);
    expect(sent()).toBe(1);
  });
});
