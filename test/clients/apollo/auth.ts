// #region auth
import { ApolloLink } from '@apollo/client';
import { from, mergeMap, of } from 'rxjs';
import { needsNewToken } from '../errors';
import type { Tokens } from '../tokens';

/** Sends the token, and sends an operation once more with a new token when the first one was refused. */
export const authLink = (tokens: Tokens) =>
  new ApolloLink((operation, forward) => {
    const sendWith = (token: string) => {
      operation.setContext(({ headers }) => ({ headers: { ...headers, authorization: `Bearer ${token}` } }));
      return forward(operation);
    };
    const renewed = (refused: string) => from(tokens.renew(refused)).pipe(mergeMap(sendWith));
    return from(tokens.current()).pipe(
      mergeMap((token) =>
        sendWith(token).pipe(mergeMap((result) => (needsNewToken(result.errors ?? []) ? renewed(token) : of(result)))),
      ),
    );
  });
// #endregion auth
