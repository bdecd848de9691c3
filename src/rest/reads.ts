/*
 * The reads of one endpoint: those in flight are shared, those that came can be kept for a little.
 *
 * What must never happen: somebody asks after a write was acknowledged and is given an answer from before it. So a write
 * drops what it may have changed twice, when it is sent and again when it is acknowledged:
 *
 *     read A ──────────────┐                 A began before the write: nobody new joins it
 *            write ────────┼──────┐          from here on; its own callers asked before
 *               read B ────┼──────┼──┐       B began beside the write and may have either state:
 *                          A ends │  │       shared until the acknowledgement, not after
 *                                 ack│
 *                          read C ───┼──     C begins its own call
 *
 * A read that was dropped still answers those who wait for it, but is not kept.
 */
import { Call, tooLate } from './call.ts';
import type { Json } from './decode/members.ts';
import type { Endpoint } from './endpoints.ts';
import type { Observer } from './observe.ts';
import type { Operation } from './operation.ts';
import type { ReadCache } from './read-cache.ts';
import type { IdentifiedRequest } from './request.ts';
import type { Resilience } from './resilience.ts';

export interface ReadsOptions<Result> {
  endpoint: Endpoint;
  resilience: Resilience;
  observer: Observer;
  timeoutMs: number;
  decode(body: Json, playerUniqueId: string): Result;
  /** Where answers are kept; undefined: nowhere. */
  cache?: ReadCache<Result> | undefined;
}

interface Flight<Result> {
  call: Call<Result | null>;
  playerUniqueId: string;
}

export class Reads<Result> {
  readonly #options: ReadsOptions<Result>;
  readonly #flights = new Map<string, Flight<Result>>();

  constructor(options: ReadsOptions<Result>) {
    this.#options = options;
  }

  read(request: IdentifiedRequest, playerUniqueId: string, op: Operation): Promise<Result | null> {
    const { cache, endpoint, timeoutMs, observer } = this.#options;
    const { identity } = request;
    const kept = cache?.fresh(identity);
    if (kept !== undefined) {
      reportKept(endpoint, observer, op);
      return Promise.resolve(kept);
    }
    const inFlight = this.#flights.get(identity);
    const { call } = inFlight ?? this.#begin(request, playerUniqueId, op);
    const fallback = cache && (() => cache.stale(identity));
    return call.join(op, { timeoutMs, observer, shared: inFlight !== undefined, fallback });
  }

  /** Ends the sharing of reads about one player, and forgets what was kept of it. */
  drop(playerUniqueId: string): void {
    for (const [identity, flight] of this.#flights) {
      if (flight.playerUniqueId === playerUniqueId) this.#flights.delete(identity);
    }
    this.#options.cache?.drop(playerUniqueId);
  }

  /** The same for all players. */
  dropAll(): void {
    this.#flights.clear();
    this.#options.cache?.clear();
  }

  #begin(request: IdentifiedRequest, playerUniqueId: string, op: Operation): Flight<Result> {
    const { endpoint } = this.#options;
    if (op.signal.aborted || performance.now() >= op.deadline) throw tooLate(endpoint);
    op.spend();
    const flight = { call: new Call<Result | null>(endpoint, request), playerUniqueId };
    this.#flights.set(request.identity, flight);
    flight.call.start(() => this.#fly(request.identity, flight));
    return flight;
  }

  async #fly(identity: string, flight: Flight<Result>): Promise<Result | null> {
    const { resilience, cache, decode } = this.#options;
    const { call, playerUniqueId } = flight;
    try {
      const body = await resilience.send(call);
      if (body === null) return null;
      const result = decode(body, playerUniqueId);
      if (this.#flights.get(identity) === flight) cache?.put(identity, playerUniqueId, result, call.characters);
      return result;
    } finally {
      if (this.#flights.get(identity) === flight) this.#flights.delete(identity);
    }
  }
}

function reportKept({ method, template }: Endpoint, observer: Observer, op: Operation): void {
  const record = { method, template, ms: 0, attempts: 0, shared: false, cached: true, stale: false };
  observer.call?.(record);
  op.onCall?.(record);
}
