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
import { formatError } from './errors.ts';
import type { Operations } from './operations.ts';
import { type CompleteOptions, completeResponse, formatResult, type ReportError } from './response.ts';

/** How many errors of a document are told; then validation stops. */
const MAX_VALIDATION_ERRORS = 5;

export interface ApolloOptions extends CompleteOptions {
  schema: GraphQLSchema;
  operations: Operations;
  persistedQueries: PersistedQueryStore;
  maxTokens: number;
  production: boolean;
  /** The page for browsers; undefined for none. */
  landingPage: ApolloServerPlugin | undefined;
  report: ReportError;
  log: FastifyBaseLogger;
}

/** Apollo Server as the gateway uses it: everything that the fast path does not answer. Started. */
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
    // An authorization header forces a preflight, and there are no cookies: no website can send one by itself.
    csrfPrevention: { requestHeaders: ['x-apollo-operation-name', 'apollo-require-preflight', 'authorization'] },
    stopOnTerminationSignals: false,
    logger: log,
    plugins: [
      // Its default instruments every resolver: W2 took 882 instead of 540 µs with it.
      ApolloServerPluginCacheControlDisabled(),
      landingPage ?? ApolloServerPluginLandingPageDisabled(),
      executionPlugin(options),
    ],
  });
  await apollo.start();
  return apollo;
}

/** Executes with graphql-js inside Apollo Server's pipeline, and completes its responses like those of the fast path. */
function executionPlugin(options: ApolloOptions): ApolloServerPlugin<Context> {
  const { schema, report } = options;
  const listener: GraphQLRequestListener<Context> = {
    async didResolveOperation({ document, operation, contextValue: { known } }) {
      // What was not measured and charged for is never executed.
      if (operation && known?.document !== document) throw new Error('Apollo Server resolved another document.');
    },
    async responseForOperation({ document, operation, request, contextValue }): Promise<GraphQLResponse | null> {
      // Without an operation Apollo Server has the error: the name is not in the document.
      if (!operation) return null;
      const operationName = operation.name?.value;
      const variableValues = request.variables;
      const result = await execute({ schema, document, operationName, variableValues, contextValue });
      const singleResult = formatResult(result, contextValue, report);
      return { http: { headers: new HeaderMap() }, body: { kind: 'single', singleResult } };
    },
    async willSendResponse({ response: { body }, contextValue }) {
      if (body.kind === 'single') completeResponse(body.singleResult, contextValue, options);
    },
  };
  return { requestDidStart: async () => listener };
}
