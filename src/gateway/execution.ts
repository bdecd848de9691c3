import { type ApolloServerPlugin, type GraphQLRequestContext, type GraphQLResponse, HeaderMap } from '@apollo/server';
import { ApolloServerErrorCode } from '@apollo/server/errors';
import { type ExecutionResult, execute, type GraphQLError, type GraphQLFormattedError } from 'graphql';
import type { Context } from './context.ts';
import { formatError, isIntended } from './errors.ts';

/** Where errors go that a client must not see; `requestId` is what the client can quote. */
export type ReportError = (error: Error, requestId: string) => void;

/**
 * Executes operations in the place where Apollo Server lets a plugin answer. Everything around it (HTTP, parsing,
 * validation, persisted queries) stays Apollo Server's. What a plugin answers is taken as it is, so the errors are
 * formatted here, and what access rules refused is told beside the data.
 */
export function executionPlugin(report: ReportError): ApolloServerPlugin<Context> {
  return {
    async requestDidStart() {
      return {
        async responseForOperation(request) {
          return request.operation ? await respond(request, report) : null;
        },
      };
    },
  };
}

async function respond(request: GraphQLRequestContext<Context>, report: ReportError): Promise<GraphQLResponse | null> {
  const { document, schema, contextValue } = request;
  if (!document) return null;
  const result = await execute({
    schema,
    document,
    contextValue,
    operationName: request.request.operationName,
    variableValues: request.request.variables,
  });
  return toResponse(result, contextValue, report);
}

function toResponse(result: ExecutionResult, context: Context, report: ReportError): GraphQLResponse {
  const { refusals, operation } = context;
  const errors = [...(result.errors ?? []), ...refusals.values()];
  for (const error of errors) if (!isIntended(error)) report(error, operation.requestId);
  // Without data nothing was executed: the variables did not fit their types.
  const refused = result.data === undefined;
  const code = refused ? ApolloServerErrorCode.BAD_USER_INPUT : ApolloServerErrorCode.INTERNAL_SERVER_ERROR;
  const formatted = errors.map((error) => format(error, code));
  return {
    http: { ...(refused ? { status: 400 } : {}), headers: new HeaderMap() },
    body: {
      kind: 'single',
      singleResult: {
        ...(formatted.length > 0 ? { errors: formatted } : {}),
        ...(refused ? {} : { data: result.data }),
      },
    },
  };
}

function format(error: GraphQLError, code: string): GraphQLFormattedError {
  return formatError({ ...error.toJSON(), extensions: { code, ...error.extensions } }, error);
}
