/* What keeps the gateway responsive under load. Nothing waits: a request that cannot be served now is refused. */
import { getHeapStatistics } from 'node:v8';
import underPressure from '@fastify/under-pressure';
import type { FastifyInstance } from 'fastify';
import type { Caller } from '../access/caller.ts';
import { requestError } from '../errors.ts';

/** The average delay of the event loop above which requests are refused, in milliseconds. */
const MAX_EVENT_LOOP_DELAY_MS = 1_000;
/** The share of V8's heap limit in use above which requests are refused. */
const MAX_HEAP_SHARE = 0.9;
/** The largest share of the slots that one caller may hold. */
const CALLER_SHARE = 1 / 8;
/** How many bytes of bodies, and of responses that wait to be sent, all callers and one may have. */
const MAX_BYTES = 64 * 1_024 * 1_024;
const MAX_BYTES_OF_CALLER = 16 * 1_024 * 1_024;

const MESSAGE = 'The gateway has too much to do at the moment; try again shortly.';
/** Created once: creating an error is the most expensive part of a refusal. */
export const OVERLOADED = requestError('OVERLOADED', 503, MESSAGE, { retryable: true, retryAfterMs: 1_000 });

/** Adds `app.isUnderPressure()`: the event loop is late, or the heap nearly full. */
export async function watchPressure(app: FastifyInstance, maxEventLoopDelay = MAX_EVENT_LOOP_DELAY_MS): Promise<void> {
  const maxHeapUsedBytes = getHeapStatistics().heap_size_limit * MAX_HEAP_SHARE;
  // The plugin's own hook comes before authentication, so it refuses nothing.
  await app.register(underPressure, { maxEventLoopDelay, maxHeapUsedBytes, pressureHandler: () => undefined });
}

export type Slots = ReturnType<typeof createSlots>;
/** The place of one request in flight. */
export type Slot = NonNullable<ReturnType<Slots['take']>>;

/** Bounds the requests in flight, and the bytes of their bodies and responses: at most `max` requests of all callers. */
export function createSlots(max: number) {
  const all = { requests: 0, bytes: 0 };
  const byCaller = new Map<string, typeof all>();
  return {
    /** How many requests are in flight. */
    active: () => all.requests,
    /** Takes a slot; undefined when there is none for this caller. */
    take({ key }: Caller) {
      const own = byCaller.get(key) ?? { requests: 0, bytes: 0 };
      if (all.requests >= max || own.requests >= max * CALLER_SHARE) return undefined;
      byCaller.set(key, own);
      let held = 0;
      let released = false;
      const count = (requests: number, bytes: number) => {
        held += bytes;
        for (const one of [all, own]) {
          one.requests += requests;
          one.bytes += bytes;
        }
      };
      count(1, 0);
      return {
        /** Counts bytes of the request's body, or of its response; false when there are too many already. */
        hold(bytes: number): boolean {
          // The client disconnected: the response is not sent.
          if (released) return true;
          const fits = all.bytes + bytes <= MAX_BYTES && own.bytes + bytes <= MAX_BYTES_OF_CALLER;
          if (fits) count(0, bytes);
          return fits;
        },
        /** Gives the slot back, once. */
        release(): void {
          if (released) return;
          released = true;
          count(-1, -held);
          if (own.requests === 0) byCaller.delete(key);
        },
      };
    },
  };
}
