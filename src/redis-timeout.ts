import type { Redis } from 'ioredis';

/** Redis, for what can be done without it. */
export interface OptionalRedis {
  redis: Redis;
  withTimeout: ReturnType<typeof createRedisTimeout>;
}

/**
 * Returns a function that rejects when what it asks for takes longer than `waitMs`; for `pauseMs` after that it rejects at once,
 * so that not every operation waits for a server that hangs. What was asked for may still arrive there.
 */
export function createRedisTimeout(waitMs = 40, pauseMs = 1_000) {
  let pausedUntil = 0;
  return <Answer>(ask: () => Promise<Answer>): Promise<Answer> =>
    new Promise((resolve, reject) => {
      if (performance.now() < pausedUntil) throw new Error('There was no response within the last second.');
      const giveUp = () => {
        pausedUntil = performance.now() + pauseMs;
        reject(new Error('There was no response in time.'));
      };
      // When the event loop is late, the answer may have arrived: it is read before the immediate.
      let immediate: NodeJS.Immediate | undefined;
      const timer = setTimeout(() => {
        immediate = setImmediate(giveUp);
      }, waitMs);
      const settled = () => {
        clearTimeout(timer);
        clearImmediate(immediate);
      };
      ask().finally(settled).then(resolve, reject);
    });
}
