import type { GraphQLResolveInfo } from 'graphql';
import { UpstreamError } from '../../../rest/errors.ts';
import { InputError, type UserError } from '../input/user-error.ts';
import { outcomeOf, type WriteOutcomes } from '../write-outcomes.ts';

/** The outcome of a write: its result, or the problems that the client can correct. */
export interface Outcome<Result> {
  result?: Result;
  userErrors: UserError[];
}

/** The mutation field that a write belongs to. */
export interface WriteField {
  info: GraphQLResolveInfo;
  /** Where the outcome is recorded. */
  outcomes: WriteOutcomes;
  /** Whether the write has an idempotency key. Default false. */
  isKeyed?: boolean;
}

/** HTTP statuses that mean that the service refuses the input. */
const INPUT_REFUSED: ReadonlySet<number | undefined> = new Set([400, 422]);

/**
 * Performs a write and records its outcome. If `problems` is not empty, nothing is sent, and the problems are returned. If
 * the service refuses the input, a user error is returned. Any other failure is thrown.
 */
export async function performWrite<Result>(
  { info, outcomes, isKeyed = false }: WriteField,
  problems: UserError[],
  write: () => Promise<Result>,
): Promise<Outcome<Result>> {
  if (problems.length > 0) return { userErrors: problems };
  try {
    const result = await write();
    outcomes.record(info.path.key, 'DONE', isKeyed);
    return { result, userErrors: [] };
  } catch (error) {
    if (error instanceof InputError) return { userErrors: [error.userError] };
    outcomes.record(info.path.key, outcomeOf(error), isKeyed);
    if (!(error instanceof UpstreamError) || error.code !== 'UPSTREAM_REJECTED' || !INPUT_REFUSED.has(error.status))
      throw error;
    return {
      userErrors: [
        { code: 'REJECTED', field: ['input'], message: 'The referral and rewards service refused this input.' },
      ],
    };
  }
}
