import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { type Answer, post, startGateway, type TestGateway } from '../kit/gateway.ts';
import { type GatewayProcess, startProcess } from '../kit/process.ts';
import { redisIsInstalled, startRedis, type TestRedis } from '../kit/redis.ts';
import { startProxy } from '../kit/tcp-proxy.ts';
import { secretSigner, token } from '../kit/tokens.ts';
import { until } from '../kit/until.ts';
import { startUpstream, type Upstream } from '../kit/upstream.ts';

/* Two gateways on one Redis behave as one. */
const hashed = (text: string) => ({
  persistedQuery: { version: 1, sha256Hash: createHash('sha256').update(text).digest('hex') },
});
const signer = secretSigner();
const SCOPES = 'players:read players:write coupons:read';
const player = (sub: string) => ({ authorization: `Bearer ${token(signer, { sub, scope: SCOPES })}` });
const codesOf = ({ errors }: Answer) => errors.map(({ extensions }) => extensions['code']);
/** A promise that `open` resolves. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}
const read = (sub: string, fields = 'id') => `{ player(playerUniqueId: "${sub}") { ${fields} } }`;

(redisIsInstalled ? describe : describe.skip)('two gateways on one Redis', () => {
  let upstream: Upstream;
  let server: TestRedis;
  let redis: Redis;
  const gateways: TestGateway[] = [];
  const start = async (env: Record<string, string> = {}, restUrl = upstream.url) => {
    // Only where Redis is meant to be lost it is waited for as briefly as in production.
    const options = env['REDIS_URL'] ? {} : { redisWithinMs: 10_000 };
    const gateway = await startGateway(restUrl, { ...signer.env, REDIS_URL: server.url, ...env }, options);
    gateways.push(gateway);
    return gateway;
  };
  const ask = async (gateway: TestGateway, query: string, sub: string) => gateway.query(query, {}, player(sub));

  beforeAll(async () => {
    upstream = await startUpstream();
    server = await startRedis();
    redis = new Redis(server.port);
  });
  beforeEach(async () => {
    upstream.forget();
    await redis.flushall();
  });
  afterEach(async () => {
    await Promise.all(gateways.splice(0).map((gateway) => gateway.close()));
  });
  afterAll(async () => {
    redis.disconnect();
    await server.kill();
    await upstream.close();
  });

  test('a persisted query registered on one is known to the other', async () => {
    const [a, b] = [await start(), await start()];
    const query = '{ me { id } }';
    const sha256Hash = createHash('sha256').update(query).digest('hex');
    const extensions = { persistedQuery: { version: 1, sha256Hash } };
    expect(codesOf(await post(b.url, { extensions }, player('p1')))).toEqual(['PERSISTED_QUERY_NOT_FOUND']);
    expect((await post(a.url, { query, extensions }, player('p1'))).data).toEqual({ me: { id: 'p1' } });
    expect((await post(b.url, { extensions }, player('p1'))).data).toEqual({ me: { id: 'p1' } });
  });

  test('a query that was changed in Redis is not run', async () => {
    const gateway = await start();
    const sha256Hash = createHash('sha256').update('{ me { id } } # changed').digest('hex');
    await post(gateway.url, { query: '{ me { id } }', extensions: hashed('{ me { id } }') }, player('p1'));
    const [registered = ''] = await redis.keys('gateway:*:apq:*');
    await redis.set(registered.replace(/[0-9a-f]{64}$/, sha256Hash), '{ me { referralLink } }');
    upstream.forget();
    const answer = await post(
      gateway.url,
      { extensions: { persistedQuery: { version: 1, sha256Hash } } },
      player('p1'),
    );
    expect(codesOf(answer)).toEqual(['PERSISTED_QUERY_NOT_FOUND']);
    expect(upstream.calls()).toEqual([]);
  });

  test('a rate limit is common: what one gives out the other does not have', async () => {
    const env = { MAX_OPERATIONS_PER_SECOND: '1', MAX_OPERATIONS_BURST: '6' };
    const both = [await start(env), await start(env)];
    const began = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => both.map((gateway) => ask(gateway, '{ __typename }', 'limited'))).flat(),
    );
    const seconds = (performance.now() - began) / 1_000;
    const allowed = answers.filter(({ status }) => status === 200).length;
    expect(allowed).toBeGreaterThanOrEqual(6);
    expect(allowed).toBeLessThanOrEqual(6 + Math.ceil(seconds));
    const refused = answers.filter(({ status }) => status === 429);
    expect(new Set(refused.flatMap(codesOf))).toEqual(new Set(['RATE_LIMITED']));
    expect((await ask(both[0] ?? (await start()), '{ __typename }', 'another')).status).toBe(200);
  });

  test('the limit of coupons is common', async () => {
    const env = { MAX_COUPON_READS_PER_SECOND: '1', MAX_COUPON_READS_BURST: '1' };
    const [a, b] = [await start(env), await start(env)];
    expect((await ask(a, read('p2', 'a: coupons { code } b: coupons { code }'), 'p2')).errors).toEqual([]);
    const answer = await ask(b, read('p2', 'id coupons { code }'), 'p2');
    expect({ status: answer.status, id: answer.data.player.id }).toEqual({ status: 200, id: 'p2' });
    expect(codesOf(answer)).toContain('RATE_LIMITED');
  });

  test('the coupons of 50 players are one command', async () => {
    const gateway = await start();
    const anyone = { authorization: `Bearer ${token(signer, { sub: 's', scope: `${SCOPES} any-player` })}` };
    const ids = Array.from({ length: 50 }, (_, i) => `"c${i}"`).join(' ');
    const query = `{ players(playerUniqueIds: [${ids}]) { id coupons { code } } }`;
    await gateway.query(query, {}, anyone);
    const monitor = await redis.monitor();
    const commands: string[] = [];
    monitor.on('monitor', (_time: string, [command, ...args]: string[], source: string) => {
      const key = args.find((arg) => /^(?:gateway:|end$)/.test(arg));
      if (key && source !== 'lua') commands.push(`${command} ${key.replace(/.*rate:/, '').split(':')[0]}`);
    });
    expect((await gateway.query(query, {}, anyone)).errors).toEqual([]);
    // Redis sends what it saw before this command's reply.
    await redis.set('end', '1');
    await until(() => commands.includes('set end'));
    expect(commands.filter((command) => command.startsWith('evalsha'))).toEqual([
      'evalsha server-operations',
      'evalsha server-couponReads',
    ]);
    monitor.disconnect();
  });

  test('gateways of two accounts share nothing: each event is sent, each has its own limit', async () => {
    // An event costs two.
    const env = { MAX_OPERATIONS_PER_SECOND: '1', MAX_OPERATIONS_BURST: '20' };
    const both = [await start(env), await start(env, upstream.url.replace('127.0.0.1', 'localhost'))];
    const headers = { authorization: `Bearer ${token(signer, { sub: 'two', scope: 'events:write' })}` };
    const event =
      'mutation { trackEvents(input: { playerUniqueId: "two", events: [{ name: "a" }], idempotencyKey: "k" }) { eventNames } }';
    for (const { query } of both) expect((await query(event, {}, headers)).errors).toEqual([]);
    expect(upstream.calls()).toEqual(['POST /integrations/event', 'POST /integrations/event']);
    for (let i = 1; i < 10; i += 1) {
      for (const { query } of both) expect((await query(event, {}, headers)).status).toBe(200);
    }
    for (const { query } of both) expect((await query(event, {}, headers)).status).toBe(429);
  });

  test('an operation costs as much as its complexity says', async () => {
    const env = { MAX_OPERATIONS_PER_SECOND: '1', MAX_OPERATIONS_BURST: '10' };
    const both = [await start(env), await start(env)];
    const nodes = Array.from({ length: 13 }, () => 'status').join(' ');
    const costly = `{ me { id referredFriends(limit: 200) { nodes { ${nodes} } } } }`;
    const headers = { authorization: `Bearer ${token(signer, { sub: 'costly', scope: `${SCOPES} referrals:read` })}` };
    const statuses = [];
    for (const { query } of both) statuses.push((await query(costly, {}, headers)).status);
    expect(statuses).toEqual([200, 429]);
  });

  describe('without an answer from Redis', () => {
    const env = { MAX_OPERATIONS_PER_SECOND: '1', MAX_OPERATIONS_BURST: '3' };

    const startWay = async () => {
      const proxy = await startProxy(server.port, '127.0.0.1');
      return { ...proxy, env: { REDIS_URL: `redis://${proxy.host}/0` } };
    };

    test.each(['cut', 'hang'] as const)('Redis is not reachable (%s): limits are per process', async (fault) => {
      const way = await startWay();
      const gateway = await start({ ...env, ...way.env });
      expect((await ask(gateway, read('p3'), 'p3')).data).toEqual({ player: { id: 'p3' } });
      if (fault === 'cut') await way.close();
      else way.hang();
      const began = performance.now();
      const answers: Answer[] = [];
      for (let i = 0; i < 10; i++) answers.push(await ask(gateway, '{ __typename }', fault));
      const seconds = (performance.now() - began) / 1_000;
      const allowed = answers.filter(({ status }) => status === 200).length;
      expect(allowed).toBeGreaterThanOrEqual(3);
      expect(allowed).toBeLessThanOrEqual(3 + Math.ceil(seconds));
      if (fault === 'hang') await way.close();
    });

    test('a gateway starts without Redis', async () => {
      const way = await startWay();
      await way.close();
      const gateway = await start(way.env);
      expect((await ask(gateway, read('p1'), 'p1')).data).toEqual({ player: { id: 'p1' } });
      expect(gateway.logged()).toContain('Redis is not reachable');
    });
  });
});

/** On a busy machine a read may be held for longer than the default of three seconds. */
const PATIENT = { REST_TIMEOUT_MS: '30000', OPERATION_TIMEOUT_MS: '30000' };

