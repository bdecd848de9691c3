import type { GraphQLResolveInfo } from 'graphql';
import { UpstreamError } from '../../../rest/errors.ts';
import { outcomeOf, type WriteOutcomes } from '../write-outcomes.ts';
import type { UserError } from './parents.ts';

/** The outcome of a write: its result, or the problems that the client can correct. */
export interface Outcome<Result> {
  result?: Result;
  userErrors: UserError[];
}

/** A mistake in the input that is found only while the write is prepared. Nothing was written. */
export class InputError extends Error {
  readonly userError: UserError;

  constructor(userError: UserError) {
    super(userError.message);
    this.userError = userError;
  }
}

/** The mutation field that a write belongs to. */
export interface WriteField {
  info: GraphQLResolveInfo;
  /** Where the outcome is recorded. */
  outcomes: WriteOutcomes;
  /** Whether the write has an idempotency key. Default false. */
  isKeyed?: boolean;
}

/** The HTTP statuses by which a service says that the content of a request is at fault. */
const INPUT_REFUSED: ReadonlySet<number | undefined> = new Set([400, 422]);

/**
 * Writes when nothing is wrong with the input, and records the outcome. When something is, nothing is sent; when the service
 * itself refuses the input, that becomes a user error too. Every other failure is thrown.
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
