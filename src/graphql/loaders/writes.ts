import type { GraphQLFormattedError } from 'graphql';
import { ClientError, type WriteOutcome } from '../../errors.ts';
import { UpstreamError } from '../../rest/errors.ts';
import { abortAt } from '../../rest/send.ts';
import type { PlayerUpsertRequest, TrackEventsRequest } from '../../rest/wire.ts';
import type { LoaderDependencies } from './call.ts';

/** A problem that the caller can correct in the input of a mutation. */
export interface UserError {
  code: 'INVALID' | 'REQUIRED' | 'DUPLICATE' | 'TOO_LONG' | 'NOT_FOUND' | 'REJECTED';
  /** A path that begins with `input`. */
  field: readonly string[];
  message: string;
}

/** A mistake in the input that is found only while the write is prepared. Nothing was written. */
export class InputError extends Error {
  readonly userError: UserError;

  constructor(userError: UserError) {
    super(userError.message);
    this.userError = userError;
  }
}

/** The result of a write, or the problems that the client can correct. */
interface WriteResult<Result> {
  result?: Result;
  userErrors: UserError[];
}

/** HTTP statuses that mean that the service refuses the input. */
const INPUT_REFUSED: ReadonlySet<number | undefined> = new Set([400, 422]);

/**
 * The writes of one operation, and their outcomes. After a write, successful or not, the caches of the operation's loaders are
 * cleared: a write to one player can also change others (a friend's order makes a referral active).
 */
export class OperationWrites {
  readonly #dependencies: LoaderDependencies;
  readonly #clearCaches: () => void;
  /** By the response key of the mutation field. */
  readonly #outcomes = new Map<string | number, WriteOutcome>();
  #repeatable = true;

  constructor(dependencies: LoaderDependencies, clearCaches: () => void) {
    this.#dependencies = dependencies;
    this.#clearCaches = clearCaches;
  }

  upsertPlayer(body: PlayerUpsertRequest) {
    return this.#write(({ rest, call }) => rest.upsertPlayer(body, call));
  }

  deletePlayer(playerUniqueId: string) {
    return this.#write(({ rest, call }) => rest.deletePlayer(playerUniqueId, call));
  }

  trackEvents(body: TrackEventsRequest) {
    return this.#write(({ rest, call }) => rest.trackEvents(body, call));
  }

  /**
   * Sends events that have an idempotency key. Not cancelled when the client disconnects, only at the deadline, because the
   * client can ask for the outcome again with the key.
   */
  async trackKeyedEvents(body: TrackEventsRequest): Promise<void> {
    const controller = new AbortController();
    const clearTimer = abortAt(controller, this.#dependencies.call.deadline);
    const { signal } = controller;
    await this.#write(({ rest, call }) => rest.trackEvents(body, { ...call, signal })).finally(clearTimer);
  }

  async #write<Result>(send: (dependencies: LoaderDependencies) => Promise<Result>): Promise<Result> {
    this.#dependencies.budget.take(1);
    return await send(this.#dependencies).finally(this.#clearCaches);
  }

  /**
   * Performs the write of a mutation field and records its outcome. If `problems` is not empty, nothing is sent, and the
   * problems are returned. If the service refuses the input, a user error is returned. Any other failure is thrown.
   *
   * @param field The response key of the mutation field.
   * @param isKeyed Whether the write has an idempotency key, so that it cannot be done twice.
   */
  async perform<Result>(
    field: string | number,
    problems: UserError[],
    write: () => Promise<Result>,
    isKeyed = false,
  ): Promise<WriteResult<Result>> {
    if (problems.length > 0) return { userErrors: problems };
    try {
      const result = await write();
      this.#outcomes.set(field, 'DONE');
      this.#repeatable &&= isKeyed;
      return { result, userErrors: [] };
    } catch (error) {
      if (error instanceof InputError) return { userErrors: [error.userError] };
      const outcome = outcomeOf(error);
      this.#outcomes.set(field, outcome);
      // The earlier operation with this idempotency key is still under way, or nothing was sent.
      const mayRepeat = error instanceof ClientError && error.extensions['retryable'] === true;
      this.#repeatable &&= mayRepeat || outcome === 'NOT_DONE';
      const isRefused = error instanceof UpstreamError && error.code === 'UPSTREAM_REJECTED';
      if (!isRefused || !INPUT_REFUSED.has(error.status)) throw error;
      const message = 'The referral and rewards service refused this input.';
      return { userErrors: [{ code: 'REJECTED', field: ['input'], message }] };
    }
  }

  /**
   * An error of a mutation, as the client sees it. `outcome` is that of the mutation field it belongs to: `NOT_DONE` where
   * nothing was begun, `DONE` for errors below a write that was acknowledged.
   *
   * An error stays `retryable` only where sending the whole operation again is safe: no write of it was done, except events
   * with an idempotency key, and none has an unknown outcome. With a key, repeating an unknown outcome is safe too, but the
   * response would always be the same, so a client that retries by itself is not asked to.
   */
  addOutcome(error: GraphQLFormattedError): GraphQLFormattedError {
    const field = error.path?.[0];
    if (field === undefined) return error;
    const outcome = this.#outcomes.get(field) ?? 'NOT_DONE';
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