describe('two gateways as they are shipped', () => {
  let upstream: Upstream;
  let server: TestRedis | undefined;
  let both: [GatewayProcess, GatewayProcess];
  beforeAll(async () => {
    upstream = await startUpstream();
    server = redisIsInstalled ? await startRedis() : undefined;
    const env = { REST_BASE_URL: upstream.url, ...PATIENT, ...signer.env, ...(server && { REDIS_URL: server.url }) };
    both = await Promise.all([startProcess(env), startProcess(env)]);
  });
  beforeEach(() => upstream.forget());
  afterAll(async () => {
    for (const gateway of both) await gateway.kill();
    await server?.kill();
    await upstream.close();
  });
  const ask = ({ url }: GatewayProcess, query: string, sub: string) => post(url, { query }, player(sub));

  test('return no stale data, to 100 reads after a write that the other one acknowledged', async () => {
    const cities = new Map<unknown, string>();
    upstream.on('POST /player', ({ body }) => {
      const { playerUniqueId, playerAttributes } = Object(body);
      cities.set(playerUniqueId, playerAttributes.city);
      return { json: {} };
    });
    const query = '{ me { attributes { city } } }';
    const cityIn = ({ data }: Answer) => data.me.attributes.city;
    const isStale = async (round: number) => {
      const sub = `player-${round}`;
      const [writer, reader] = round % 2 === 0 ? both : [both[1], both[0]];
      // Two earlier reads take their data when they arrive, and are answered after the write.
      const [arrived, written] = [gate(), gate()];
      held.set(sub, { arrived: arrived.open, written: written.opened });
      const earlier = both.map((gateway) => ask(gateway, query, sub));
      await arrived.opened;
      const write = `mutation { upsertPlayer(input: { playerUniqueId: "${sub}", attributes: { city: "Bonn" } }) { userErrors { code } } }`;
      expect((await ask(writer, write, sub)).data).toEqual({ upsertPlayer: { userErrors: [] } });
      const later = ask(reader, query, sub);
      // Another request has gone through this gateway since, so the read has had time to join an earlier one.
      await ask(reader, '{ __typename }', sub);
      written.open();
      expect((await Promise.all(earlier)).map(cityIn)).toEqual(['none', 'none']);
      return cityIn(await later) !== 'Bonn';
    };
    const held = new Map<unknown, { arrived: () => void; written: Promise<void> }>();
    const waiting = new Set<unknown>();
    upstream.on('GET /player', ({ playerUniqueId }) => {
      const json = { playerUniqueId, playerAttributes: { city: cities.get(playerUniqueId) ?? 'none' } };
      if (cities.has(playerUniqueId)) return { json };
      if (waiting.has(playerUniqueId)) held.get(playerUniqueId)?.arrived();
      waiting.add(playerUniqueId);
      return { json, after: held.get(playerUniqueId)?.written ?? Promise.resolve() };
    });
    let stale = 0;
    for (let round = 0; round < 100; round += 20) {
      const rounds = Array.from({ length: 20 }, (_, index) => isStale(round + index));
      stale += (await Promise.all(rounds)).filter(Boolean).length;
    }
    expect(stale).toBe(0);
  }, 180_000);

  test('serve all others while one player is throttled, one gets a 400 and the coupons of one hang', async () => {
    const coupons = gate();
    upstream.on('GET /player', ({ playerUniqueId }) => {
      if (playerUniqueId === 'throttled') return { status: 429, headers: { 'retry-after': '30' } };
      return playerUniqueId === 'stray' ? { status: 400, json: { code: 5, message: 'no' } } : 'usual';
    });
    upstream.on('GET /coupon', ({ playerUniqueId }) =>
      playerUniqueId === 'slow' ? { after: coupons.opened, json: {} } : 'usual',
    );
    const screen = '{ me(lang: "de") { attributes { firstName } coupons { code } } }';
    const slow = both.map((gateway) => ask(gateway, screen, 'slow'));
    for (const [sub, code] of [
      ['throttled', 'UPSTREAM_UNAVAILABLE'],
      ['stray', 'UPSTREAM_REJECTED'],
    ] as const) {
      for (const gateway of both) expect(codesOf(await ask(gateway, screen, sub))).toContain(code);
    }
    upstream.forget();
    const others = Array.from({ length: 100 }, (_, index) => ask(both[index % 2 ? 0 : 1], screen, `p${index}`));
    for (const { errors, data } of await Promise.all(others)) {
      expect(errors).toEqual([]);
      expect(data.me.coupons).toHaveLength(10);
    }
    const reads = upstream.requests.filter(({ endpoint }) => endpoint === 'GET /player');
    expect(reads.map(({ headers }) => headers['lang'])).toEqual(Array(100).fill('de'));
    for (const gateway of both)
      expect((await gateway.page('/metrics')).text).toContain('rest_breaker{state="closed"} 1');
    coupons.open();
    await Promise.all(slow);
  });
});
