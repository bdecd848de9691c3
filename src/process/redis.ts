import { once } from 'node:events';
import type { FastifyBaseLogger } from 'fastify';
import { Redis } from 'ioredis';
import { reveal } from '../config/secret.ts';
import type { SecretSource } from '../config/secret-file.ts';

/** What replicas and workers have in common. Everything the gateway keeps there it can do without for a while. */
export interface SharedState {
  /** Whether it is worth asking now. False without a connection, and for a second after a question went unanswered. */
  available(): boolean;
  /** Asks once; rejects when there is no connection or no answer within 50 ms. */
  ask<Reply>(question: (redis: Redis) => Promise<Reply>): Promise<Reply>;
  close(): Promise<void>;
}

/** How long an answer may take, in milliseconds. On the way to most answers nobody waits at all. */
const ANSWER_WITHIN_MS = 50;

/** How long nothing is asked after that, in milliseconds: a Redis that hangs slows down one moment of every second. */
const PAUSE_MS = 1_000;

/** How long the start of the gateway waits for the connection, in milliseconds; it goes on without. */
const CONNECT_WITHIN_MS = 1_000;

/** How long a connection may take to end, in milliseconds; ioredis waits as long for one that has ended already. */
const CUT_AFTER_MS = 100;

/** Connects to `REDIS_URL`. Never fails for want of a Redis: it says so in the log and goes on trying. */
export async function connectRedis(url: SecretSource, log: FastifyBaseLogger): Promise<SharedState> {
  let closed = false;
  const redis = new Redis(reveal(url()), {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_WITHIN_MS,
    disconnectTimeout: CUT_AFTER_MS,
    retryStrategy(attempt) {
      if (closed) return null;
      Object.assign(redis.options, credentials(reveal(url())));
      return Math.min(100 * attempt, 2_000);
    },
  });
  tellChanges(redis, log);
  await once(redis, 'ready', { signal: AbortSignal.timeout(CONNECT_WITHIN_MS) }).catch(() => undefined);

  let pausedUntil = 0;
  return {
    available: () => redis.status === 'ready' && performance.now() >= pausedUntil,
    async ask(question) {
      try {
        return await withinTime(question(redis));
      } catch (error) {
        if (performance.now() >= pausedUntil) log.warn({ reason: messageOf(error) }, 'Redis did not answer');
        pausedUntil = performance.now() + PAUSE_MS;
        throw error;
      }
    },
    async close() {
      closed = true;
      redis.disconnect();
    },
  };
}

/**
 * Rejects when an answer takes too long. When the timer fires late because this process was busy, the answer may be waiting
 * to be read: what has come in is read before it counts as missing.
 */
function withinTime<Reply>(answer: Promise<Reply>): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const tooLate = () => reject(new Error(`no answer within ${ANSWER_WITHIN_MS} ms`));
    const timer = setTimeout(() => setImmediate(tooLate), ANSWER_WITHIN_MS);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** A password that stands in a file may have changed since the last connection. */
function credentials(url: string): { username?: string; password?: string } {
  const { username, password } = new URL(url);
  return password ? { username: decodeURIComponent(username), password: decodeURIComponent(password) } : {};
}

/** One line when the connection goes and one when it is back, however often it is tried in between. */
function tellChanges(redis: Redis, log: FastifyBaseLogger): void {
  let away = false;
  redis.on('error', (error: Error) => {
    if (!away) log.warn({ reason: messageOf(error) }, 'Redis is away: replicas do not share anything until it is back');
    away = true;
  });
  redis.on('ready', () => {
    if (away) log.info('Redis is back');
    away = false;
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
