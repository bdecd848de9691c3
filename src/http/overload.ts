import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import underPressure from '@fastify/under-pressure';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/config.ts';
import { type ClientError, requestError } from '../graphql/errors.ts';
import { Semaphore } from '../rest/semaphore.ts';

/**
 * How often the delay of the event loop and the heap are sampled, in milliseconds. Not more often: a second without a
 * measurement, which the first requests of a process can cause, counts as an infinite delay.
 */
const PRESSURE_SAMPLE_MS = 1_000;

/** How often the utilization of the event loop is sampled, in milliseconds: often, so that a burst is noticed early. */
const SATURATION_SAMPLE_MS = 100;
/** An event loop that was busy for this share of the time is overloaded. */
const SATURATED = 0.9;
/** How many operations are executed at once while it is overloaded: more would only delay all of them. */
const SATURATED_OPERATIONS = 100;
/** How long an operation waits to be executed, in milliseconds. */
const MAX_WAIT_MS = 500;
/** The `Retry-After` of the refusal, in milliseconds. */
const RETRY_AFTER_MS = 1_000;

/**
 * Answers 503 before the process is overloaded. Returns the semaphore that limits the operations executed at once.
 *
 * An operation without a permit waits for a short time: a refusal costs almost as much as the work, and clients retry at
 * once. The newest is served first: under lasting overload, the oldest first would make every response late.
 *
 * The limit is high, because operations that wait for a slow REST service cost nothing. It is a hundred while the event loop
 * is overloaded. The delay of the event loop and the heap are also limited: they cover load that the number of operations
 * does not show. When one of them is too high, all requests are refused for a second.
 */
export async function limitOverload(app: FastifyInstance, limits: Config['overload']): Promise<Semaphore> {
  await app.register(underPressure, {
    sampleInterval: PRESSURE_SAMPLE_MS,
    maxEventLoopDelay: limits.eventLoopDelayMs,
    maxHeapUsedBytes: (getHeapStatistics().heap_size_limit * limits.heapPercent) / 100,
    pressureHandler() {
      throw overloaded();
    },
  });
  const { concurrentOperations } = limits;
  const whenSaturated = Math.min(SATURATED_OPERATIONS, concurrentOperations);
  const operations = new Semaphore({
    limit: concurrentOperations,
    maxWaiting: concurrentOperations,
    maxWaitMs: MAX_WAIT_MS,
    order: 'lifo',
  });
  let last = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const saturated = performance.eventLoopUtilization(now, last).utilization > SATURATED;
    last = now;
    operations.setLimit(saturated ? whenSaturated : concurrentOperations);
  }, SATURATION_SAMPLE_MS).unref();
  app.addHook('onClose', (_app, done) => {
    clearInterval(timer);
    done();
  });
  return operations;
}

const MESSAGE = 'The gateway has too much to do at the moment; try again shortly.';
/** Created once: creating an error is the most expensive part of a refusal. */
const OVERLOADED = requestError('OVERLOADED', 503, MESSAGE, { retryable: true, retryAfterMs: RETRY_AFTER_MS });

export function overloaded(): ClientError {
  return OVERLOADED;
}
