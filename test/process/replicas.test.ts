import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { describe, expect, jest, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { loadConfig } from '../../src/config/config.ts';
import { createRateLimits } from '../../src/limits/rate-limits.ts';
import { createRedisTimeout } from '../../src/redis-timeout.ts';
import { JSON_TYPE } from '../hostile/row.ts';
import { atEnd } from '../kit/at-end.ts';
import { startGateway } from '../kit/gateway.ts';
import { type Answer, post } from '../kit/post.ts';
import { requestBytes } from '../kit/raw.ts';
import { redisIsInstalled, startRedis } from '../kit/redis.ts';
import { secretSigner, token } from '../kit/tokens.ts';
import { until } from '../kit/until.ts';
import { start, upstream } from './setup.ts';

const signer = secretSigner();
const player = (sub: string, scope = 'players:read players:write coupons:read') => ({
  authorization: `Bearer ${token(signer, { sub, scope })}`,
});
const codesOf = ({ errors }: Answer) => errors.map(({ extensions }) => extensions['code']);
const hashed = (text: string) => ({
  persistedQuery: { version: 1, sha256Hash: createHash('sha256').update(text).digest('hex') },
});

/** Two gateways, the second perhaps with another URL of the REST service, and a client of their Redis. */
async function startBoth(env: Record<string, string> = {}, otherUrl = upstream.url) {
  const server = await startRedis();
  const redis = new Redis(server.port);
  atEnd(() => redis.disconnect());
  const startOn = async (restUrl: string) => {
    const gateway = await startGateway(restUrl, { ...signer.env, REDIS_URL: server.url, ...env });
    return gateway;
  };
  return { a: await startOn(upstream.url), b: await startOn(otherUrl), redis, server };
}

/** Expects that of the answers as many are refused as one limit of 1 a second allows, since it began. */
function expectLimited(answers: Answer[], burst: number, began: number): void {
  const allowed = answers.filter(({ status }) => status === 200).length;
  expect(allowed).toBeGreaterThanOrEqual(burst);
  expect(allowed).toBeLessThanOrEqual(burst + Math.ceil((performance.now() - began) / 1_000));
  expect(new Set(answers.flatMap(codesOf))).toEqual(new Set(['RATE_LIMITED']));
}

(redisIsInstalled ? describe : describe.skip)('two gateways on one Redis', () => {
  test('a persisted query registered on one is known to the other, and is not run when it was changed in Redis', async () => {
    const { a, b, redis } = await startBoth();
    const query = '{ me { id } }';
    const extensions = hashed(query);
    expect(codesOf(await post(b.url, { extensions }, player('p1')))).toEqual(['PERSISTED_QUERY_NOT_FOUND']);
    expect((await post(a.url, { query, extensions }, player('p1'))).data).toEqual({ me: { id: 'p1' } });
    expect((await post(b.url, { extensions }, player('p1'))).data).toEqual({ me: { id: 'p1' } });
    const changed = hashed('{ me { id } } # changed');
    const [registered = ''] = await redis.keys('gateway:*:apq:*');
    await redis.set(registered.replace(/[0-9a-f]{64}$/, changed.persistedQuery.sha256Hash), '{ me { referralLink } }');
    const answer = await post(a.url, { extensions: changed }, player('p1'));
    expect(codesOf(answer)).toEqual(['PERSISTED_QUERY_NOT_FOUND']);
  });

  test('writes on one connection whose client leaves while Redis is asked for their text are not sent', async () => {
    const { a, b, server } = await startBoth();
    const query = 'mutation { trackEvents(input: { playerUniqueId: "p1", events: [{ name: "e" }] }) { eventNames } }';
    const body = { extensions: hashed(query) };
    const writer = player('p1', 'events:write');
    await post(a.url, { query, ...body }, writer);
    // Redis is not asked for a token that is known; the gateway waits for it as long as this test needs.
    await post(b.url, { query: '{ __typename }' }, writer);
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
    atEnd(() => jest.useRealTimers());
    server.hang();
    const client = connect(Number(new URL(b.url).port), '127.0.0.1');
    const headers = ['Connection: keep-alive', JSON_TYPE, `Authorization: ${writer.authorization}`];
    for (const _ of 'abc') client.write(requestBytes({ headers, body: JSON.stringify(body) }));
    await until(async () => (await b.metrics()).includes('gateway_operations_active 3\n'));
    client.resetAndDestroy();
    await until(async () => (await b.metrics()).includes('gateway_operations_active 0\n'));
    server.resume();
    await until(() => b.logged().split('"msg":"operation"').length === 5);
    expect(upstream.calls()).toEqual(['POST /integrations/event']);
  });

  test('limits of operations and of coupons are common, and Redis does not see the caller', async () => {
    const { a, b, redis } = await startBoth({
      ...{ MAX_OPERATIONS_PER_SECOND: '1', MAX_OPERATIONS_BURST: '6' },
      ...{ MAX_COUPON_READS_PER_SECOND: '1', MAX_COUPON_READS_BURST: '1' },
    });
    const began = performance.now();
    const ten = Array.from({ length: 10 }, () => [a, b]).flat();
    expectLimited(await Promise.all(ten.map(({ query }) => query('{ __typename }', {}, player('limited')))), 6, began);
    expect((await a.query('{ me { coupons { code } } }', {}, player('p2'))).errors).toEqual([]);
    const answer = await b.query('{ me { id coupons { code } } }', {}, player('p2'));
    expect([answer.status, answer.data.me.id, codesOf(answer)]).toEqual([200, 'p2', ['RATE_LIMITED']]);
    expect((await redis.keys('*')).filter((key) => /limited|player:/.test(key))).toEqual([]);
  });

  test('requests over a limit cost Redis a command a second at most, without a token too', async () => {
    const limits = { MAX_FAILED_AUTHENTICATIONS_PER_SECOND: '1', MAX_FAILED_AUTHENTICATIONS_BURST: '60' };
    const { a, redis } = await startBoth({ ...limits, MAX_OPERATIONS_PER_SECOND: '1', MAX_OPERATIONS_BURST: '60' });
    const callsOf = (info: string, name: string) =>
      Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(info)?.[1] ?? 0);
    // Without the checks of Redis, each of which uses HGETALL once; limits do not.
    const commands = async () => {
      const info = await redis.info('commandstats');
      return callsOf(info, 'eval') - callsOf(info, 'hgetall');
    };
    await a.query('{ __typename }', {}, player('p1'));
    for (const headers of [player('p1'), {}]) {
      const ask = () => a.query('{ __typename }', {}, { ...headers });
      while ((await ask()).status !== 429);
      const [before, began] = [await commands(), performance.now()];
      for (let left = 100; left > 0; left -= 1) expect((await ask()).status).toBe(429);
      expect(await commands()).toBeLessThanOrEqual(before + 1 + (performance.now() - began) / 1_000);
    }
  });

  test('failed authentications that were forgiven refuse nobody', async () => {
    const { redis } = await startBoth();
    const failedAuthentications = { perSecond: 1, burst: 10 };
    const rates = createRateLimits(
      { ...loadConfig({}).rates, failedAuthentications },
      { redis, withTimeout: createRedisTimeout(1_000) },
    );
    const { count, forgive } = rates.failureOf('192.0.2.1');
    const counted = await Promise.allSettled(Array.from({ length: 11 }, count));
    expect(counted.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    for (let forgiven = 0; forgiven < 10; forgiven += 1) forgive();
    await count();
  });

  test('the coupons of 50 players consume their limit by one command', async () => {
    const { a, redis } = await startBoth();
    // One token: the verification of another one is counted too.
    const server = player('server', 'players:read coupons:read any-player');
    const ask = (count: number) => {
      const ids = Array.from({ length: count }, (_, index) => `p${index}`);
      const query = 'query ($ids: [ID!]!) { players(playerUniqueIds: $ids) { coupons { code } } }';
      return a.query(query, { ids }, server);
    };
    const callsOf = (info: string, name: string) =>
      Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(info)?.[1] ?? 0);
    // Without the checks of Redis, each of which uses HGETALL once; limits do not.
    const commands = async () => {
      const info = await redis.info('commandstats');
      return callsOf(info, 'eval') - callsOf(info, 'hgetall');
    };
    await ask(1);
    const before = await commands();
    expect((await ask(50)).errors).toEqual([]);
    expect(upstream.calls()).toHaveLength(51);
    // The others are for the request, and for what else the operation costs.
    expect(await commands()).toBe(before + 3);
  });

  test('gateways of two accounts share nothing: each event is sent, each has its own limit', async () => {
    // An event costs two.
    const limits = { MAX_OPERATIONS_PER_SECOND: '1', MAX_OPERATIONS_BURST: '20' };
    const { a, b } = await startBoth(limits, upstream.url.replace('127.0.0.1', 'localhost'));
    const event =
      'mutation { trackEvents(input: { playerUniqueId: "two", events: [{ name: "a" }], idempotencyKey: "k" }) { eventNames } }';
    for (const status of [...Array(10).fill(200), 429]) {
      for (const { query } of [a, b])
        expect(await query(event, {}, player('two', 'events:write'))).toMatchObject({ status });
    }
    expect(upstream.calls()).toEqual(['POST /integrations/event', 'POST /integrations/event']);
  });

  test.each(['kill', 'hang'] as const)('Redis is not reachable (%s): limits are per process', async (fault) => {
    const { a, server } = await startBoth({ MAX_OPERATIONS_PER_SECOND: '1', MAX_OPERATIONS_BURST: '3' });
    await server[fault]();
    const began = performance.now();
    const answers: Answer[] = [];
    for (let i = 0; i < 10; i++) answers.push(await a.query('{ __typename }', {}, player('p3')));
    expectLimited(answers, 3, began);
  });
});

