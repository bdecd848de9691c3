import { UpstreamError } from '../../../rest/errors.ts';
import type { UserError } from './parents.ts';

/** The outcome of a write: its result, or the problems that the client can correct. */
export interface Outcome<Result> {
  result?: Result;
  userErrors: UserError[];
}

/** The HTTP statuses by which a service says that the content of a request is at fault. */
const INPUT_REFUSED: ReadonlySet<number | undefined> = new Set([400, 422]);

/**
 * Writes when nothing is wrong with the input. When something is, nothing is sent; when the service itself refuses the
 * input, that becomes a user error too. Every other failure is thrown.
 */
export async function rejectedAsUserErrors<Result>(
  problems: UserError[],
  write: () => Promise<Result>,
): Promise<Outcome<Result>> {
  if (problems.length > 0) return { userErrors: problems };
  try {
    return { result: await write(), userErrors: [] };
  } catch (error) {
    if (!(error instanceof UpstreamError) || error.code !== 'UPSTREAM_REJECTED' || !INPUT_REFUSED.has(error.status))
      throw error;
    return {
      userErrors: [
        { code: 'REJECTED', field: ['input'], message: 'The referral and rewards service refused this input.' },
      ],
    };
  }
}
