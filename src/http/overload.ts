/* What keeps the gateway responsive under load. Nothing waits: a request that cannot be served now is refused. */
import { existsSync, readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { FastifyInstance } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../caller.ts';
import type { Config } from '../config/config.ts';
import { OVERLOADED_MESSAGE, requestError } from '../errors.ts';
import { MEMORY } from '../memory.ts';

/** The average delay of the event loop above which requests are refused, in milliseconds. */
const MAX_EVENT_LOOP_DELAY_MS = 1_000;
/** The least share of the CPU of a process that is late because of its work. Quotas of containers can be as small as 0.08. */
const MIN_CPU_SHARE = 0.05;
/** How often the delay of the event loop is sampled, in milliseconds. */
const RESOLUTION_MS = 10;
/** File descriptors for everything that is no connection of a client or to the REST service. */
const OTHER_FILES = 100;
/** How often refused connections, and refused operations, are logged, in milliseconds. */
const LINE_MS = 60_000;
const LIMITS = '/proc/self/limits';
const DROPPED = 'new connections are refused: raise the limit of open files (ulimit -n, LimitNOFILE), or add replicas';
/** The share of the memory that the heap takes, above which requests are refused. */
const MAX_HEAP_SHARE = 0.9;
/** How many bytes of bodies, and of responses that wait to be sent, all callers may have; one a quarter of what the others leave. */
const MAX_BYTES = 64 * 1_024 * 1_024;
/** How many callers are counted: many more than can have a request in flight. */
const MAX_CALLERS = 10_000;

const UNDER_PRESSURE = 'the event loop is late, or the heap is nearly full';
const FULL = 'as many operations in flight as allowed';
/** Created once: creating an error is the most expensive part of a refusal. */
export const OVERLOADED = requestError('OVERLOADED', 503, OVERLOADED_MESSAGE, { retryable: true, retryAfterMs: 1_000 });

/**
 * Tells whether the event loop was late in the last second, or the heap is nearly full. Not by @fastify/under-pressure: it reads the
 * memory of the process from a file each second, and throws in a timer, which ends the process, when no file descriptor is left.
 * A process that was suspended, as by Cloud Run between two requests, was late without any work: its next requests are served.
 */
export function watchPressure(maxDelayMs = MAX_EVENT_LOOP_DELAY_MS) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  let isUnderPressure = false;
  let [at, cpu] = [performance.now(), process.cpuUsage()];
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(cpu);
    const hasWorked = user + system > MIN_CPU_SHARE * 1_000 * (performance.now() - at);
    [at, cpu] = [performance.now(), process.cpuUsage()];
    const isLate = maxDelayMs > 0 && delay.mean / 1e6 - RESOLUTION_MS > maxDelayMs && hasWorked;
    isUnderPressure = isLate || getHeapStatistics().used_heap_size > MEMORY * MAX_HEAP_SHARE;
    delay.reset();
  }, 1_000).unref();
  delay.enable();
  return {
    isUnderPressure: () => isUnderPressure,
    stop(): void {
      clearInterval(timer);
      delay.disable();
    },
  };
}

/**
 * Bounds the connections of clients, so that file descriptors are left for the REST service, Redis and files: at most half of
 * those of this process for clients, if the others need so many. Node closes a new connection above it at once. Linux alone
 * says how many there are; elsewhere there is no bound.
 * @param others How many connections the gateway opens itself at most.
 */
export function boundConnections({ server, log }: FastifyInstance, others: number): void {
  if (!existsSync(LIMITS)) return;
  const limit = Number(/^Max open files +(\d+)/m.exec(readFileSync(LIMITS, 'utf8'))?.[1]);
  if (Number.isNaN(limit)) return;
  const maxConnections = limit - Math.min(others + OTHER_FILES, Math.floor(limit / 2));
  server.maxConnections = maxConnections;
  const drops = oncePerMinute();
  server.on('drop', () => drops(DROPPED, () => log.warn({ maxConnections, files: limit }, DROPPED)));
}

/** Returns a function that calls what it is given, at most once a minute for each reason: every request could cause a line. */
export function oncePerMinute(): (reason: string, write: () => void) => void {
  const next = new Map<string, number>();
  return (reason, write) => {
    if (performance.now() < (next.get(reason) ?? 0)) return;
    next.set(reason, performance.now() + LINE_MS);
    write();
  };
}

export type Slots = ReturnType<typeof createSlots>;
/** The place of one request in flight. */
export interface Slot {
  /** Counts bytes of the request's body, or of its response; false when there are too many already. */
  addBytes(bytes: number): boolean;
  /** For the response, and for the operation. */
  hold(): void;
  /** Called once by each that holds the slot. The last one makes it free. */
  release(): void;
}

/**
 * Bounds the requests in flight, and the bytes of their bodies and responses.
 * @param max How many requests may be in flight: `all` of all callers; of a caller that is alone, `player`, or `server` with
 * `any-player`. Beside others, a caller may have the same share of what these leave, so that some are left for the next one. With
 * `any-player` it may always have `player`, because players can use all.
 */
export function createSlots(max: Config['concurrent'], isUnderPressure: () => boolean) {
  const all = { requests: 0, bytes: 0 };
  let onIdle = () => {};
  /** No request deletes its entry; see docs/decisions/benchmark-notes.md. */
  const byCaller = new LRUCache<string, typeof all>({ max: MAX_CALLERS });
  return {
    /** How many requests are in flight: those whose response is not closed, or whose operation is not over. */
    active: () => all.requests,
    /** Resolves when no request is in flight. Events with an idempotency key go on without their client. */
    idle: () =>
      new Promise<void>((resolve) => {
        onIdle = resolve;
        if (all.requests === 0) resolve();
      }),
    /** A slot for a request, which is taken while it is held; the reason when there is none for this caller. */
    admit(caller: Caller): Slot | string {
      if (isUnderPressure()) return UNDER_PRESSURE;
      const own = byCaller.get(caller.key) ?? { requests: 0, bytes: 0 };
      byCaller.set(caller.key, own);
      const most = caller.isServer ? max.server : max.player;
      if (own.requests >= most) return `this caller has ${FULL}`;
      const left = max.all - all.requests + own.requests;
      // One is left for the next caller.
      const share = Math.min(left - 1, Math.ceil((most * left) / max.all));
      const isBesideOthers = all.requests > own.requests;
      const exceedsShare = isBesideOthers && own.requests >= Math.max(share, caller.isServer ? max.player : 1);
      if (all.requests >= max.all || exceedsShare) return `all callers together have nearly ${FULL}`;
      let holders = 0;
      let ownBytes = 0;
      const count = (requests: number, bytes: number) => {
        ownBytes += bytes;
        for (const one of [all, own]) {
          one.requests += requests;
          one.bytes += bytes;
        }
        if (all.requests === 0) onIdle();
      };
      return {
        addBytes(bytes) {
          // The client disconnected, and the operation is over: the response is not sent.
          if (holders === 0) return true;
          const fits = own.bytes + bytes <= (MAX_BYTES - all.bytes + own.bytes) / 4;
          if (fits) count(0, bytes);
          return fits;
        },
        hold() {
          holders += 1;
          if (holders === 1) count(1, 0);
        },
        release() {
          holders -= 1;
          if (holders === 0) count(-1, -ownBytes);
        },
      };
    },
  };
}
