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

import type { ReadCache } from './cache.ts';
import { assertInTime, SharedCall } from './call.ts';
import type { CallContext } from './call-context.ts';
import type { Json } from './decode/members.ts';
import type { Endpoint } from './endpoints.ts';
import { InFlight } from './in-flight.ts';
import type { Observer } from './observe.ts';
import type { IdentifiedRequest } from './request.ts';
import type { ReadAnswer, Resilience } from './resilience.ts';

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
  readonly #inFlight = new InFlight<Result | null>();
  readonly #read: ReadAnswer<Result | null>;

  constructor(options: ReadsOptions<Result>) {
    this.#options = options;
    this.#read = (body, { playerUniqueId }) => body && options.decode(body, playerUniqueId);
  }

  read(request: IdentifiedRequest, playerUniqueId: string, op: CallContext): Promise<Result | null> {
    const { cache, endpoint, timeoutMs, observer } = this.#options;
    const { identity } = request;
    const kept = cache?.fresh(identity);
    if (kept !== undefined) {
      reportKept(endpoint, observer, op);
      return Promise.resolve(kept);
    }
    assertInTime(op, endpoint);
    const waiting = cache ? { timeoutMs, observer, fallback: () => cache.stale(identity) } : this.#options;
    const underWay = this.#inFlight.find(identity, playerUniqueId);
    if (underWay) return underWay.join(op, waiting);

    const call = new SharedCall<Result | null>(endpoint, request, playerUniqueId);
    this.#inFlight.add(call);
    const answer = call.join(op, waiting);
    void this.#fly(call);
    return answer;
  }

  /** Ends the sharing of reads about one player, and forgets what was kept of it. */
  drop(playerUniqueId: string): void {
    this.#inFlight.removePlayer(playerUniqueId);
    this.#options.cache?.drop(playerUniqueId);
  }

  /** The same for all players. */
  dropAll(): void {
    this.#inFlight.clear();
    this.#options.cache?.clear();
  }

  /** Never rejects: those who wait are told. */
  async #fly(call: SharedCall<Result | null>): Promise<void> {
    const { resilience, cache } = this.#options;
    try {
      const result = await resilience.send(call, this.#read);
      if (result && cache && this.#inFlight.has(call)) {
        cache.put(call.request.identity, result, call);
      }
      call.answer(result);
    } catch (error) {
      call.fail(error);
    } finally {
      this.#inFlight.remove(call);
    }
  }
}

function reportKept({ method, template }: Endpoint, observer: Observer, op: CallContext): void {
  const record = { method, template, ms: 0, attempts: 0, shared: false, cached: true, stale: false };
  observer.call?.(record);
  op.onCall?.(record);
}
