/* The only file that loads ioredis. It is imported lazily, so that a gateway without Redis does not load ioredis. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { FastifyBaseLogger } from 'fastify';
import { Redis } from 'ioredis';
import { reveal, type Secret } from '../config/secret.ts';
import { NotSent, RELEASE } from '../graphql/idempotency-store.ts';

/** How long no command is sent after Redis did not answer, in milliseconds. */
const PAUSE_MS = 1_000;
/** Errors with which Redis refuses a command: its memory is full, another one is the primary, an ACL forbids it. */
const REFUSES = /^(?!NOSCRIPT )[A-Z]+ /;
/** How long the start of the gateway waits for the connection, in milliseconds; then it continues without one. */
const CONNECT_WITHIN_MS = 1_000;

/**
 * Connects to `REDIS_URL`, for the state that replicas share. Does not fail when Redis cannot be reached: ioredis tries
 * again. Commands reject at once while Redis is not connected or did not answer in the last second.
 * @param account The REST service and key whose state this is: gateways of two accounts can use one Redis.
 * @param answerWithinMs How long Redis may take to answer. An operation waits for it at most once, see PAUSE_MS.
 */
export async function connectRedis(
  url: Secret,
  account: { baseUrl: string; apiKey: Secret },
  log: FastifyBaseLogger,
  answerWithinMs = 40,
) {
  const hash = createHash('sha256').update(JSON.stringify([account.baseUrl, reveal(account.apiKey)]));
  let reconnectedAt = Number.NEGATIVE_INFINITY;
  const mayReconnect = () => {
    if (performance.now() - reconnectedAt < PAUSE_MS) return false;
    reconnectedAt = performance.now();
    return true;
  };
  const redis = new Redis(reveal(url), {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_WITHIN_MS,
    socketTimeout: 10_000, // Without an answer for so long, the connection is replaced.
    disconnectTimeout: 100, // ioredis also waits when the connection is closed already.
    retryStrategy: (attempt) => Math.min(100 * attempt, 2_000),
    reconnectOnError: ({ message }) => message.startsWith('READONLY') && mayReconnect(),
  });
  // A prefix in the URL stays in front.
  redis.options.keyPrefix = `${redis.options.keyPrefix ?? ''}gateway:${hash.digest('base64url').slice(0, 16)}:`;
  let problem: string | undefined;
  const note = (found?: string) => {
    if (!problem === !found) return;
    problem = found;
    if (!problem) log.info('Redis is reachable again');
    else log.warn({ reason: problem }, 'Redis is not reachable: replicas share nothing until it is');
  };
  pauseAfterSilence(redis, answerWithinMs, note);
  redis.on('error', ({ message }: Error) => {
    note(message);
    // ioredis would go on with database 0, which may be another program's.
    if (message.includes('DB index')) redis.disconnect();
  });
  redis.on('close', () => note('the connection was closed'));
  // After a refusal, only the next command shows whether Redis accepts commands again.
  redis.on('ready', () => REFUSES.test(problem ?? '') || note());
  await once(redis, 'ready', { signal: AbortSignal.timeout(CONNECT_WITHIN_MS) }).catch(() => undefined);
  return {
    redis,
    /** Whether Redis is connected and answered the last time. */
    isUp: () => redis.status === 'ready' && !problem,
    stop() {
      problem = 'the end'; // What follows is no loss to log.
      redis.disconnect();
    },
  };
}

type Command = Parameters<Redis['sendCommand']>[0];

/** Whether a command ends a claim: the outcome of an idempotency key, or its release. graphql/idempotency-store.ts sends them. */
const endsClaim = ({ name, args }: Command) =>
  (name === 'eval' && args[0] === RELEASE) || (name === 'set' && !args.includes('NX'));

/**
 * Rejects commands for a second after one got no answer, so that not every operation waits for a Redis that hangs. What ends a
 * claim is sent all the same: when Redis resumes, it reads the claim and this after it.
 */
function pauseAfterSilence(redis: Redis, answerWithinMs: number, note: (problem?: string) => void): void {
  const send = redis.sendCommand.bind(redis);
  let pausedUntil = 0;
  redis.sendCommand = (command, stream) => {
    if (redis.status !== 'ready') return send(command, stream); // A command of ioredis itself.
    if (performance.now() < pausedUntil && !endsClaim(command)) {
      command.reject(new NotSent('Redis did not answer within the last second.'));
      return command.promise;
    }
    const silence = new Error('Redis did not answer in time.');
    // When the event loop is late, the answer may have arrived: it is read before the immediate.
    const timer = setTimeout(() => setImmediate(() => command.reject(silence)), answerWithinMs);
    const failed = (error: Error) => {
      if (error === silence) pausedUntil = performance.now() + PAUSE_MS;
      if (error === silence || REFUSES.test(error.message)) note(error.message);
    };
    // A Redis that is full still answers reads, and a release that finds nothing. Each operation's limit is another command.
    const succeeded = () => command.name === 'get' || command.name === 'eval' || note();
    command.promise.then(succeeded, failed).finally(() => clearTimeout(timer));
    return send(command, stream);
  };
}
