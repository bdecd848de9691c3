import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { type Answer, post, startGateway, type TestGateway } from '../kit/gateway.ts';
import { freePort, redisIsInstalled, startRedis } from '../kit/redis.ts';
import { startProxy } from '../kit/tcp-proxy.ts';
import { secretSigner, token } from '../kit/tokens.ts';
import { until } from '../kit/until.ts';
import { atEnd, start, upstream } from './setup.ts';

/* Two gateways on one Redis behave as one. */
const signer = secretSigner();
const SCOPES = 'players:read players:write coupons:read';
const player = (sub: string, scope = SCOPES) => ({ authorization: `Bearer ${token(signer, { sub, scope })}` });
const codesOf = ({ errors }: Answer) => errors.map(({ extensions }) => extensions['code']);
const hashed = (text: string) => ({
  persistedQuery: { version: 1, sha256Hash: createHash('sha256').update(text).digest('hex') },
});

async function startOn(redisUrl: string, env: Record<string, string> = {}, restUrl = upstream.url) {
  const gateway = await startGateway(restUrl, { ...signer.env, REDIS_URL: redisUrl, ...env });
  atEnd(gateway.close);
  return gateway;
}

/** Two gateways, the second perhaps with another URL of the REST service, and a client of their Redis. */
async function startBoth(env: Record<string, string> = {}, otherUrl = upstream.url) {
  const server = await startRedis();
  atEnd(server.kill);
  const redis = new Redis(server.port);
  atEnd(() => redis.disconnect());
  return { a: await startOn(server.url, env), b: await startOn(server.url, env, otherUrl), redis, server };
}

const allowedOf = (answers: Answer[]) => answers.filter(({ status }) => status === 200).length;

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

  test('limits of operations and of coupons are common, and Redis does not see the caller', async () => {
    const limits = { MAX_OPERATIONS_PER_SECOND: '1', MAX_OPERATIONS_BURST: '6' };
    const { a, b, redis } = await startBoth({
      ...limits,
      MAX_COUPON_READS_PER_SECOND: '1',
      MAX_COUPON_READS_BURST: '1',
    });
    const began = performance.now();
    const ten = Array.from({ length: 10 }, () => [a, b]).flat();
    const answers = await Promise.all(ten.map(({ query }) => query('{ __typename }', {}, player('limited'))));
    expect(allowedOf(answers)).toBeGreaterThanOrEqual(6);
    expect(allowedOf(answers)).toBeLessThanOrEqual(6 + Math.ceil((performance.now() - began) / 1_000));
    expect(new Set(answers.flatMap(codesOf))).toEqual(new Set(['RATE_LIMITED']));
    expect((await a.query('{ me { coupons { code } } }', {}, player('p2'))).errors).toEqual([]);
    const answer = await b.query('{ me { id coupons { code } } }', {}, player('p2'));
    expect([answer.status, answer.data.me.id, codesOf(answer)]).toEqual([200, 'p2', ['RATE_LIMITED']]);
    expect((await redis.keys('*')).filter((key) => /limited|p2/.test(key))).toEqual([]);
  });

  test('the coupons of 50 players are one command', async () => {
    const { a, redis } = await startBoth();
    const ids = Array.from({ length: 50 }, (_, i) => `"c${i}"`).join(' ');
    const query = `{ players(playerUniqueIds: [${ids}]) { id coupons { code } } }`;
    const anyone = player('s', `${SCOPES} any-player`);
    await a.query(query, {}, anyone);
    const monitor = await redis.monitor();
    const commands: string[] = [];
    monitor.on('monitor', (_time: string, [command, ...args]: string[], source: string) => {
      const key = args.find((arg) => /^(?:gateway:|end$)/.test(arg));
      if (key && source !== 'lua') commands.push(`${command} ${key.replace(/.*rate:/, '').split(':')[0]}`);
    });
    expect((await a.query(query, {}, anyone)).errors).toEqual([]);
    // Redis sends what it saw before this command's reply.
    await redis.set('end', '1');
    await until(() => commands.includes('set end'));
    const limits = commands.filter((command) => command.startsWith('evalsha'));
    expect(limits).toEqual(['evalsha server-operations', 'evalsha server-couponReads']);
    monitor.disconnect();
  });

  test('gateways of two accounts share nothing: each event is sent, each has its own limit', async () => {
    // An event costs two.
    const limits = { MAX_OPERATIONS_PER_SECOND: '1', MAX_OPERATIONS_BURST: '20' };
    const { a, b } = await startBoth(limits, upstream.url.replace('127.0.0.1', 'localhost'));
    const event =
      'mutation { trackEvents(input: { playerUniqueId: "two", events: [{ name: "a" }], idempotencyKey: "k" }) { eventNames } }';
    for (let i = 1; i <= 10; i += 1) {
      for (const { query } of [a, b]) expect((await query(event, {}, player('two', 'events:write'))).status).toBe(200);
    }
    expect(upstream.calls()).toEqual(['POST /integrations/event', 'POST /integrations/event']);
    for (const { query } of [a, b]) expect((await query(event, {}, player('two', 'events:write'))).status).toBe(429);
  });

  test.each(['cut', 'hang'] as const)('Redis is not reachable (%s): limits are per process', async (fault) => {
    const { server } = await startBoth();
    const proxy = await startProxy(server.port, '127.0.0.1');
    atEnd(proxy.close);
    const limits = { MAX_OPERATIONS_PER_SECOND: '1', MAX_OPERATIONS_BURST: '3' };
    const gateway = await startOn(`redis://${proxy.host}/0`, limits);
    expect((await gateway.query('{ me { id } }', {}, player('p3'))).data).toEqual({ me: { id: 'p3' } });
    proxy.hang();
    if (fault === 'cut') proxy.cut();
    const began = performance.now();
    const answers: Answer[] = [];
    for (let i = 0; i < 10; i++) answers.push(await gateway.query('{ __typename }', {}, player(fault)));
    expect(allowedOf(answers)).toBeGreaterThanOrEqual(3);
    expect(allowedOf(answers)).toBeLessThanOrEqual(3 + Math.ceil((performance.now() - began) / 1_000));
  });
});

