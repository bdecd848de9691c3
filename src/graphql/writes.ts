/* What a write did: rest/send.ts gives a failed call its outcome, `perform` keeps it by field, `addOutcome` adds it to the errors. */
import type { GraphQLFormattedError } from 'graphql';
import { ClientError, type WriteOutcome } from '../errors.ts';
import type { CallContext } from '../rest/call-context.ts';
import type { RestClient } from '../rest/client.ts';
import { refusesInput, UpstreamError } from '../rest/upstream-error.ts';
import type { LoaderDependencies } from './loaders/loader.ts';

/** A problem that the caller can correct in the input of a mutation. */
export interface UserError {
  code: 'INVALID' | 'REQUIRED' | 'DUPLICATE' | 'TOO_LONG' | 'NOT_FOUND' | 'REJECTED';
  /** A path that begins with `input`. */
  field: readonly string[];
  message: string;
}

/** The parent of a payload: the result of a write to a player. When there are user errors, nothing was written. */
export type WriteParent = { playerUniqueId: string; userErrors: readonly UserError[] };
export type UpsertPlayerParent = WriteParent & { serviceId: string | null };
export type TrackEventsParent = WriteParent & { eventNames: readonly string[] };

/** A problem of a client's value: its code and the end of a sentence that begins with its name: "must not be empty". */
export type Problem = Pick<UserError, 'code' | 'message'>;

/** The user error of a problem at a path below `input`; none without a problem. */
export function userErrorAt(path: string[], problem: Problem | undefined): UserError[] {
  if (!problem) return [];
  return [{ code: problem.code, field: ['input', ...path], message: `${path.join('.')} ${problem.message}.` }];
}

export type Send<Result> = (rest: RestClient, callContext: CallContext) => Promise<Result>;

/** Thrown by a write that changed nothing, because the client must correct its input. */
export class InputRefused extends Error {
  readonly userErrors: UserError[];

  constructor(userErrors: UserError[]) {
    super('The input was refused');
    this.userErrors = userErrors;
  }
}

/**
 * The writes of one operation, and their outcomes.
 * @param clearCaches Clears the caches of the operation's loaders: a write to one player can change others (a friend's order makes
 * a referral active).
 */
export function createWrites(dependencies: LoaderDependencies, clearCaches: () => void) {
  const { rest, callContext, budget, record, report } = dependencies;
  /** By the response key of the mutation field. */
  const outcomes = new Map<string | number, WriteOutcome>();
  /** Whether the whole operation may be sent again. */
  let repeatable = true;
  const refused = (userErrors: UserError[]) => {
    for (const { code } of userErrors) record.userErrors.add(code);
    return { userErrors };
  };

  /**
   * An error of a mutation with the `outcome` of its field: `NOT_DONE` where nothing was begun, `DONE` for errors below a
   * write that was acknowledged. It stays `retryable` only where sending the whole operation again is safe: no write of it was
   * done, except events with an idempotency key, and none has an unknown outcome.
   */
  function addOutcome(error: GraphQLFormattedError): GraphQLFormattedError {
    const field = error.path?.[0];
    if (field === undefined) return error;
    const outcome = outcomes.get(field) ?? 'NOT_DONE';
    const { retryable, ...extensions } = error.extensions ?? {};
    const mayRepeat = retryable === true && outcome !== 'DONE' && repeatable;
    const added = retryable === undefined ? { outcome } : { retryable: mayRepeat, outcome };
    return { ...error, extensions: { ...extensions, ...added } };
  }

  return {
    /**
     * Performs the write of a mutation field and records its outcome. If `problems` is not empty, nothing is sent, and the
     * problems are returned. If the service refuses the input, a user error is returned. Any other failure is thrown.
     * @param field The response key of the mutation field.
     * @param isKeyed Whether the write has an idempotency key, so that it cannot be done twice.
     */
    async perform<Result>(
      field: string | number,
      problems: UserError[],
      send: Send<Result>,
      isKeyed = false,
    ): Promise<{ result?: Result; userErrors: UserError[] }> {
      if (problems.length > 0) return refused(problems);
      try {
        budget.consume(1);
        const result = await send(rest, callContext).finally(clearCaches);
        outcomes.set(field, 'DONE');
        repeatable &&= isKeyed;
        return { result, userErrors: [] };
      } catch (error) {
        if (error instanceof InputRefused) return refused(error.userErrors);
        const outcome = outcomeOf(error);
        outcomes.set(field, outcome);
        // The earlier operation with this idempotency key is under way: unknown yet, and safe to repeat.
        const isUnderWay = error instanceof ClientError && error.extensions['retryable'] === true;
        repeatable &&= isUnderWay || outcome === 'NOT_DONE';
        // After an attempt that may have been done, the refusal of a later one says nothing.
        if (!refusesInput(error) || outcome !== 'NOT_DONE') throw error;
        report(error, callContext);
        const code = error.serviceCode === undefined ? '' : `, code ${error.serviceCode}`;
        const message = `The referral and rewards service refused this input (status ${error.status}${code}).`;
        return refused([{ code: 'REJECTED', field: ['input'], message }]);
      }
    },

    addOutcome,

    /** The error for which the response of the operation is not sent: once for each write, with its outcome. */
    errorOfEach(error: GraphQLFormattedError): GraphQLFormattedError[] {
      const fields = [...outcomes.keys()];
      if (fields.length > 0) return fields.map((field) => addOutcome({ ...error, path: [field] }));
      return [{ ...error, extensions: { ...error.extensions, outcome: 'NOT_DONE' } }];
    },
  };
}

/** The outcome of a failed write. Errors of ours without an outcome were thrown before anything was sent. */
export function outcomeOf(error: unknown): WriteOutcome {
  if (error instanceof UpstreamError) return error.outcome ?? 'NOT_DONE';
  return error instanceof ClientError && error.extensions['outcome'] !== 'UNKNOWN' ? 'NOT_DONE' : 'UNKNOWN';
}
