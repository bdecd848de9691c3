import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { atEnd, newFolder } from '../kit/at-end.ts';
import { post } from '../kit/post.ts';
import { type GatewayProcess, spawnProcess } from '../kit/process.ts';
import { freePort, redisIsInstalled, startRedis } from '../kit/redis.ts';
import { startProxy } from '../kit/tcp-proxy.ts';
import { until } from '../kit/until.ts';
import { ask, start, upstream } from './setup.ts';

/* A Redis that is there, gone, or hangs: connected and silent. */

async function startBoth(env: Record<string, string> = {}) {
  const redis = await startRedis();
  return { redis, gateway: await start({ REDIS_URL: redis.url, ...env }) };
}

const track = ({ url }: GatewayProcess, key = 'k') => {
  const input = `input: { playerUniqueId: "p1", idempotencyKey: "${key}", events: [{ name: "buy" }] }`;
  return post(url, { query: `mutation { trackEvents(${input}) { eventNames } }` });
};
const isLost = ({ level, msg }: { level: number; msg: string }) => level === 40 && /^Redis is not reachable/.test(msg);
const isOther = ({ msg }: { msg: string }) => /^Redis is still not reachable, for another reason/.test(msg);
const isBack = ({ msg }: { msg: string }) => msg === 'Redis is reachable again';
const metricIs = ({ pageWhen }: GatewayProcess, up: 0 | 1) =>
  pageWhen('/metrics', ({ text }) => text.includes(`\ngateway_redis_up ${up}`));