test('a gateway starts without its Redis', async () => {
  const gateway: TestGateway = await startOn(`redis://127.0.0.1:${await freePort()}`);
  expect((await gateway.query('{ me { id } }', {}, player('p1'))).data).toEqual({ me: { id: 'p1' } });
  expect(gateway.logged()).toContain('Redis is not reachable');
});

describe('two gateways as they are shipped', () => {
  /** On a busy machine a read may be held for longer than the default of three seconds. */
  const patient = { REST_TIMEOUT_MS: '30000', OPERATION_TIMEOUT_MS: '30000', ...signer.env };
  const ask = ({ url }: { url: string }, query: string, sub: string) => post(url, { query }, player(sub));

  test('return no stale data, to 20 reads after a write that the other one acknowledged', async () => {
    const [a, b] = await Promise.all([start(patient), start(patient)]);
    const cityIn = ({ data }: Answer) => data.me.attributes.city;
    const query = '{ me { attributes { city } } }';
    for (let round = 0; round < 20; round += 1) {
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

  test('serve all others while one player is throttled, one gets a 400 and the coupons of one hang', async () => {
    const both = await Promise.all([start(patient), start(patient)]);
    upstream.on('GET /player', ({ playerUniqueId }) => {
      if (playerUniqueId === 'throttled') return { status: 429, headers: { 'retry-after': '30' } };
      return playerUniqueId === 'stray' ? { status: 400, json: { code: 5, message: 'no' } } : 'usual';
    });
    const held = both.map(() => upstream.hold('GET /coupon'));
    const screen = '{ me(lang: "de") { attributes { firstName } coupons { code } } }';
    const slow = both.map((gateway) => ask(gateway, screen, 'slow'));
    await Promise.all(held.map(({ arrived }) => arrived));
    for (const gateway of both) {
      expect(codesOf(await ask(gateway, screen, 'throttled'))).toContain('UPSTREAM_UNAVAILABLE');
      expect(codesOf(await ask(gateway, screen, 'stray'))).toContain('UPSTREAM_REJECTED');
    }
    upstream.forget();
    const others = await Promise.all(both.flatMap((gateway) => both.map((_, i) => ask(gateway, screen, `p${i}`))));
    for (const { errors, data } of others) expect([errors, data.me.coupons.length]).toEqual([[], 10]);
    const reads = upstream.requests.filter(({ endpoint }) => endpoint === 'GET /player');
    expect(reads.map(({ headers }) => headers['lang'])).toEqual(others.map(() => 'de'));
    for (const { page } of both) expect((await page('/metrics')).text).toContain('rest_breaker{state="closed"} 1');
    for (const { release } of held) release();
    await Promise.all(slow);
  });
});
