import { Cancellation } from '../../../rest/cancellation.ts';
import type { PlayerUpsertRequest, PlayerUpsertResponse, TrackEventsRequest } from '../../../rest/wire.ts';
import { WriteOutcomes } from '../write-outcomes.ts';
import type { Reading } from './call.ts';

/**
 * The three writes, for one operation. After a write, successful or not, the caches of the operation's loaders are cleared: a
 * write to one player can also change others (a friend's order makes a referral active).
 */
export class Writes {
  /** What became of the writes so far. */
  readonly outcomes = new WriteOutcomes();
  readonly #reading: Reading;
  readonly #forget: () => void;

  /** @param forget Clears the caches of the operation's loaders. */
  constructor(reading: Reading, forget: () => void) {
    this.#reading = reading;
    this.#forget = forget;
  }

  upsertPlayer(body: PlayerUpsertRequest): Promise<PlayerUpsertResponse> {
    const { rest, call } = this.#reading;
    return this.#write(() => rest.upsertPlayer(body, call));
  }

  deletePlayer(playerUniqueId: string): Promise<'deleted' | 'unknown'> {
    const { rest, call } = this.#reading;
    return this.#write(() => rest.deletePlayer(playerUniqueId, call));
  }

  trackEvents(body: TrackEventsRequest): Promise<void> {
    const { rest, call } = this.#reading;
    return this.#write(() => rest.trackEvents(body, call));
  }

  /**
   * The same, until there is an outcome or the deadline passes, even when the client disconnects: a client that knows the
   * events by a key comes back and asks for that outcome.
   */
  completeEvents(body: TrackEventsRequest): Promise<void> {
    const { rest, call } = this.#reading;
    return this.#write(() => rest.trackEvents(body, { ...call, cancellation: new Cancellation() }));
  }

  async #write<Result>(call: () => Promise<Result>): Promise<Result> {
    this.#reading.budget.take(1);
    try {
      return await call();
    } finally {
      this.#forget();
    }
  }
}
