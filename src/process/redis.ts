/* The only file that loads ioredis. It is imported lazily, so that a gateway without Redis does not load ioredis. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { FastifyBaseLogger } from 'fastify';
import { Redis, type RedisOptions } from 'ioredis';
import { ConfigError } from '../config/environment.ts';
import { reveal, type Secret } from '../config/secret.ts';
import { secureContext, type Tls } from '../config/tls.ts';
import { createImpatience } from '../impatience.ts';

/** How often Redis is checked, and the least time between two connections to another primary, in milliseconds. */
const CHECK_MS = 1_000;
/** How long the start of the gateway waits for the connection, in milliseconds; then it continues without one. */
const CONNECT_WITHIN_MS = 1_000;

const CLUSTER =
  'REDIS_URL: this is a node of a cluster that does not have the keys of the gateway; use a Redis without cluster mode, or a cluster of one node';

type Account = { baseUrl: string; apiKey: Secret };
type Reconnecting = Pick<RedisOptions, 'retryStrategy' | 'reconnectOnError'>;
type ConnectionOptions = { timeoutMs: number; tls?: Tls | undefined };

/** Begins to connect. Keys have the prefix of the account. */
function openRedis(url: Secret, account: Account, { timeoutMs, tls }: ConnectionOptions, more: Reconnecting): Redis {
  const hash = createHash('sha256').update(JSON.stringify([account.baseUrl, reveal(account.apiKey)]));
  const redis = new Redis(reveal(url), {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    ...(tls && { tls: secureContext(tls) }),
    connectTimeout: CONNECT_WITHIN_MS,
    commandTimeout: timeoutMs,
    socketTimeout: 10_000, // Without an answer for so long, the connection is replaced.
    disconnectTimeout: 100, // ioredis also waits when the connection is closed already.
    ...more,
  });
  // A prefix in the URL stays in front. The braces keep all keys in one slot, so that a cluster of one node can be used.
  redis.options.keyPrefix = `${redis.options.keyPrefix ?? ''}gateway:{${hash.digest('base64url').slice(0, 16)}}:`;
  return redis;
}

/**
 * Connects to `REDIS_URL`, for the state that replicas share. Does not fail when Redis cannot be reached: ioredis tries again.
 * Commands reject at once while Redis is not connected, and otherwise when it does not answer in time. Throws a ConfigError for a
 * node of a cluster that has other keys.
 * @param account The REST service and key whose state this is: gateways of two accounts can use one Redis.
 * @param options How long Redis may take to answer, and the certificates for `rediss:`.
 */
export async function connectRedis(url: Secret, account: Account, log: FastifyBaseLogger, options: ConnectionOptions) {
  let reconnectedAt = Number.NEGATIVE_INFINITY;
  const mayReconnect = () => {
    if (performance.now() - reconnectedAt < CHECK_MS) return false;
    reconnectedAt = performance.now();
    return true;
  };
  const redis = openRedis(url, account, options, {
    retryStrategy: (attempt) => Math.min(100 * attempt, 2_000),
    reconnectOnError: ({ message }) => message.startsWith('READONLY') && mayReconnect(),
  });
  let problem: string | undefined;
  /** The error codes of Redis in this outage, such as READONLY, and '' for no connection: each is logged once. */
  const logged = new Set<string>();
  const note = (found?: string) => {
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
  };
  // A write: a Redis that is full, or a replica, still answers reads.
  const check = () =>
    redis.set('check', '', 'PX', CHECK_MS).then(
      () => note(),
      ({ message }: Error) => note(message),
    );
  redis.on('error', ({ message }: Error) => {
    note(message);
    // ioredis would go on with database 0, which may be another program's.
    if (message.includes('DB index')) redis.disconnect();
  });
  redis.on('close', () => note('the connection was closed'));
  redis.on('ready', check);
  await once(redis, 'ready', { signal: AbortSignal.timeout(CONNECT_WITHIN_MS) }).then(check, () => undefined);
  if (problem?.startsWith('MOVED')) {
    redis.disconnect();
    throw new ConfigError([CLUSTER]);
  }
  const checking = setInterval(check, CHECK_MS).unref();
  return {
    redis,
    /** For what can be done without Redis. */
    impatience: createImpatience(),
    /** Whether Redis is connected and accepted the last write. */
    isUp: () => redis.status === 'ready' && !problem,
    stop() {
      clearInterval(checking);
      logged.add(''); // What follows is no loss to log.
      redis.disconnect();
    },
  };
}

/** What is wrong with `REDIS_URL`, found without a write. */
export async function probeRedis(url: Secret, account: Account, options: ConnectionOptions): Promise<string[]> {
  const redis = openRedis(url, account, options, { retryStrategy: () => null });
  let advice = 'check address, user and password';
  try {
    await once(redis, 'ready', { signal: AbortSignal.timeout(CONNECT_WITHIN_MS) });
    advice = 'allow the user all commands on the keys of the gateway';
    await redis.get('check');
    const [role] = await redis.role().catch(() => ['unknown']);
    return role === 'slave' ? ['REDIS_URL: this is a replica, which takes no writes; use the primary'] : [];
  } catch (error) {
    const { message, name } = error instanceof Error ? error : new Error(String(error));
    if (message.startsWith('MOVED')) return [CLUSTER];
    return [`REDIS_URL: ${name === 'AbortError' ? 'no response in time' : message || 'no connection'}; ${advice}`];
  } finally {
    redis.on('error', () => undefined);
    redis.disconnect();
  }
}
