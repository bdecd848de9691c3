import {
  ApolloServer,
  type ApolloServerPlugin,
  type GraphQLRequestListener,
  type GraphQLResponse,
  HeaderMap,
} from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
} from '@apollo/server/plugin/disabled';
import type { FastifyBaseLogger } from 'fastify';
import { execute, type GraphQLSchema } from 'graphql';
import type { PersistedQueryStore } from '../persisted-operations/automatic.ts';
import type { Context } from './context.ts';
import { formatError, isIntended } from './errors.ts';
import type { Operations } from './operations.ts';
import { type CompleteOptions, completeResponse, formatResult, type ReportError } from './response.ts';

/** How many errors of a document are reported; then validation stops. */
const MAX_VALIDATION_ERRORS = 5;

/** How the line begins that Apollo Server logs for an unexpected error. */
const UNEXPECTED = 'Unexpected error processing request';

interface ApolloOptions extends CompleteOptions {
  schema: GraphQLSchema;
  operations: Operations;
  persistedQueries: PersistedQueryStore;
  maxTokens: number;
  /** The landing page for browsers; undefined for none. */
  landingPage: ApolloServerPlugin | undefined;
  report: ReportError;
  log: FastifyBaseLogger;
}

/** Returns a started server. It answers every operation that the fast path does not answer. */
export async function startApollo(options: ApolloOptions): Promise<ApolloServer<Context>> {
  const { schema, operations, persistedQueries, maxTokens, production, landingPage, log } = options;
  const apollo = new ApolloServer<Context>({
    schema,
    formatError,
    introspection: true,
    hideSchemaDetailsFromClientErrors: production,
    includeStacktraceInErrorResponses: false,
    parseOptions: { maxTokens },
    // Each error takes as long as the validation of a small document: 100 of them took 13 ms.
    validationOptions: { maxErrors: MAX_VALIDATION_ERRORS },
    documentStore: operations.documentStore,
    persistedQueries: { cache: persistedQueries },
    // A request with an authorization header needs a preflight, and there are no cookies. So it cannot be forged.
    csrfPrevention: { requestHeaders: ['x-apollo-operation-name', 'apollo-require-preflight', 'authorization'] },
    stopOnTerminationSignals: false,
    logger: {
      debug: (message) => log.debug(message),
      info: (message) => log.info(message),
      warn: (message) => log.warn(message),
      // `executionPlugin` logs these errors with their cause.
      error: (message) => String(message).startsWith(UNEXPECTED) || log.error(message),
    },
    plugins: [
      // By default this plugin wraps every resolver: the workload W2 of docs/benchmarks.md took 882 instead of 540 µs.
      ApolloServerPluginCacheControlDisabled(),
      landingPage ?? ApolloServerPluginLandingPageDisabled(),
      executionPlugin(options),
    ],
  });
  await apollo.start();
  return apollo;
}

/**
 * Executes operations in Apollo Server's pipeline, and completes responses with the same function as the fast path. Errors of
 * the pipeline itself are logged with their cause; Apollo Server logs only their message, or nothing.
 */
function executionPlugin(options: ApolloOptions): ApolloServerPlugin<Context> {
  const { schema, report } = options;
  const listener: GraphQLRequestListener<Context> = {
    async didResolveOperation({ queryHash, operation, contextValue: { known } }) {
      // An operation that was not measured and charged is never executed. The same text can have been parsed twice.
      if (operation && known?.hash !== queryHash) throw new Error('Apollo Server resolved another document.');
    },
    async responseForOperation({ document, operation, request, contextValue }): Promise<GraphQLResponse | null> {
      // Without an operation, Apollo Server returns the error: the name is not in the document.
      if (!operation) return null;
      const operationName = operation.name?.value;
      const variableValues = request.variables;
      const result = await execute({ schema, document, operationName, variableValues, contextValue });
      const singleResult = formatResult(result, contextValue, report);
      return { http: { headers: new HeaderMap() }, body: { kind: 'single', singleResult } };
    },
    async didEncounterErrors({ errors, contextValue }) {
      for (const error of errors) if (!isIntended(error)) report(error, contextValue.call.requestId);
    },
    async willSendResponse({ response: { body }, contextValue }) {
      if (body.kind === 'single') completeResponse(body.singleResult, contextValue, options);
    },
  };
  return {
    requestDidStart: async () => listener,
    async unexpectedErrorProcessingRequest({ requestContext, error }) {
      report(error, requestContext.contextValue.call.requestId);
    },
  };
}
