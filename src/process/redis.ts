/* The only file that loads ioredis. It is imported lazily, so that a gateway without Redis does not load ioredis. */
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { getDefaultAutoSelectFamilyAttemptTimeout, isIP } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import { Redis, type RedisOptions } from 'ioredis';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/environment.ts';
import { reveal, type Secret } from '../config/secret.ts';
import { secureContext } from '../config/tls.ts';
import { createRedisTimeout } from '../redis-timeout.ts';

/** How often Redis is checked, and the least time between two connections to another primary, in milliseconds. */
const CHECK_MS = 1_000;
/** How long the start of the gateway waits for the connection, in milliseconds; then it continues without one. */
const START_MS = 1_000;
/** How long a connection may take to open, in milliseconds: a name server can be silent for 5 s, or two addresses drop packets. */
const connectMs = () => 2 * getDefaultAutoSelectFamilyAttemptTimeout() + 4_000;

const CLUSTER =
  'REDIS_URL: this is a node of a cluster that does not have the keys of the gateway; use a Redis without cluster mode, or a cluster of one node';

const SENTINEL =
  'REDIS_URL: this server takes no writes, such as a Sentinel; use the address of the primary, or a name that follows it';

/** The errors of a server that is not for this gateway, whatever comes later. */
const NO_USE: [RegExp, string][] = [
  [/^MOVED/, CLUSTER],
  [/^ERR unknown command ['`]?[gs]et\b/i, SENTINEL],
];

/**
 * Besides SET, the commands that the scripts of limits and idempotency keys use. A Redis that does not allow one of them is
 * reported like one that takes no writes. DEL comes first, because the key can be a text, or the hash that another replica has just made.
 */
const USE_ALL = `
for _, command in ipairs({ 'DEL', 'GET', 'PTTL', 'HGETALL' }) do redis.call(command, KEYS[1]) end
redis.call('TIME')
redis.call('HINCRBY', KEYS[1], 'a', 1)
redis.call('HDEL', KEYS[1], 'b')
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
`;

type Handling = Pick<RedisOptions, 'retryStrategy' | 'reconnectOnError' | 'commandTimeout'>;

const useOf = (error: string | undefined) => NO_USE.find(([pattern]) => pattern.test(error ?? ''))?.[1];

/** The options in the query of `REDIS_URL` that are used. */
const OF_URL = ['db', 'family', 'keyPrefix', 'password', 'username'];

/** Begins to connect. Keys have a prefix of the REST service and its key: gateways of two accounts can use one Redis. */
function openRedis(url: Secret, restUrl: string, { rest, redisTls }: Config, more: Handling): Redis {
  const id = hash('sha256', JSON.stringify([restUrl, reveal(rest.apiKey)]), 'base64url').slice(0, 16);
  const address = new URL(reveal(url));
  // Node sends it in SNI only when it is given. Managed services and balancers choose the Redis by it.
  const host = address.hostname.replace(/^\[|\]$|\.$/g, '');
  // Its other options would replace those below.
  for (const name of new Set(address.searchParams.keys()))
    if (!OF_URL.includes(name)) address.searchParams.delete(name);
  const redis = new Redis(address.href, {
    protocol: 2, // 3 begins with HELLO, which some proxies do not know.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    // Without these two, ioredis sends INFO and CLIENT, which some users may not run, and some proxies do not know.
    enableReadyCheck: false,
    disableClientInfo: true,
    ...(address.protocol === 'rediss:' && {
      tls: { ...secureContext(redisTls ?? {}), servername: isIP(host) ? '' : host },
    }),
    connectTimeout: connectMs(),
    socketTimeout: 10_000, // Without an answer for so long, the connection is replaced.
    disconnectTimeout: 100, // ioredis also waits when the connection is closed already.
    ...more,
  });
  // A prefix in the URL stays in front. The braces keep all keys in one slot, so that a cluster of one node can be used.
  redis.options.keyPrefix = `${redis.options.keyPrefix ?? ''}gateway:{${id}}:`;
  return redis;
}

/**
 * Connects to `REDIS_URL`, for the state that replicas share. Does not fail when Redis cannot be reached: ioredis tries
 * again. Throws a ConfigError for a node of a cluster that has other keys, and for a Sentinel. Commands reject at once while Redis
 * is not connected, and otherwise after 10 seconds without an answer: callers have an end of their own.
 */
export async function connectRedis(url: Secret, restUrl: string, config: Config, log: FastifyBaseLogger) {
  let reconnectedAt = Number.NEGATIVE_INFINITY;
  const mayReconnect = () => {
    if (performance.now() - reconnectedAt < CHECK_MS) return false;
    reconnectedAt = performance.now();
    return true;
  };
  /** How often the database of the URL was refused since Redis was last used. */
  let refusals = 0;
  const redis = openRedis(url, restUrl, config, {
    // ioredis counts from 1 again after each connection.
    retryStrategy: (attempt) => Math.min(100 * Math.max(attempt, refusals), 2_000),
    reconnectOnError: ({ message }) => message.startsWith('READONLY') && mayReconnect(),
  });
  const outage = createOutageLog(log);
  const withLongTimeout = createRedisTimeout(config.REDIS_TIMEOUT_MS, 0);
  // A write: a full Redis, or a replica, still answers reads. Not by the script of all commands: there Redis 6 has other messages.
  const ask = async () => {
    const [set, used] = await Promise.all([
      redis.set('check', '', 'PX', CHECK_MS),
      redis.eval(USE_ALL, 1, 'check', CHECK_MS),
    ]);
    if (set === 'OK' && used === 1) return;
    // A proxy lost a reply, or sent one too many: each later command of this connection gets the reply of another one.
    redis.disconnect(true);
    throw new Error('a command got the reply of another one');
  };
  const check = async () => {
    const error = await withLongTimeout(ask).then(
      () => undefined,
      ({ message }: Error) => (redis.status === 'ready' ? message : 'there is no connection'),
    );
    if (error === undefined) refusals = 0;
    outage.note(error);
  };
  redis.on('error', (error: Error) => {
    outage.note(error.message);
    if (!('command' in error) || Object(error.command).name !== 'select') return;
    // ioredis would go on with database 0, which may be another program's. The error can be over later.
    refusals += 1;
    outage.expectEnd();
    redis.disconnect(true);
  });
  redis.on('close', () => outage.note('the connection was closed'));
  redis.on('ready', check);
  await once(redis, 'ready', { signal: AbortSignal.timeout(START_MS) }).then(check, () => undefined);
  const unusable = useOf(outage.problem());
  if (unusable) {
    outage.expectEnd();
    redis.disconnect();
    throw new ConfigError([unusable]);
  }
  const checking = setInterval(check, CHECK_MS).unref();
  return {
    redis,
    /** For what can be done without Redis. */
    withTimeout: createRedisTimeout(),
    /** For what cannot: rejects when Redis takes longer than `REDIS_TIMEOUT_MS`. */
    withLongTimeout,
    /** Whether Redis is connected and accepted the last write. */
    isUp: () => redis.status === 'ready' && !outage.problem(),
    stop() {
      clearInterval(checking);
      outage.expectEnd();
      redis.disconnect();
    },
  };
}

/** Logs why Redis is not reachable, and that it is again. */
function createOutageLog(log: FastifyBaseLogger) {
  let problem: string | undefined;
  /** The error codes of Redis in this outage, such as READONLY, and '' for no connection: each is logged once. */
  const logged = new Set<string>();
  return {
    problem: () => problem,
    /** The gateway ends the connection itself: that is no further reason. */
    expectEnd: () => void logged.add(''),
    note(found?: string): void {
      const code = /^[A-Z]+(?= )/.exec(found ?? '')?.[0] ?? '';
      if (found && !logged.has(code)) {
        const state = problem ? 'still not reachable, for another reason' : 'not reachable';
        log.warn({ reason: found }, `Redis is ${state}: replicas share nothing until it is`);
        logged.add(code);
      } else if (problem && !found) {
        log.info('Redis is reachable again');
        logged.clear();
      }
      problem = found;
    },
  };
}

const CHECK_URL =
  'check address, redis: or rediss:, user, password, client certificate, and whether it is in protected mode or its maxclients is reached';

/** What to do about an error of Redis. */
const ADVICE: [RegExp, string][] = [
  [/DB index|Only 0th|(?:SELECT is not allowed|unknown command.*select)/i, 'name another database at its end, or none'],
  [/^NOPERM|unknown command|not allowed/i, 'allow the user all commands on the keys of the gateway'],
  [/^(?!NOAUTH|WRONGPASS|DENIED)[A-Z]+ (?<!ERR )/, 'Redis does not serve commands; ask its operator'],
];

/** What is wrong with `REDIS_URL`, found without a write. */
export async function probeRedis(url: Secret, config: Config, timeoutMs: number): Promise<string[]> {
  // With the prefix of the gateway: a cluster and an access list decide by the key.
  const more = { commandTimeout: timeoutMs, retryStrategy: () => null };
  const redis = openRedis(url, `${config.rest.baseUrl ?? ''}`, config, more).on('error', () => undefined);
  // For ROLE and INFO, which the gateway itself does not send: some proxies close the connection for them.
  const other = redis.duplicate({ enableOfflineQueue: true }).on('error', () => undefined);
  try {
    // A Redis in protected mode closes the connection, which is no error for ioredis.
    const ended = once(redis, 'end').then(() => Promise.reject(new Error('the connection was closed')));
    await Promise.race([once(redis, 'ready', { signal: AbortSignal.timeout(connectMs()) }), ended]);
    const since = performance.now();
    const [[role], info] = await Promise.all([
      other.role().catch(() => ['unknown']),
      other.info().catch(() => ''),
      redis.get('probe'), // 'check' is a hash for a moment.
      redis.eval("return redis.call('TIME')", 1, 'probe'), // twemproxy and Envoy refuse a script without a key.
    ]);
    const answeredAt = performance.now();
    // Once more, because the first answer took the time of four.
    if (answeredAt - since > config.REDIS_TIMEOUT_MS) await redis.get('probe');
    const ms = Math.ceil(performance.now() - answeredAt);
    if (role === 'slave') return ['REDIS_URL: this is a replica, which takes no writes; use the primary'];
    if (ms > config.REDIS_TIMEOUT_MS)
      return [`REDIS_TIMEOUT_MS: Redis took ${ms} ms, so events with an idempotency key are refused; raise it`];
    return refusesWrites(info);
  } catch (error) {
    const { message, name } = error instanceof Error ? error : new Error(String(error));
    const unusable = useOf(message);
    if (unusable) return [unusable];
    if (/self.signed|^unable to/.test(message))
      return [`REDIS_CA_FILE: the certificate is of an authority that is not trusted (${message}); name its file`];
    if (message.includes('altnames')) return ['REDIS_URL: its certificate is for another host; use a name in it'];
    if (message.startsWith('Unknown RESP')) return ['REDIS_URL: what responds there is no Redis; check host and port'];
    const [, advice = CHECK_URL] = ADVICE.find(([pattern]) => pattern.test(message)) ?? [];
    return [`REDIS_URL: ${name === 'AbortError' ? 'no response in time' : message || 'no connection'}; ${advice}`];
  } finally {
    for (const one of [redis, other]) one.disconnect();
  }
}

/** Why a primary takes no writes, by its INFO. */
function refusesWrites(info: string): string[] {
  const of = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
  const [used, most] = [Number(of('used_memory')), Number(of('maxmemory'))];
  // A full Redis frees and takes again what its connections need.
  if (most > 0 && used > most * 0.99 && of('maxmemory_policy') === 'noeviction')
    return [`REDIS_URL: Redis is full (${used} of ${most} bytes); raise its maxmemory, and do not flush or restart it`];
  if (of('rdb_last_bgsave_status') === 'err' || of('aof_last_write_status') === 'err')
    return ['REDIS_URL: Redis cannot save to its disk, and may refuse writes; free its disk'];
  return [];
}
