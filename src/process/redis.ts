/* The only file that imports ioredis. It is imported lazily, so that a gateway without Redis does not load ioredis. */
import { once } from 'node:events';
import type { FastifyBaseLogger } from 'fastify';
import { Redis } from 'ioredis';
import { reasonOf } from '../config/environment.ts';
import { isRedisUrl } from '../config/forms.ts';
import { reveal, type Secret } from '../config/secret.ts';

/** State that replicas and workers share. The gateway also works while Redis is not available. */
export interface SharedState {
  /**
   * Whether a command may be sent to Redis now. False without a connection, and for a second after Redis did not answer.
   * After that second it is true for one caller at a time, until Redis answers again.
   */
  available(): boolean;
  /** The value of a key. Rejects without an answer within 25 ms. */
  get(key: string): Promise<string | null>;
  /** Runs a Lua script, which Redis does atomically. Rejects without an answer within 25 ms. */
  evaluate(script: string, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>;
  /** Whether Redis is connected and answered the last time. */
  isUp(): boolean;
  close(): Promise<void>;
}

/** How long Redis may take to answer, in milliseconds. Requests wait for the answer. */
const ANSWER_WITHIN_MS = 25;
/** How long no command is sent after Redis did not answer, in milliseconds. */
const PAUSE_MS = 1_000;
/** How long the start of the gateway waits for the connection, in milliseconds; then it continues without one. */
const CONNECT_WITHIN_MS = 1_000;
/** How long ioredis waits for a connection to close, in milliseconds; it also waits when the connection is closed already. */
const DISCONNECT_WITHIN_MS = 100;
/** The longest wait before the next attempt to connect, in milliseconds. */
const MAX_RETRY_MS = 2_000;
/** After this many milliseconds without an answer, the connection is replaced: its server may never come back. */
const GIVE_UP_MS = 10_000;
/** Connects to `REDIS_URL`. Does not fail when Redis cannot be reached: it logs that and tries again. */
export async function connectRedis(url: Secret, log: FastifyBaseLogger): Promise<SharedState> {
  const redis = connect(url);
  let closing = false;
  logChanges(redis, log, () => closing);
  await once(redis, 'ready', { signal: AbortSignal.timeout(CONNECT_WITHIN_MS) }).catch(() => undefined);

  let answers = true;
  let trying = false;
  let pausedUntil = 0;
  const available = () => redis.status === 'ready' && (answers || (!trying && performance.now() >= pausedUntil));

  async function ask<Reply>(question: () => Promise<Reply>): Promise<Reply> {
    trying = !answers;
    try {
      const reply = await withinTime(question());
      if (!answers) log.info('Redis answers again');
      answers = true;
      return reply;
    } catch (error) {
      if (answers) log.warn({ reason: reasonOf(error) }, 'Redis did not answer');
      answers = false;
      pausedUntil = performance.now() + PAUSE_MS;
      throw error;
    } finally {
      trying = false;
    }
  }

  return {
    available,
    get: (key) => ask(() => redis.get(key)),
    evaluate: (script, keys, args) => ask(() => redis.eval(script, keys.length, ...keys, ...args)),
    isUp: () => redis.status === 'ready' && answers,
    async close() {
      closing = true;
      redis.disconnect();
    },
  };
}

function connect(url: Secret): Redis {
  const redis = new Redis(reveal(url), {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_WITHIN_MS,
    socketTimeout: GIVE_UP_MS,
    disconnectTimeout: DISCONNECT_WITHIN_MS,
    retryStrategy(attempt) {
      Object.assign(redis.options, credentials(reveal(url)));
      return Math.min(100 * attempt, MAX_RETRY_MS);
    },
  });
  // Without a listener, ioredis prints errors. `logChanges` logs the changes of the connection instead.
  redis.on('error', () => undefined);
  return redis;
}

/** The password in a file may have changed since the last connection. A text that is not a URL changes nothing. */
function credentials(url: string): { username?: string; password?: string } {
  if (!isRedisUrl(url)) return {};
  const { username, password } = new URL(url);
  return password ? { username: decodeURIComponent(username), password: decodeURIComponent(password) } : {};
}

/** Logs one line when the connection is lost and one when it is back, and none for the attempts between them. */
function logChanges(redis: Redis, log: FastifyBaseLogger, isClosing: () => boolean): void {
  let unreachable = false;
  let reason = 'the connection was closed';
  redis.on('error', (error: Error) => {
    reason = reasonOf(error);
  });
  redis.on('close', () => {
    if (!unreachable && !isClosing())
      log.warn({ reason }, 'Redis is not reachable: replicas share nothing until it is');
    unreachable = true;
  });
  redis.on('ready', () => {
    if (unreachable) log.info('Redis is reachable again');
    unreachable = false;
  });
}

/**
 * Rejects when an answer takes too long. The timer can fire late because this process was busy, so data that has arrived is
 * read first.
 */
function withinTime<Reply>(answer: Promise<Reply>): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const tooLate = () => reject(new Error(`no answer within ${ANSWER_WITHIN_MS} ms`));
    const timer = setTimeout(() => setImmediate(tooLate), ANSWER_WITHIN_MS);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
