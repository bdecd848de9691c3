/*
 * When requests begin. Requests that arrived together begin together (see batch-per-tick.ts), but only a limited number in
 * one turn of the event loop. Node accepts one connection in each turn. So during long turns new clients wait in the kernel,
 * where they cannot be answered or refused. Under load, requests also wait for a few turns while each of these turns accepts
 * a connection. Then more clients are accepted than served, and the others are refused soon.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** The number of requests that begin in one turn is halved after a turn longer than this, and grows by one after others. */
const LONG_TURN_MS = 8;
const MIN_BEGUN = 4;
const MAX_BEGUN = 64;
/** How long requests wait while connections are accepted. */
const ACCEPT_MS = 4;
/** How many requests may wait to begin; others are refused. */
const MAX_WAITING = 1_000;

interface Waiting {
  readonly request: FastifyRequest;
  readonly since: number;
  begin(): void;
}

/**
 * Makes every request wait until it may begin. The returned function tells whether a request waited too long.
 *
 * @param maxWaitMs How long a request may wait, in milliseconds.
 */
export function beginInTurns(app: FastifyInstance, maxWaitMs: number): (request: FastifyRequest) => boolean {
  const late = new WeakSet<FastifyRequest>();
  const waiting: Waiting[] = [];
  let mostBegun = MAX_BEGUN;
  let scheduled = false;
  let accepted = false;
  let acceptingSince: number | undefined;
  let begunAt: number | undefined;

  app.server.on('connection', () => {
    accepted = true;
  });

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(turn);
  }

  function turn(): void {
    scheduled = false;
    const now = performance.now();
    if (begunAt !== undefined) {
      mostBegun =
        now - begunAt > LONG_TURN_MS ? Math.max(MIN_BEGUN, mostBegun >> 1) : Math.min(MAX_BEGUN, mostBegun + 1);
      begunAt = undefined;
    }
    if (accepted) {
      accepted = false;
      acceptingSince ??= now;
      if (now - acceptingSince < ACCEPT_MS) {
        schedule();
        return;
      }
    }
    acceptingSince = undefined;
    refuseOld(now);
    // The newest first: under lasting overload, the oldest first would make every response late.
    const begun = waiting.splice(-mostBegun);
    if (waiting.length > 0) {
      begunAt = now;
      schedule();
    }
    for (const one of begun) one.begin();
  }

  function refuseOld(now: number): void {
    const young = waiting.findIndex(({ since }) => now - since < maxWaitMs);
    for (const one of waiting.splice(0, young < 0 ? waiting.length : young)) {
      late.add(one.request);
      one.begin();
    }
  }

  app.addHook('onRequest', (request, { raw }, done) => {
    if (waiting.length >= MAX_WAITING) {
      late.add(request);
      return done();
    }
    const begin = () => {
      // Nothing begins for a client that has disconnected.
      if (!raw.destroyed) done();
    };
    waiting.push({ request, since: performance.now(), begin });
    schedule();
  });
  return (request) => late.has(request);
}
