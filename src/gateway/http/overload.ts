import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import underPressure from '@fastify/under-pressure';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { ClientError } from '../graphql/errors.ts';
import { createPlaces } from './places.ts';

export interface OverloadLimits {
  /** How many operations are worked on at once at most; as many again may wait a little. */
  concurrentOperations: number;
  /** How late the event loop may be on average, in milliseconds. */
  eventLoopDelayMs: number;
  /** How full the heap may be, as a percentage of what V8 allows. */
  heapPercent: number;
}

/**
 * How often event loop and heap are looked at, in milliseconds. Not more often: a pause without a single measurement, which
 * the first requests of a process can cause, counts as a delay without end.
 */
const PRESSURE_SAMPLE_MS = 1_000;

/** How often the share of time at work is looked at, in milliseconds: soon enough that no burst is let in whole. */
const SATURATION_SAMPLE_MS = 100;

/** A process whose event loop was at work for this share of the time has no time left. */
const SATURATED = 0.9;
/** How many places there are then: more operations at once would only make all of them wait. */
const SATURATED_PLACES = 100;

/** How long a request waits for a place, in milliseconds. */
const PATIENCE_MS = 500;

/** What a client is told to wait, in seconds: overload passes as soon as some go away. */
const RETRY_AFTER_SECONDS = '1';

/**
 * Answers 503 before the process drowns, and keeps serving as many as it can meanwhile. A request is let in, kept waiting
 * or refused as it arrives, before its token is verified or its body read.
 *
 * The places for operations do the daily work. They are many, since operations that wait for a slow REST service cost
 * nothing, and a hundred as long as the event loop has no time left. The checks of event loop and heap look at a
 * whole second and then refuse everybody until they look again; they are for what counting cannot see.
 */
export async function refuseOverload(app: FastifyInstance, path: string, limits: OverloadLimits): Promise<void> {
  await app.register(underPressure, {
    sampleInterval: PRESSURE_SAMPLE_MS,
    maxEventLoopDelay: limits.eventLoopDelayMs,
    maxHeapUsedBytes: (getHeapStatistics().heap_size_limit * limits.heapPercent) / 100,
    pressureHandler(_request, reply) {
      throw refusal(reply);
    },
  });

  const { concurrentOperations } = limits;
  const whenSaturated = Math.min(SATURATED_PLACES, concurrentOperations);
  const isSaturated = watchSaturation(app);
  const places = createPlaces({
    places: () => (isSaturated() ? whenSaturated : concurrentOperations),
    maxWaiting: concurrentOperations,
    patienceMs: PATIENCE_MS,
  });
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.url !== path) return done();
    const guest = places.enter((admitted) => (admitted ? done() : done(refusal(reply))));
    // Can come twice; see connections.ts.
    reply.raw.on('close', () => places.leave(guest));
  });
}

function watchSaturation(app: FastifyInstance): () => boolean {
  let last = performance.eventLoopUtilization();
  let share = 0;
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    share = performance.eventLoopUtilization(now, last).utilization;
    last = now;
  }, SATURATION_SAMPLE_MS).unref();
  app.addHook('onClose', (_app, done) => {
    clearInterval(timer);
    done();
  });
  return () => share > SATURATED;
}

/** One for all: making an error is the dearest part of refusing. */
const OVERLOADED = Object.assign(
  new ClientError('OVERLOADED', 'The gateway has too much to do at the moment; try again shortly.'),
  { statusCode: 503 },
);

function refusal(reply: FastifyReply): Error {
  void reply.header('retry-after', RETRY_AFTER_SECONDS);
  return OVERLOADED;
}
