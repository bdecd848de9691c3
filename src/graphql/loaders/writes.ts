import type { GraphQLFormattedError } from 'graphql';
import type { WriteOutcome } from '../../errors.ts';
import { ClientError } from '../../errors.ts';
import { abortAt } from '../../rest/call-context.ts';
import { UpstreamError } from '../../rest/errors.ts';
import type { PlayerUpsertRequest, TrackEventsRequest } from '../../rest/wire.ts';
import type { LoaderDependencies } from './call.ts';

export type OperationWrites = ReturnType<typeof createOperationWrites>;

/**
 * The writes of one operation. After a write, successful or not, the caches of the operation's loaders are cleared: a write
 * to one player can also change others (a friend's order makes a referral active).
 *
 * @param clearCaches Clears the caches of the operation's loaders.
 */
export function createOperationWrites({ rest, call, budget }: LoaderDependencies, clearCaches: () => void) {
  async function write<Result>(send: () => Promise<Result>): Promise<Result> {
    budget.take(1);
    try {
      return await send();
    } finally {
      clearCaches();
    }
  }
  return {
    /** The outcomes of the writes so far. */
    outcomes: new WriteOutcomes(),
    upsertPlayer: (body: PlayerUpsertRequest) => write(() => rest.upsertPlayer(body, call)),
    deletePlayer: (playerUniqueId: string) => write(() => rest.deletePlayer(playerUniqueId, call)),
    trackEvents: (body: TrackEventsRequest) => write(() => rest.trackEvents(body, call)),
    /**
     * Sends events that have an idempotency key. Not cancelled when the client disconnects, only at the deadline, because
     * the client can ask for the outcome again with the key.
     */
    async trackKeyedEvents(body: TrackEventsRequest) {
      const controller = new AbortController();
      const clearTimer = abortAt(controller, call.deadline);
      try {
        await write(() => rest.trackEvents(body, { ...call, signal: controller.signal }));
      } finally {
        clearTimer();
      }
    },
  };
}

/** The outcomes of the writes of one operation, by the response key of their mutation fields. */
class WriteOutcomes {
  #byField: Map<string | number, WriteOutcome> | undefined;
  #repeatable = true;

  /**
   * @param isKeyed Whether the write has an idempotency key, so that it cannot be done twice.
   * @param mayRepeat Whether its error says that the write may be sent again, whatever its outcome.
   */
  record(field: string | number, outcome: WriteOutcome, isKeyed: boolean, mayRepeat = false): void {
    this.#byField ??= new Map();
    this.#byField.set(field, outcome);
    this.#repeatable &&= mayRepeat || outcome === 'NOT_DONE' || (outcome === 'DONE' && isKeyed);
  }

  /**
   * An error of a mutation, as the client sees it. `outcome` is that of the mutation field it belongs to: `NOT_DONE` where
   * nothing was begun, `DONE` for errors below a write that was acknowledged.
   *
   * An error stays `retryable` only where sending the whole operation again is safe: no write of it was done, except events
   * with an idempotency key, and none has an unknown outcome. With a key, repeating an unknown outcome is safe too, but the
   * response would always be the same, so a client that retries by itself is not asked to.
   */
  addTo(error: GraphQLFormattedError): GraphQLFormattedError {
    const field = error.path?.[0];
    if (field === undefined) return error;
    const outcome = this.#byField?.get(field) ?? 'NOT_DONE';
    const { retryable, ...extensions } = error.extensions ?? {};
    if (retryable === undefined) return { ...error, extensions: { ...extensions, outcome } };
    const mayRepeat = retryable === true && outcome !== 'DONE' && this.#repeatable;
    return { ...error, extensions: { ...extensions, retryable: mayRepeat, outcome } };
  }
}

/**
 * The outcome of a write that failed with an error. Errors of ours without an outcome were thrown before anything was sent;
 * after an unexpected error the outcome is unknown.
 */
export function outcomeOf(error: unknown): WriteOutcome {
  if (error instanceof UpstreamError) return error.outcome ?? 'NOT_DONE';
  return error instanceof ClientError && error.extensions['outcome'] !== 'UNKNOWN' ? 'NOT_DONE' : 'UNKNOWN';
}
