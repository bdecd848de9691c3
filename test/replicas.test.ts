import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { type Answer, post, startGateway, type TestGateway } from './kit/gateway.ts';
import { secretSigner, token } from './kit/tokens.ts';
import { startUpstream, type Upstream } from './kit/upstream.ts';

/*
 * Two gateways on one Redis behave as one. Needs a Redis on this machine; keys stand under a prefix of this run's own.
 */
const REDIS = { host: '127.0.0.1', port: 6379 };
const prefix = `test-${randomUUID()}:`;
const redisUrl = (port: number) => `redis://${REDIS.host}:${port}/0?keyPrefix=${prefix}`;

async function isReachable(): Promise<boolean> {
  const socket = connect(REDIS);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    process.stderr.write(`No Redis at ${REDIS.host}:${REDIS.port}: the tests of several replicas are skipped.\n`);
    return false;
  } finally {
    socket.destroy();
  }
}

/** A way to Redis that can be cut, or can stop answering. */
async function startWay() {
  const pairs = new Set<[Socket, Socket]>();
  let silent = false;
  const server = createServer((client) => {
    const redis = connect(REDIS);
    const pair: [Socket, Socket] = [client, redis];
    pairs.add(pair);
    for (const socket of pair) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        for (const either of pair) either.destroy();
        pairs.delete(pair);
      });
    }
    client.on('data', (data) => void (silent || redis.write(data)));
    redis.on('data', (data) => void (silent || client.write(data)));
  });
  await once(server.listen(0, REDIS.host), 'listening');
  const { port } = server.address() as AddressInfo;
  const cut = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
  };
  return {
    url: redisUrl(port),
    silence() {
      silent = true;
    },
    async close() {
      const closed = server.listening ? once(server.close(), 'close') : undefined;
      cut();
      await closed;
    },
  };
}

const hashed = (text: string) => ({
  persistedQuery: { version: 1, sha256Hash: createHash('sha256').update(text).digest('hex') },
});
const signer = secretSigner();
const SCOPES = 'players:read players:write coupons:read';
const player = (sub: string) => ({ authorization: `Bearer ${token(signer, { sub, scope: SCOPES })}` });
const codesOf = ({ errors }: Answer) => errors.map(({ extensions }) => extensions['code']);
const read = (sub: string, fields = 'id') => `{ player(playerUniqueId: "${sub}") { ${fields} } }`;

((await isReachable()) ? describe : describe.skip)('two gateways on one Redis', () => {
  let upstream: Upstream;
  const gateways: TestGateway[] = [];
  const start = async (env: Record<string, string> = {}, restUrl = upstream.url) => {
    const gateway = await startGateway(restUrl, { ...signer.env, REDIS_URL: redisUrl(REDIS.port), ...env });
    gateways.push(gateway);
    return gateway;
  };
  const ask = async (gateway: TestGateway, query: string, sub: string) => gateway.query(query, {}, player(sub));

  beforeAll(async () => {
    upstream = await startUpstream();
  });
  beforeEach(() => upstream.forget());
  afterEach(async () => {
    await Promise.all(gateways.splice(0).map((gateway) => gateway.close()));
  });
  afterAll(async () => {
    await upstream.close();
    const redis = new Redis(REDIS);
    const keys = await redis.keys(`${prefix}*`);
    if (keys.length > 0) await redis.del(...keys);
    redis.disconnect();
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
    const redis = new Redis(REDIS);
    await post(gateway.url, { query: '{ me { id } }', extensions: hashed('{ me { id } }') }, player('p1'));
    const [registered = ''] = await redis.keys(`${prefix}gateway:*:apq:*`);
    await redis.set(registered.replace(/[0-9a-f]{64}$/, sha256Hash), '{ me { referralLink } }');
    upstream.forget();
    redis.disconnect();
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
    const server = { authorization: `Bearer ${token(signer, { sub: 's', scope: `${SCOPES} any-player` })}` };
    const ids = Array.from({ length: 50 }, (_, i) => `"c${i}"`).join(' ');
    const query = `{ players(playerUniqueIds: [${ids}]) { id coupons { code } } }`;
    await gateway.query(query, {}, server);
    const redis = new Redis(REDIS);
    const monitor = await redis.monitor();
    const commands: string[] = [];
    monitor.on('monitor', (_time: string, [command, ...args]: string[], source: string) => {
      const key = args.find((arg) => arg.startsWith(prefix));
      if (key && source !== 'lua') commands.push(`${command} ${key.replace(/.*rate:/, '').split(':')[0]}`);
    });
    expect((await gateway.query(query, {}, server)).errors).toEqual([]);
    // Redis sends what it saw before this command's reply.
    await redis.set(`${prefix}end`, '1', 'EX', 60);
    while (!commands.some((command) => command.startsWith('set'))) await new Promise(setImmediate);
    expect(commands.filter((command) => command.startsWith('evalsha'))).toEqual([
      'evalsha server-operations',
      'evalsha server-coupons',
    ]);
    monitor.disconnect();
    redis.disconnect();
  });

  test('gateways of two accounts share nothing: each event is sent, each has its own limit', async () => {
    const env = { MAX_OPERATIONS_PER_SECOND: '1', MAX_OPERATIONS_BURST: '10' };
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

    test.each<[string, (way: Awaited<ReturnType<typeof startWay>>) => unknown]>([
      ['Redis is cut off', (way) => way.close()],
      ['Redis says nothing', (way) => way.silence()],
    ])('%s: operations run, and the limits are this process’s own', async (name, fault) => {
      const way = await startWay();
      const gateway = await start({ ...env, REDIS_URL: way.url });
      expect((await ask(gateway, read('p3'), 'p3')).data).toEqual({ player: { id: 'p3' } });
      await fault(way);
      const began = performance.now();
      const answers: Answer[] = [];
      for (let i = 0; i < 10; i++) answers.push(await ask(gateway, '{ __typename }', name));
      const seconds = (performance.now() - began) / 1_000;
      const allowed = answers.filter(({ status }) => status === 200).length;
      expect(allowed).toBeGreaterThanOrEqual(3);
      expect(allowed).toBeLessThanOrEqual(3 + Math.ceil(seconds));
      await way.close();
    });

    test('a gateway starts without Redis', async () => {
      const way = await startWay();
      await way.close();
      const gateway = await start({ REDIS_URL: way.url });
      expect((await ask(gateway, read('p1'), 'p1')).data).toEqual({ player: { id: 'p1' } });
      expect(gateway.logged()).toContain('Redis is not reachable');
    });
  });
});