(redisIsInstalled ? describe : describe.skip)('a gateway with a Redis of its own', () => {
  test('logs one line when it is lost and one when it is back, and the metrics show it', async () => {
    const { redis, gateway } = await startBoth();
    await metricIs(gateway, 1);
    await redis.kill();
    await metricIs(gateway, 0);
    await gateway.logged(isLost);
    expect((await ask(gateway)).status).toBe(200);
    await startRedis(redis.port);
    await gateway.logged(isBack);
    await metricIs(gateway, 1);
    expect([isLost, isBack].map((is) => gateway.log().filter(is).length)).toEqual([1, 1]);
  });

  test('a Redis whose memory is full counts as lost until it takes writes again', async () => {
    const { redis, gateway } = await startBoth();
    const client = new Redis(redis.port);
    atEnd(() => client.disconnect());
    await client.config('SET', 'maxmemory', '1');
    expect((await ask(gateway)).status).toBe(200);
    for (let event = 0; event < 3; event += 1) await track(gateway);
    await metricIs(gateway, 0);
    await client.config('SET', 'maxmemory', '0');
    // A replica refuses writes too, whoever connects to it again.
    await client.replicaof('127.0.0.1', '1');
    for (let query = 0; query < 50; query += 1) await ask(gateway);
    expect(/total_connections_received:(\d+)/.exec(await client.info('stats'))?.[1]).toMatch(/^[2-5]$/);
    expect([isLost, isBack].map((is) => gateway.log().filter(is).length)).toEqual([1, 0]);
    await client.replicaof('NO', 'ONE');
    await until(async () => (await ask(gateway)) && gateway.log().some(isBack));
    await client.acl('SETUSER', 'default', '-@write');
    expect((await ask(gateway)).status).toBe(200);
    await metricIs(gateway, 0);
  });

  test('each further error code of an outage is logged once; the next outage begins again', async () => {
    const { redis, gateway } = await startBoth();
    const client = new Redis(redis.port);
    atEnd(() => client.disconnect());
    const codeOf = ({ reason }: { reason: string }) => reason.split(' ')[0];
    const codes = (is: typeof isLost) => gateway.log().filter(is).map(codeOf);
    const others = () => codes(isOther).filter((code) => code !== 'the');
    await client.config('SET', 'maxmemory', '1');
    await gateway.logged(() => codes(isLost).join() === 'OOM');
    await client.replicaof('127.0.0.1', '1');
    await client.config('SET', 'maxmemory', '0');
    await gateway.logged(() => others().join() === 'READONLY');
    await client.acl('SETUSER', 'default', '-@write');
    await gateway.logged(() => others().join() === 'READONLY,NOPERM');
    await client.acl('SETUSER', 'default', '+@write');
    await client.replicaof('NO', 'ONE');
    await gateway.logged(isBack);
    expect([codes(isLost), others()]).toEqual([['OOM'], ['READONLY', 'NOPERM']]);
    await client.config('SET', 'maxmemory', '1');
    await gateway.logged(() => codes(isLost).join() === 'OOM,OOM');
    expect(codes(isOther).length).toBeLessThanOrEqual(3);
  });

  test.each(['eval', 'time', 'hincrby', 'pexpire', 'set'])(
    'a user that may not run %s has no Redis: one line says so, and the metrics show it',
    async (command) => {
      const redis = await startRedis();
      const admin = new Redis(redis.port);
      atEnd(() => admin.disconnect());
      await admin.acl('SETUSER', 'gateway', 'on', '>password', '~*', '+@all', `-${command}`);
      const gateway = await start({ REDIS_URL: `redis://gateway:password@127.0.0.1:${redis.port}` });
      expect((await gateway.logged(isLost)).reason).toMatch(/NOPERM|can't run this command/);
      await metricIs(gateway, 0);
      expect((await track(gateway)).errors[0]?.extensions).toMatchObject({ outcome: 'NOT_DONE', retryable: true });
      await admin.acl('SETUSER', 'gateway', `+${command}`);
      await gateway.logged(isBack);
      expect((await track(gateway)).codes).toEqual([]);
      expect([isLost, isBack].map((is) => gateway.log().filter(is).length)).toEqual([1, 1]);
    },
  );

  test('a user who loses a command later has no Redis either', async () => {
    const { redis, gateway } = await startBoth();
    const admin = new Redis(redis.port);
    atEnd(() => admin.disconnect());
    await metricIs(gateway, 1);
    await admin.acl('SETUSER', 'default', '-eval');
    expect((await gateway.logged(isLost)).reason).toMatch(/NOPERM/);
    await metricIs(gateway, 0);
    await admin.acl('SETUSER', 'default', '+eval');
    await gateway.logged(isBack);
    await metricIs(gateway, 1);
  });

  test('a Sentinel is refused in one sentence, by the start and by --probe', async () => {
    const primary = await startRedis();
    const conf = join(newFolder(), 'sentinel.conf');
    const port = await freePort();
    writeFileSync(conf, `port ${port}\nsentinel monitor one 127.0.0.1 ${primary.port} 1\n`);
    const sentinel = spawn('redis-server', [conf, '--sentinel']);
    atEnd(() => void sentinel.kill('SIGKILL'));
    await once(sentinel.stdout.setEncoding('utf8'), 'data');
    const client = new Redis(port);
    atEnd(() => client.disconnect());
    expect((await client.role())[0]).toBe('sentinel');
    const env = { REST_BASE_URL: upstream.url, REDIS_URL: `redis://127.0.0.1:${port}` };
    for (const command of [[], ['--probe']]) {
      const { ended, output } = spawnProcess(env, [], undefined, undefined, command);
      expect((await ended).code).toBe(1);
      expect(output().match(/^ *REDIS_URL: (?!\[sha256).*$/gm)).toEqual([
        expect.stringMatching(/such as a Sentinel; use the address of/),
      ]);
    }
  });

  test('the user that docs/security.md describes is allowed all that the gateway does, and no other key', async () => {
    const [, rule = ''] = /^ACL (SETUSER gateway .*)$/m.exec(readFileSync('docs/security.md', 'utf8')) ?? [];
    const redis = await startRedis();
    const admin = new Redis(redis.port);
    atEnd(() => admin.disconnect());
    expect(await admin.call('ACL', ...rule.replace('PASSWORD', 'password').split(' '))).toBe('OK');
    await admin.acl('SETUSER', 'default', 'off');
    const env = { REDIS_URL: `redis://gateway:password@127.0.0.1:${redis.port}` };
    const gateway = await start(env);
    expect((await track(gateway)).codes).toEqual([]);
    expect((await track(gateway)).codes).toEqual([]);
    upstream.on('POST /event', { status: 429, headers: { 'retry-after': '0' } });
    expect((await track(gateway, 'released')).codes).not.toEqual([]);
    const extensions = {
      persistedQuery: { version: 1, sha256Hash: createHash('sha256').update('{ me { id } }').digest('hex') },
    };
    for (const query of ['{ me { id } }', undefined])
      expect((await post(gateway.url, { query, extensions })).codes).toEqual([]);
    expect((await ask(gateway)).status).toBe(200);
    await metricIs(gateway, 1);
    expect(await admin.call('ACL', 'LOG')).toEqual([]);
    const user = new Redis(env.REDIS_URL);
    atEnd(() => user.disconnect());
    // Asked by --probe.
    expect((await user.role())[0]).toBe('master');
    await expect(user.get('another')).rejects.toThrow('NOPERM');
    await expect(user.flushall()).rejects.toThrow('NOPERM');
  });

  test('without INFO, as for some users and proxies, keys are shared, and nothing is printed about it', async () => {
    const redis = await startRedis();
    const admin = new Redis(redis.port);
    atEnd(() => admin.disconnect());
    await admin.acl('SETUSER', 'plain', 'on', '>password', '~*', '+@all', '-@dangerous');
    // As some proxies of Redis, which do not know the command.
    const other = await startRedis(undefined, ['--rename-command', 'INFO', '']);
    for (const REDIS_URL of [`redis://plain:password@127.0.0.1:${redis.port}`, other.url]) {
      const gateway = await start({ REDIS_URL });
      expect((await track(gateway)).codes).toEqual([]);
      await metricIs(gateway, 1);
      expect(gateway.output()).not.toContain('INFO');
    }
  });

  test('while Redis hangs, 150 operations at once and 150 after them succeed; of those, one a second asks it', async () => {
    const rate = { MAX_SERVER_OPERATIONS_PER_SECOND: '1000', MAX_SERVER_OPERATIONS_BURST: '10000' };
    const { redis, gateway } = await startBoth({ ...rate, MAX_CONCURRENT_OPERATIONS: '2000' });
    const client = new Redis(redis.port);
    atEnd(() => client.disconnect());
    // Once for each command of the gateway but its checks, each of which uses HGETALL once; limits do not.
    const commands = async () => {
      const calls = /cmdstat_(eval|hgetall):calls=(\d+)/g;
      const counts = Object.fromEntries(
        Array.from((await client.info('commandstats')).matchAll(calls), ([, name, count]) => [name, Number(count)]),
      );
      return (counts['eval'] ?? 0) - (counts['hgetall'] ?? 0);
    };
    await ask(gateway);
    const before = await commands();
    redis.hang();
    const answers = await Promise.all(Array.from({ length: 150 }, () => ask(gateway)));
    const began = performance.now();
    for (let left = 150; left > 0; left -= 1) answers.push(await ask(gateway));
    const seconds = (performance.now() - began) / 1_000;
    expect(answers.filter(({ status, data }) => status !== 200 || !data.player)).toEqual([]);
    await gateway.logged(isLost);
    redis.resume();
    // It reads what it was sent meanwhile a piece at a time.
    for (let piece = 0; piece < 20; piece += 1) await client.ping();
    expect(await commands()).toBeLessThanOrEqual(before + 150 + Math.ceil(seconds) + 3);
    await until(async () => {
      await ask(gateway);
      return gateway.log().some(isBack);
    });
  });

  test('while Redis hangs, only events with a key are refused, and each is sent when it is repeated later', async () => {
    const { redis, gateway } = await startBoth({ REDIS_TIMEOUT_MS: '100' });
    const untouched = (key: string) =>
      `mutation { trackEvents(input: { playerUniqueId: "p2", events: [{ name: "${key}" }] }) { eventNames } }`;
    redis.hang();
    const keyed = Array.from({ length: 20 }, (_, index) => track(gateway, `hanging-${index}`));
    const others = Array.from({ length: 20 }, (_, index) => [
      ask(gateway, `p${index}`),
      post(gateway.url, { query: untouched(`event${index}`) }),
    ]).flat();
    for (const { codes } of await Promise.all(others)) expect(codes).toEqual([]);
    for (const { codes, errors } of await Promise.all(keyed)) {
      expect([codes, errors[0]?.extensions]).toMatchObject([['OVERLOADED'], { outcome: 'NOT_DONE', retryable: true }]);
    }
    redis.resume();
    await metricIs(gateway, 1);
    for (let index = 0; index < 20; index += 1) {
      await until(async () => (await track(gateway, `hanging-${index}`)).codes.length === 0);
    }
    expect(upstream.calls().filter((call) => call === 'POST /integrations/event')).toHaveLength(40);
  });

  test('a gateway that is stopped while Redis takes no writes stores its last outcomes when Redis takes them', async () => {
    const { redis, gateway } = await startBoth();
    const other = await start({ REDIS_URL: redis.url });
    const admin = new Redis(redis.port);
    atEnd(() => admin.disconnect());
    const held = upstream.hold('POST /event');
    const last = track(gateway, 'last-before-stop');
    await held.arrived;
    await admin.config('SET', 'maxmemory', '1');
    gateway.child.kill('SIGTERM');
    held.release();
    expect((await last).codes).toEqual([]);
    await admin.config('SET', 'maxmemory', '0');
    expect(await gateway.ended).toEqual({ code: 0, signal: null });
    expect((await track(other, 'last-before-stop')).codes).toEqual([]);
    expect(upstream.calls()).toEqual(['POST /integrations/event']);
  });

  test('events that a gateway refused because Redis hung are sent by another one, also if the first was stopped', async () => {
    const { redis, gateway } = await startBoth();
    const other = await start({ REDIS_URL: redis.url });
    // More than Redis reads at once: it drops what it has not read when it cannot respond, because the gateway has ended.
    const keys = Array.from({ length: 40 }, (_, index) => `refused-${index}`);
    await Promise.all([gateway, other].map((one) => track(one, 'first')));
    redis.hang();
    for (const { errors } of await Promise.all(keys.map((key) => track(gateway, key))))
      expect(errors).toMatchObject([{ extensions: { outcome: 'NOT_DONE', retryable: true } }]);
    gateway.child.kill('SIGTERM');
    setTimeout(redis.resume, 500);
    expect(await gateway.ended).toEqual({ code: 0, signal: null });
    await until(async () => (await track(other, 'after')).codes.length === 0);
    for (const { codes } of await Promise.all(keys.map((key) => track(other, key)))) expect(codes).toEqual([]);
  });

  test.each([5, 45, 80])('a Redis that is %i ms away refuses no event and counts as reachable', async (ms) => {
    const redis = await startRedis();
    const proxy = await startProxy(redis.port);
    // On a machine with two cores and many tests, 40 events at once may take longer than the default of 250 ms.
    const gateway = await start({ REDIS_URL: `redis://${proxy.host}/0`, REDIS_TIMEOUT_MS: '5000' });
    proxy.delay(ms / 2);
    const one = Array.from({ length: 40 }, (_, index) => track(gateway, `away-${index}`));
    for (const { codes } of await Promise.all(one)) expect(codes).toEqual([]);
    expect((await gateway.page('/metrics')).text).toContain('\ngateway_redis_up 1');
    expect(gateway.log().filter(isLost)).toEqual([]);
  });

  test('a Redis that is 80 ms away refuses no event, with the default of REDIS_TIMEOUT_MS', async () => {
    const redis = await startRedis();
    const proxy = await startProxy(redis.port);
    const gateway = await start({ REDIS_URL: `redis://${proxy.host}/0` });
    proxy.delay(40);
    for (let event = 0; event < 20; event += 1) {
      const client = (name: string) => track(gateway, `${name}-${event}`);
      for (const { codes } of await Promise.all(['a', 'b', 'c'].map(client))) expect(codes).toEqual([]);
    }
  });

  test('a Redis that takes more than half of REDIS_TIMEOUT_MS for a response counts as reachable', async () => {
    const redis = await startRedis();
    const proxy = await startProxy(redis.port);
    const env = { REDIS_URL: `redis://${proxy.host}/0`, REDIS_TIMEOUT_MS: '3000' };
    const gateway = await start(env);
    proxy.delay(1_000);
    for (const n of [1, 2]) expect((await track(gateway, `slow-${n}`)).codes).toEqual([]);
    expect((await gateway.page('/metrics')).text).toContain('\ngateway_redis_up 1');
    expect(gateway.log().filter(isLost)).toEqual([]);
  });

  test('while Redis pauses for 80 ms, no event with a key is refused', async () => {
    const { redis, gateway } = await startBoth();
    const client = new Redis(redis.port);
    atEnd(() => client.disconnect());
    const events: ReturnType<typeof track>[] = [];
    for (let pause = 0; pause < 3; pause += 1) {
      const paused = client.call('DEBUG', 'SLEEP', '0.08');
      for (let index = 0; index < 20; index += 1) {
        events.push(track(gateway, `pause-${pause}-${index}`));
        await ask(gateway);
      }
      await paused;
    }
    for (const { codes } of await Promise.all(events)) expect(codes).toEqual([]);
  });

  test('after a failover the replica that was promoted is used, by two gateways, and knows the keys of events', async () => {
    const primary = await startRedis();
    const replica = await startRedis(undefined, ['--replicaof', '127.0.0.1', `${primary.port}`]);
    const client = new Redis(replica.port);
    atEnd(() => client.disconnect());
    await until(async () => (await client.info('replication')).includes('master_link_status:up'));
    const proxy = await startProxy(primary.port);
    const gateways = [
      await start({ REDIS_URL: `redis://${proxy.host}/0` }),
      await start({ REDIS_URL: `redis://${proxy.host}/0` }),
    ];
    const [one, two] = gateways as [GatewayProcess, GatewayProcess];
    expect((await track(one)).codes).toEqual([]);
    // The outcome of the event has arrived at the replica.
    const offsetOf = async (redis: Redis, name: string) =>
      new RegExp(`${name}:(\\d+)`).exec(await redis.info('replication'))?.[1];
    const known = new Redis(primary.port);
    const written = await offsetOf(known, 'master_repl_offset');
    known.disconnect();
    await until(async () => Number(await offsetOf(client, 'slave_repl_offset')) >= Number(written));
    await primary.kill();
    await metricIs(one, 0);
    proxy.follow(replica.port);
    await client.replicaof('NO', 'ONE');
    await Promise.all(gateways.map((gateway) => until(async () => (await ask(gateway)) && gateway.log().some(isBack))));
    expect((await track(two)).codes).toEqual([]);
    expect(upstream.calls().filter((call) => call === 'POST /integrations/event')).toHaveLength(1);
    for (const gateway of gateways)
      expect([isLost, isBack].map((is) => gateway.log().filter(is).length)).toEqual([1, 1]);
  });

  test('of a cluster of two, the node with the keys is used, and the other is refused in one sentence', async () => {
    const cluster = () => ['--cluster-enabled', 'yes', '--cluster-config-file', `${newFolder()}/nodes.conf`];
    const nodes = [await startRedis(undefined, cluster()), await startRedis(undefined, cluster())];
    const [a, b] = nodes;
    const cli = (port: number | undefined, ...args: string[]) =>
      execFileSync('redis-cli', ['-p', `${port}`, ...args], { encoding: 'utf8' });
    cli(a?.port, 'cluster', 'addslotsrange', '0', '8191');
    cli(b?.port, 'cluster', 'addslotsrange', '8192', '16383');
    cli(a?.port, 'cluster', 'meet', '127.0.0.1', `${b?.port}`);
    const isKnown = ({ port }: { port: number }) =>
      /cluster_state:ok[\s\S]*cluster_slots_ok:16384/.test(cli(port, 'cluster', 'info'));
    await until(() => nodes.every(isKnown));
    const ends = nodes.map(async ({ url }) => {
      const { output, ended, written, child } = spawnProcess({ REST_BASE_URL: upstream.url, REDIS_URL: url });
      const code = await Promise.race([ended.then((end) => end.code), written(() => output().includes('"ready"'))]);
      child.kill('SIGKILL');
      return [code, output().includes('REDIS_URL: this is a node of a cluster')];
    });
    const refused = (await Promise.all(ends)).filter(([code, isTold]) => code === 1 && isTold);
    expect(refused).toHaveLength(1);
  });
});
