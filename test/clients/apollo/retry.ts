// #region retry
import { ApolloLink } from '@apollo/client';
import { catchError, defer, map, of, retry, throwError, timer } from 'rxjs';
import { delayBefore, isRetryable } from '../errors';

const RETRIES = 4;

/** A response that says that the operation may be sent again. */
class Retryable extends Error {
  readonly result: ApolloLink.Result;
  constructor(result: ApolloLink.Result) {
    super('retryable');
    this.result = result;
  }
}

/**
 * Without a response, nobody knows whether a mutation was carried out: only a key makes it safe to send it again. A mutation
 * has one field here, and its input is the variable `input`.
 */
function isSafeWithoutResponse({ operationType, variables }: ApolloLink.Operation): boolean {
  return operationType === 'query' || variables['input']?.idempotencyKey != null;
}

/** Sends operations again where that is safe. When all attempts failed, the last response is returned with its data. */
export const retryLink = new ApolloLink((operation, forward) =>
  defer(() => forward(operation)).pipe(
    map((result) => {
      if (isRetryable(result.errors ?? [])) throw new Retryable(result);
      return result;
    }),
    retry({
      count: RETRIES,
      delay: (error, attempt) => {
        if (error instanceof Retryable) return timer(delayBefore(attempt, error.result.errors));
        return isSafeWithoutResponse(operation) ? timer(delayBefore(attempt)) : throwError(() => error);
      },
    }),
    catchError((error) => (error instanceof Retryable ? of(error.result) : throwError(() => error))),
  ),
);
// #endregion retry
