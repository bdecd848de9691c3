import { type GraphQLResponse, HeaderMap } from '@apollo/server';
import { ApolloServerErrorCode } from '@apollo/server/errors';
import type { ExecutionResult, FormattedExecutionResult, GraphQLError, GraphQLFormattedError } from 'graphql';
import type { Context } from './context.ts';
import { formatError, isIntended } from './errors.ts';

/** Where errors go that a client must not see; `requestId` is what the client can quote. */
export type ReportError = (error: Error, requestId: string) => void;

/** The answer to give Apollo Server. Without data nothing was executed: the variables did not fit their types. */
export function respond(result: ExecutionResult, context: Context, report: ReportError): GraphQLResponse {
  const http = { headers: new HeaderMap(), ...(result.data === undefined ? { status: 400 } : {}) };
  return { http, body: { kind: 'single', singleResult: toAnswer(result, context, report) } };
}

/** Makes an answer of a result: errors formatted and reported, what access rules refused told beside the data. */
export function toAnswer(
  { data, errors }: ExecutionResult,
  { refusals, operation }: Context,
  report: ReportError,
): FormattedExecutionResult<Record<string, unknown>> {
  if (!errors && refusals.size === 0 && data !== undefined) return { data };
  const all = [...(errors ?? []), ...refusals.values()];
  // Without data it was the variables.
  for (const error of all) if (data !== undefined && !isIntended(error)) report(error, operation.requestId);
  const { BAD_USER_INPUT, INTERNAL_SERVER_ERROR } = ApolloServerErrorCode;
  const formatted = all.map((error) => format(error, data === undefined ? BAD_USER_INPUT : INTERNAL_SERVER_ERROR));
  return { errors: formatted, ...(data === undefined ? {} : { data }) };
}

/** graphql-jit's errors look like graphql-js's, but have no extensions of their own unless their cause had them. */
function format(error: GraphQLError, code: string): GraphQLFormattedError {
  const { message, locations, path, extensions } = error;
  return formatError(
    {
      message,
      ...(locations ? { locations } : {}),
      ...(path ? { path } : {}),
      extensions: { code, ...extensions },
    },
    error,
  );
}
