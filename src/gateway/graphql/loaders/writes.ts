import { Cancellation } from '../../../rest/call-context.ts';
import type { PlayerUpsertRequest, PlayerUpsertResponse, TrackEventsRequest } from '../../../rest/wire.ts';
import { WriteOutcomes } from '../write-outcomes.ts';
import type { LoaderDependencies } from './call.ts';

/**
 * The three writes, for one operation. After a write, successful or not, the caches of the operation's loaders are cleared: a
 * write to one player can also change others (a friend's order makes a referral active).
 */
export class OperationWrites {
  /** The outcomes of the writes so far. */
  readonly outcomes = new WriteOutcomes();
  readonly #dependencies: LoaderDependencies;
  readonly #forget: () => void;

  /** @param forget Clears the caches of the operation's loaders. */
  constructor(dependencies: LoaderDependencies, forget: () => void) {
    this.#dependencies = dependencies;
    this.#forget = forget;
  }

  upsertPlayer(body: PlayerUpsertRequest): Promise<PlayerUpsertResponse> {
    const { rest, call } = this.#dependencies;
    return this.#write(() => rest.upsertPlayer(body, call));
  }

  deletePlayer(playerUniqueId: string): Promise<'deleted' | 'unknown'> {
    const { rest, call } = this.#dependencies;
    return this.#write(() => rest.deletePlayer(playerUniqueId, call));
  }

  trackEvents(body: TrackEventsRequest): Promise<void> {
    const { rest, call } = this.#dependencies;
    return this.#write(() => rest.trackEvents(body, call));
  }

  /**
   * Sends events that have an idempotency key. Not cancelled when the client disconnects, only at the deadline, because the
   * client can ask for the outcome again with the key.
   */
  trackKeyedEvents(body: TrackEventsRequest): Promise<void> {
    const { rest, call } = this.#dependencies;
    return this.#write(() => rest.trackEvents(body, { ...call, cancellation: new Cancellation() }));
  }

  async #write<Result>(call: () => Promise<Result>): Promise<Result> {
    this.#dependencies.budget.take(1);
    try {
      return await call();
    } finally {
      this.#forget();
    }
  }
}
