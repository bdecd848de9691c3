/*
 * Decides when requests begin. Requests that arrive together begin together (see batch-per-tick.ts), at most a limited
 * number in each turn of the event loop. Node accepts one connection in each turn, so long turns delay new connections, and
 * the gateway cannot refuse a connection that it has not accepted. Therefore, under load, requests wait up to 4 ms while
 * connections are accepted.
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

/** Makes every request of an application wait until it may begin. */
export class Turns {
  readonly #maxWaitMs: number;
  readonly #late = new WeakSet<FastifyRequest>();
  readonly #waiting: Waiting[] = [];
  #mostBegun = MAX_BEGUN;
  #scheduled = false;
  #accepted = false;
  #acceptingSince: number | undefined;
  #begunAt: number | undefined;

  /** @param maxWaitMs How long a request may wait, in milliseconds. */
  constructor(app: FastifyInstance, maxWaitMs: number) {
    this.#maxWaitMs = maxWaitMs;
    app.server.on('connection', () => {
      this.#accepted = true;
    });
    app.addHook('onRequest', (request, { raw }, done) => {
      if (this.#waiting.length >= MAX_WAITING) {
        this.#late.add(request);
        return done();
      }
      const begin = () => {
        // Nothing begins for a client that has disconnected.
        if (!raw.destroyed) done();
      };
      this.#waiting.push({ request, since: performance.now(), begin });
      this.#schedule();
    });
  }

  /** Whether a request waited too long, or came when too many waited. It is to be refused. */
  isLate(request: FastifyRequest): boolean {
    return this.#late.has(request);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#turn);
  }

  readonly #turn = () => {
    this.#scheduled = false;
    const now = performance.now();
    if (this.#begunAt !== undefined) {
      const isLong = now - this.#begunAt > LONG_TURN_MS;
      this.#mostBegun = isLong ? Math.max(MIN_BEGUN, this.#mostBegun >> 1) : Math.min(MAX_BEGUN, this.#mostBegun + 1);
      this.#begunAt = undefined;
    }
    if (this.#accepted) {
      this.#accepted = false;
      this.#acceptingSince ??= now;
      if (now - this.#acceptingSince < ACCEPT_MS) {
        this.#schedule();
        return;
      }
    }
    this.#acceptingSince = undefined;
    this.#markLate(now);
    // The newest first: under lasting overload, the oldest first would make every response late.
    const begun = this.#waiting.splice(-this.#mostBegun);
    if (this.#waiting.length > 0) {
      this.#begunAt = now;
      this.#schedule();
    }
    for (const one of begun) one.begin();
  };

  #markLate(now: number): void {
    const young = this.#waiting.findIndex(({ since }) => now - since < this.#maxWaitMs);
    for (const one of this.#waiting.splice(0, young < 0 ? this.#waiting.length : young)) {
      this.#late.add(one.request);
      one.begin();
    }
  }
}
