import { getHeapStatistics } from 'node:v8';
import underPressure from '@fastify/under-pressure';
import type { FastifyInstance } from 'fastify';
import { type ClientError, requestError } from '../errors.ts';

/** The average delay of the event loop above which requests are refused, in milliseconds. */
const MAX_EVENT_LOOP_DELAY_MS = 1_000;
/** The share of V8's heap limit in use above which requests are refused. */
const MAX_HEAP_SHARE = 0.9;
/** How often both are sampled. */
const SAMPLE_MS = 1_000;
const RETRY_AFTER_MS = 1_000;

/** Refuses requests while the event loop is late or the heap is nearly full. */
export async function limitPressure(app: FastifyInstance, maxDelayMs = MAX_EVENT_LOOP_DELAY_MS): Promise<void> {
  await app.register(underPressure, {
    sampleInterval: SAMPLE_MS,
    maxEventLoopDelay: maxDelayMs,
    maxHeapUsedBytes: getHeapStatistics().heap_size_limit * MAX_HEAP_SHARE,
    pressureHandler() {
      throw overloaded();
    },
  });
}

const MESSAGE = 'The gateway has too much to do at the moment; try again shortly.';
/** Created once: creating an error is the most expensive part of a refusal. */
const OVERLOADED = requestError('OVERLOADED', 503, MESSAGE, { retryable: true, retryAfterMs: RETRY_AFTER_MS });

export function overloaded(): ClientError {
  return OVERLOADED;
}