test('two gateways as they are shipped return no stale data, to 100 reads after a write that the other one acknowledged', async () => {
  const ask = ({ url }: { url: string }, query: string, sub: string) => post(url, { query }, player(sub));
  const [a, b] = await Promise.all([start(signer.env), start(signer.env)]);
  const cityIn = ({ data }: Answer) => data.me.attributes.city;
  const query = '{ me { attributes { city } } }';
  for (let round = 0; round < 100; round += 1) {
    const [writer, reader] = round % 2 === 0 ? [a, b] : [b, a];
    const sub = `player-${round}`;
    const json = (city: string) => ({ json: { playerUniqueId: sub, playerAttributes: { city } } });
    // Two earlier reads take their data when they arrive, and are answered after the write.
    upstream.on('GET /player', json('Bonn'));
    const held = [a, b].map(() => upstream.hold('GET /player', json('none')));
    const earlier = [a, b].map((gateway) => ask(gateway, query, sub));
    await Promise.all(held.map(({ arrived }) => arrived));
    const write = `mutation { upsertPlayer(input: { playerUniqueId: "${sub}", attributes: { city: "Bonn" } }) { userErrors { code } } }`;
    expect((await ask(writer, write, sub)).data).toEqual({ upsertPlayer: { userErrors: [] } });
    expect(cityIn(await ask(reader, query, sub))).toBe('Bonn');
    for (const { release } of held) release();
    expect((await Promise.all(earlier)).map(cityIn)).toEqual(['none', 'none']);
  }
});
