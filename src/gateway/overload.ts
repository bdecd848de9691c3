import { getHeapStatistics } from 'node:v8';
import underPressure from '@fastify/under-pressure';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { ClientError } from './errors.ts';

export interface OverloadLimits {
  /** How many operations are worked on at once at most. */
  concurrentOperations: number;
  /** How late the event loop may be on average, in milliseconds. */
  eventLoopDelayMs: number;
  /** How full the heap may be, as a percentage of what V8 allows. */
  heapPercent: number;
}

/** How often event loop and heap are looked at, in milliseconds. */
const SAMPLE_MS = 500;

/** A process whose event loop was at work for this share of the time has no time left. */
const SATURATED = 0.98;
/** What of the bound on operations counts for a saturated process: more of them would only make all of them wait. */
const SATURATED_SHARE = 0.25;

/** What a client is told to wait, in seconds: overload passes as soon as some go away. */
const RETRY_AFTER_SECONDS = '1';

/**
 * Answers 503 before the process drowns. What is too much is refused as a request arrives, before its token is verified
 * or its body read, which costs a small part of serving it.
 *
 * The bound on operations at work does the daily work: it lets in as many as can be served in reasonable time, and no
 * moment passes with nobody let in. It is wide, since many may wait for a slow REST service and cost nothing; it is a
 * quarter of that as long as the event loop has no time left. The checks of event loop and heap look at half a second and
 * then refuse everybody until they look again; they are for what the count cannot see.
 */
export async function refuseOverload(app: FastifyInstance, path: string, limits: OverloadLimits): Promise<void> {
  const { concurrentOperations } = limits;
  const whenSaturated = Math.ceil(concurrentOperations * SATURATED_SHARE);
  let atWork = 0;
  await app.register(underPressure, {
    sampleInterval: SAMPLE_MS,
    eventLoopUtilizationMode: 'interval',
    maxEventLoopDelay: limits.eventLoopDelayMs,
    maxHeapUsedBytes: (getHeapStatistics().heap_size_limit * limits.heapPercent) / 100,
    pressureHandler: (_request, reply) => refuse(reply),
  });
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.url === path) {
      if (atWork >= whenSaturated && (atWork >= concurrentOperations || isSaturated())) refuse(reply);
      atWork += 1;
      reply.raw.once('close', () => {
        atWork -= 1;
      });
    }
    done();
  });

  function isSaturated(): boolean {
    return app.memoryUsage().eventLoopUtilized > SATURATED;
  }
}

/** One for all: making an error is the dearest part of refusing. */
const OVERLOADED = Object.assign(
  new ClientError('OVERLOADED', 'The gateway has too much to do at the moment; try again shortly.'),
  { statusCode: 503 },
);

function refuse(reply: FastifyReply): never {
  void reply.header('retry-after', RETRY_AFTER_SECONDS);
  throw OVERLOADED;
}
