import type { GraphQLResolveInfo } from 'graphql';
import { ClientError } from '../../errors.ts';
import { UpstreamError } from '../../rest/errors.ts';
import { InputError, type UserError } from '../input/problems.ts';
import { type OperationWrites, outcomeOf } from '../loaders/writes.ts';

/** The outcome of a write: its result, or the problems that the client can correct. */
interface WriteResult<Result> {
  result?: Result;
  userErrors: UserError[];
}

/** HTTP statuses that mean that the service refuses the input. */
const INPUT_REFUSED: ReadonlySet<number | undefined> = new Set([400, 422]);

/**
 * Performs the write of a mutation field and records its outcome. If `problems` is not empty, nothing is sent, and the
 * problems are returned. If the service refuses the input, a user error is returned. Any other failure is thrown.
 *
 * @param isKeyed Whether the write has an idempotency key.
 */
export async function performWrite<Result>(
  { path }: GraphQLResolveInfo,
  { outcomes }: OperationWrites,
  problems: UserError[],
  write: () => Promise<Result>,
  isKeyed = false,
): Promise<WriteResult<Result>> {
  if (problems.length > 0) return { userErrors: problems };
  try {
    const result = await write();
    outcomes.record(path.key, 'DONE', isKeyed);
    return { result, userErrors: [] };
  } catch (error) {
    if (error instanceof InputError) return { userErrors: [error.userError] };
    // The earlier operation with this idempotency key is still under way, or nothing was sent.
    const mayRepeat = error instanceof ClientError && error.extensions['retryable'] === true;
    outcomes.record(path.key, outcomeOf(error), isKeyed, mayRepeat);
    if (!(error instanceof UpstreamError) || error.code !== 'UPSTREAM_REJECTED' || !INPUT_REFUSED.has(error.status))
      throw error;
    return {
      userErrors: [
        { code: 'REJECTED', field: ['input'], message: 'The referral and rewards service refused this input.' },
      ],
    };
  }
}
