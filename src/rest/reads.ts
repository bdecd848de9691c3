/*
 * Reads of one endpoint: identical reads in flight share one call (single flight). Results can be cached for a short time.
 *
 * An operation that begins after a write was acknowledged must never get a result from before the write. So a write
 * invalidates the reads that it may change. It does so twice: when it is sent, and when it is acknowledged.
 *
 *     read A ──────────────┐                 A began before the write: no new subscriber
 *            write ────────┼──────┐          from here on
 *               read B ────┼──────┼──┐       B began during the write and may see either state:
 *                          A ends │  │       shared until the acknowledgement, not after
 *                                 ack│
 *                          read C ───┼──     C is a new call
 *
 * A read that was invalidated still serves its subscribers, but its result is not cached.
 */
import type { ReadCache } from './cache.ts';
import { type Call, SubscribedCall } from './call.ts';
import { assertActive, type CallContext } from './call-context.ts';
import type { Json } from './decode/members.ts';
import type { Endpoint } from './endpoints.ts';
import type { Observer } from './observer.ts';
import type { CreateRequest, IdentifiedRequest, RequestContent } from './request.ts';
import type { Resilience } from './resilience.ts';

/**
 * The map of calls in flight is copied after (this number + its size) removals. V8 replaces the hash table of a Map every
 * few dozen changes, and the old table keeps a reference to the new one. Once a table is in the old generation, all later
 * ones are promoted too, with the calls in them. Measured: 900 KB promoted by every collection instead of 30.
 */
const RENEW_AFTER = 32;

export interface ReadsOptions<Result> {
  endpoint: Endpoint;
  createRequest: CreateRequest;
  resilience: Resilience;
  observer: Observer;
  timeoutMs: number;
  decode(body: Json, playerUniqueId: string, request: IdentifiedRequest): Result;
  /** Undefined: results are not cached. */
  cache?: ReadCache<Result> | undefined;
}

export class Reads<Result> {
  readonly #options: ReadsOptions<Result>;
  /** The calls in flight that can be shared, by request identity. */
  #inFlight = new Map<string, SubscribedCall<Result | null>>();
  #removed = 0;
  readonly #decode: (body: Json | null, call: SubscribedCall<Result | null>) => Result | null;

  constructor(options: ReadsOptions<Result>) {
    this.#options = options;
    this.#decode = (body, { playerUniqueId, request }) => body && options.decode(body, playerUniqueId, request);
  }

  /** Throws a RangeError for an id or a language that cannot be sent. */
  async read(content: RequestContent & { playerUniqueId: string }, operation: CallContext): Promise<Result | null> {
    const { cache, endpoint, createRequest, timeoutMs, observer } = this.#options;
    const context = operation.beginCall ? { ...operation, ...operation.beginCall() } : operation;
    const request = createRequest(endpoint, content, context);
    const { identity } = request;
    const cached = cache?.fresh(identity);
    if (cached !== undefined) {
      reportCached(endpoint, observer, context);
      return cached;
    }
    assertActive(context, endpoint);
    const fallback = cache && (() => cache.stale(identity));
    const inFlight = this.#inFlight.get(identity);
    if (inFlight && isShareable(inFlight, context)) return await inFlight.subscribe(context, observer, fallback);

    const call = new SubscribedCall<Result | null>(endpoint, request, content.playerUniqueId, {
      timeoutMs,
      callerKey: context.callerKey,
    });
    this.#inFlight.set(identity, call);
    const result = call.subscribe(context, observer, fallback);
    void this.#send(call);
    return await result;
  }

  /** Invalidates reads about one player. */
  invalidate(playerUniqueId: string): void {
    for (const [identity, call] of this.#inFlight) {
      if (call.playerUniqueId === playerUniqueId) this.#remove(identity);
    }
    this.#options.cache?.invalidate(playerUniqueId);
  }

  invalidateAll(): void {
    this.#inFlight.clear();
    this.#options.cache?.clear();
  }

  /** Never rejects: errors go to the subscribers. */
  async #send(call: SubscribedCall<Result | null>): Promise<void> {
    const { resilience, cache } = this.#options;
    const { identity } = call.request;
    try {
      const result = await resilience.send(call, this.#decode);
      if (result && this.#inFlight.get(identity) === call) cache?.put(identity, result, call);
      call.succeed(result);
    } catch (error) {
      call.fail(error);
    } finally {
      if (this.#inFlight.get(identity) === call) this.#remove(identity);
    }
  }

  #remove(identity: string): void {
    this.#inFlight.delete(identity);
    this.#removed += 1;
    if (this.#removed < RENEW_AFTER + this.#inFlight.size) return;
    this.#removed = 0;
    this.#inFlight = new Map(this.#inFlight);
  }
}

/** A call that waits uses the share of the caller that began it. Another caller does not wait for that share. */
function isShareable(call: Call, { callerKey }: CallContext): boolean {
  if (call.cancelledBy) return false;
  return !call.isWaiting || call.callerKey === undefined || call.callerKey === callerKey;
}

function reportCached({ method, template }: Endpoint, observer: Observer, context: CallContext): void {
  const record = { method, template, ms: 0, queueMs: 0, attempts: 0, shared: false, cached: true, stale: false };
  observer.call?.(record);
  context.onCall?.(record);
}
