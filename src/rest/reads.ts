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
import { assertInTime, Call } from './call.ts';
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

export class Reads<Result> {
  readonly #options: ReadsOptions<Result>;
  readonly #inFlight = new Map<string, Call<Result | null>>();

  constructor(options: ReadsOptions<Result>) {
    this.#options = options;
  }

  async read(request: IdentifiedRequest, playerUniqueId: string, op: Operation): Promise<Result | null> {
    const { cache, endpoint, timeoutMs, observer } = this.#options;
    const { identity } = request;
    const kept = cache?.fresh(identity);
    if (kept !== undefined) {
      reportKept(endpoint, observer, op);
      return kept;
    }
    assertInTime(op, endpoint);
    const waiting = { timeoutMs, observer, fallback: cache && (() => cache.stale(identity)) };
    const shared = this.#inFlight.get(identity)?.join(op, waiting);
    if (shared) return await shared;

    const call = new Call<Result | null>(endpoint, request, playerUniqueId);
    this.#inFlight.set(identity, call);
    return await call.start(() => this.#fly(identity, call), op, waiting);
  }

  /** Ends the sharing of reads about one player, and forgets what was kept of it. */
  drop(playerUniqueId: string): void {
    for (const [identity, call] of this.#inFlight) {
      if (call.playerUniqueId === playerUniqueId) this.#inFlight.delete(identity);
    }
    this.#options.cache?.drop(playerUniqueId);
  }

  /** The same for all players. */
  dropAll(): void {
    this.#inFlight.clear();
    this.#options.cache?.clear();
  }

  async #fly(identity: string, call: Call<Result | null>): Promise<Result | null> {
    const { resilience, cache, decode } = this.#options;
    try {
      const body = await resilience.send(call);
      if (body === null) return null;
      const result = decode(body, call.playerUniqueId);
      if (this.#inFlight.get(identity) === call) cache?.put(identity, call.playerUniqueId, result, call.characters);
      return result;
    } finally {
      call.end();
      if (this.#inFlight.get(identity) === call) this.#inFlight.delete(identity);
    }
  }
}

function reportKept({ method, template }: Endpoint, observer: Observer, op: Operation): void {
  const record = { method, template, ms: 0, attempts: 0, shared: false, cached: true, stale: false };
  observer.call?.(record);
  op.onCall?.(record);
}
