import { getHeapStatistics } from 'node:v8';
import underPressure from '@fastify/under-pressure';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { ClientError } from './errors.ts';
import { createPlaces } from './places.ts';

export interface OverloadLimits {
  /** How many operations are worked on at once at most; as many again may wait a little. */
  concurrentOperations: number;
  /** How late the event loop may be on average, in milliseconds. */
  eventLoopDelayMs: number;
  /** How full the heap may be, as a percentage of what V8 allows. */
  heapPercent: number;
}

/** How often event loop and heap are looked at, in milliseconds. */
const SAMPLE_MS = 100;

/** A process whose event loop was at work for this share of the time has no time left. */
const SATURATED = 0.9;
/** What is left of the places then: more operations at once would only make all of them wait. */
const SATURATED_SHARE = 0.1;

/** How long a request waits for a place, in milliseconds. */
const PATIENCE_MS = 500;

/** What a client is told to wait, in seconds: overload passes as soon as some go away. */
const RETRY_AFTER_SECONDS = '1';

/**
 * Answers 503 before the process drowns, and keeps serving as many as it can meanwhile. A request is let in, kept waiting
 * or refused as it arrives, before its token is verified or its body read.
 *
 * The places for operations do the daily work. They are many, since operations that wait for a slow REST service cost
 * nothing, and a tenth of that as long as the event loop has no time left. The checks of event loop and heap look at a tenth
 * of a second and then refuse everybody until they look again; they are for what counting cannot see.
 */
export async function refuseOverload(app: FastifyInstance, path: string, limits: OverloadLimits): Promise<void> {
  await app.register(underPressure, {
    sampleInterval: SAMPLE_MS,
    eventLoopUtilizationMode: 'interval',
    maxEventLoopDelay: limits.eventLoopDelayMs,
    maxHeapUsedBytes: (getHeapStatistics().heap_size_limit * limits.heapPercent) / 100,
    pressureHandler(_request, reply) {
      throw refusal(reply);
    },
  });

  const { concurrentOperations } = limits;
  const whenSaturated = Math.ceil(concurrentOperations * SATURATED_SHARE);
  const isSaturated = () => app.memoryUsage().eventLoopUtilized > SATURATED;
  const places = createPlaces({
    places: () => (isSaturated() ? whenSaturated : concurrentOperations),
    maxWaiting: concurrentOperations,
    patienceMs: PATIENCE_MS,
  });
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.url !== path) return done();
    const guest = places.enter((admitted) => (admitted ? done() : done(refusal(reply))));
    reply.raw.once('close', () => places.leave(guest));
  });
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
