import { type GraphQLResponse, HeaderMap } from '@apollo/server';
import { ApolloServerErrorCode } from '@apollo/server/errors';
import type { ExecutionResult, FormattedExecutionResult, GraphQLError, GraphQLFormattedError } from 'graphql';
import type { Context } from '../context.ts';
import { formatError, isIntended } from '../errors.ts';

/** Where errors go that a client must not see; `requestId` is what the client can quote. */
export type ReportError = (error: Error, requestId: string) => void;

/** Makes an answer of a result: errors formatted and reported, what access rules refused told beside the data. */
export function respond(
  { data, errors }: ExecutionResult,
  { refusals, operation, extensions }: Context,
  report: ReportError,
): GraphQLResponse {
  const all = [...(errors ?? []), ...refusals.values()];
  for (const error of all) if (!isIntended(error)) report(error, operation.requestId);
  if (data !== undefined) return answer({ ...(all.length > 0 ? { errors: all.map(format) } : {}), data, extensions });
  // Without data nothing was executed: the variables did not fit their types.
  const refused = all.map((error) => format(error, ApolloServerErrorCode.BAD_USER_INPUT));
  return answer({ errors: refused, extensions }, 400);
}

function answer(singleResult: FormattedExecutionResult<Record<string, unknown>>, status?: number): GraphQLResponse {
  const http = { headers: new HeaderMap(), ...(status === undefined ? {} : { status }) };
  return { http, body: { kind: 'single', singleResult } };
}

/** graphql-jit's errors look like graphql-js's, but have no extensions of their own unless their cause had them. */
function format(error: GraphQLError, code?: unknown): GraphQLFormattedError {
  const { message, locations, path, extensions } = error;
  return formatError(
    {
      message,
      ...(locations ? { locations } : {}),
      ...(path ? { path } : {}),
      extensions: {
        code: typeof code === 'string' ? code : ApolloServerErrorCode.INTERNAL_SERVER_ERROR,
        ...extensions,
      },
    },
    error,
  );
}
