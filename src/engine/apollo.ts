import {
  ApolloServer,
  type ApolloServerPlugin,
  type GraphQLRequestContext,
  type GraphQLResponse,
  HeaderMap,
} from '@apollo/server';
import * as disabled from '@apollo/server/plugin/disabled';
import type { FastifyBaseLogger } from 'fastify';
import {
  execute,
  type GraphQLSchema,
  getVariableValues,
  type OperationDefinitionNode,
  type ParseOptions,
} from 'graphql';
import { ClientError, requestError } from '../errors.ts';
import { auditRefused } from '../graphql/audit.ts';
import type { Context } from '../graphql/context.ts';
import type { RateLimits } from '../limits/rate-limits.ts';
import type { PersistedQueryStore } from '../persisted-operations/automatic.ts';
import type { ReportError } from '../telemetry/observe.ts';
import { takeTurn } from '../turns.ts';
import type { Compiler } from './compiler.ts';
import type { findDeprecatedInputs } from './deprecated.ts';
import { type DocumentStore, onlyWith } from './documents.ts';
import { MAX_ADDED_IN_TURN, type OperationLimiter, unitsOf } from './operation-limits.ts';
import { withDefaults } from './operation-size.ts';
import { planOf } from './plan.ts';
import { addHint, completeResponse, formatError, formatResult, isIntended } from './response.ts';

/** The header with which a client asks for the cost of its operation in `extensions`. */
export const SHOW_COST = 'x-operation-cost';
/** How many errors of a document are reported; then validation stops. */
const MAX_VALIDATION_ERRORS = 5;

export interface ApolloOptions {
  /** Outside production, messages may suggest names of the schema, and `extensions` shows REST calls, cost and plan. */
  production: boolean;
  schema: GraphQLSchema;
  documents: DocumentStore;
  compiler: Compiler;
  limiter: OperationLimiter;
  rates: Pick<RateLimits, 'consume' | 'consumeLate'>;
  persistedQueries: PersistedQueryStore;
  deprecatedInputs: ReturnType<typeof findDeprecatedInputs>;
  parseOptions: ParseOptions;
  report: ReportError;
  log: FastifyBaseLogger;
}

export async function startApollo(options: ApolloOptions): Promise<ApolloServer<Context>> {
  const { schema, documents, persistedQueries, parseOptions, production, log } = options;
  const apollo = new ApolloServer<Context>({
    schema,
    formatError: (formatted, error) => {
      const message = production ? formatted.message : addHint(schema, formatted.message);
      return formatError({ ...formatted, message }, error);
    },
    introspection: true,
    hideSchemaDetailsFromClientErrors: production,
    includeStacktraceInErrorResponses: false,
    parseOptions,
    // Each error takes as long as the validation of a small document: 100 of them took 13 ms.
    validationOptions: { maxErrors: MAX_VALIDATION_ERRORS, hideSuggestions: production },
    documentStore: documents.forApollo,
    persistedQueries: { cache: persistedQueries },
    // A request with an authorization header needs a preflight, and there are no cookies. So it cannot be forged.
    csrfPrevention: { requestHeaders: ['x-apollo-operation-name', 'apollo-require-preflight', 'authorization'] },
    stopOnTerminationSignals: false,
    logger: log,
    plugins: [
      // Those that Apollo Server adds by itself: landing page, inline trace, reporting. That of cache control wraps every
      // resolver: the workload W2 of docs/benchmarks.md took 882 instead of 540 µs.
      ...Object.values(disabled).map((disable) => disable()),
      operationPlugin(options),
    ],
  });
  await apollo.start();
  return apollo;
}

/** One plugin, because the hooks of several run concurrently. It logs errors with their cause; Apollo Server logs the message. */
function operationPlugin(options: ApolloOptions): ApolloServerPlugin<Context> {
  const { report, production } = options;
  return {
    async requestDidStart() {
      let checked: CheckedOperation | undefined;
      return {
        async didResolveOperation(requestContext) {
          const { document, operation, contextValue, request } = requestContext;
          checked = await consumeAndCheck(options, requestContext).catch((error: unknown) => {
            if (document && operation?.operation === 'mutation') {
              const variables = withDefaults(operation, request.variables);
              auditRefused(options.schema, onlyWith(document, operation), variables, contextValue.record);
            }
            throw error;
          });
        },
        // Without an operation, Apollo Server returns the error: the name is not in the document.
        responseForOperation: async (requestContext) =>
          checked ? await executeChecked(options, requestContext, checked) : null,
        async didEncounterErrors({ errors, contextValue }) {
          for (const error of errors) if (!isIntended(error)) report(error, contextValue.callContext);
        },
        async willSendResponse({ response: { body }, contextValue }) {
          if (body.kind === 'single') completeResponse(body.singleResult, contextValue, production);
        },
      };
    },
    async unexpectedErrorProcessingRequest({ requestContext: { contextValue }, error }) {
      report(error, contextValue.callContext);
    },
  };
}

/** An operation that may be executed: what it is, its coerced variables, its size, and the units that were consumed for it. */
type CheckedOperation = NonNullable<Awaited<ReturnType<typeof consumeAndCheck>>>;

/**
 * Measures the operation, consumes its units from the caller's limit, and checks limits and variables. Without enough left, only the
 * unit of its request is consumed. Also called without an operation: the name is not in the document, and Apollo Server returns
 * that error afterwards.
 */
async function consumeAndCheck(
  { documents, limiter, rates, schema, production, deprecatedInputs }: ApolloOptions,
  { source, queryHash, document, operation, request, contextValue }: GraphQLRequestContext<Context>,
) {
  const { caller, record } = contextValue;
  if (!operation || !document || source === undefined || !queryHash) return undefined;
  const cached = documents.countRequest(queryHash, source, document, operation);
  record.name = operation.name?.value;
  record.type = operation.operation;
  record.hash = queryHash;
  const size = limiter.measure(cached.document, operation, request.variables);
  const { complexity, depth, introspects } = size;
  const units = limiter.unitsBefore(size);
  const showsCost = !production || request.http?.headers.has(SHOW_COST);
  if (showsCost) contextValue.extensions['cost'] = { complexity, depth, operations: units };
  const { bodyUnits = 0 } = record;
  record.bodyUnits = 0;
  // Its request has consumed one already.
  await rates.consume('operations', caller, units + bodyUnits, 1);
  if (introspects && production && !caller.scopes.has('schema:read')) {
    throw requestError('FORBIDDEN', 403, 'Introspection needs the scope "schema:read".');
  }
  limiter.check(size);
  const variables = coerceVariables(schema, operation, request.variables, production);
  record.manifest = cached.manifest;
  record.deprecated = [...(cached.deprecated ?? []), ...(deprecatedInputs?.(operation, request.variables) ?? [])];
  return { cached, variables, size, units };
}

/** The variables with their types and defaults. Stops at the first error: a list can have many. Throws BAD_USER_INPUT. */
function coerceVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>> = {},
  hideSuggestions: boolean,
): Readonly<Record<string, unknown>> {
  const options = { maxErrors: 1, hideSuggestions };
  const { coerced, errors } = getVariableValues(schema, variableDefinitions, variables, options);
  if (coerced) return coerced;
  throw new ClientError('BAD_USER_INPUT', errors[0]?.message ?? 'A variable is not valid.', {
    nodes: errors[0]?.nodes ?? null,
    extensions: { http: { status: 400, headers: new HeaderMap() } },
  });
}

/**
 * Executes the operation: compiled where it is, else by graphql-js. Never throws. `formatResult` formats and reports the errors,
 * because Apollo Server does neither for this response.
 */
async function executeChecked(
  { schema, compiler, rates, production, report }: ApolloOptions,
  { request, contextValue }: GraphQLRequestContext<Context>,
  { cached, variables, size, units }: CheckedOperation,
): Promise<GraphQLResponse> {
  const { caller, record, callContext } = contextValue;
  callContext.wanted = cached.wanted;
  contextValue.complexity = size.complexity;
  let result = await compiler.executorOrQueue(cached)?.(contextValue, variables);
  record.engine = result?.data === undefined ? 'graphql-js' : 'graphql-jit';
  // It is not compiled, or the caller lacks a scope that compiled operations do not check.
  if (result?.data === undefined) {
    const { document, operation } = cached;
    const [operationName, variableValues] = [operation.name?.value, request.variables];
    // Coerces the variables again. Fields are wrapped: see `createSchema` and `wrapLists`.
    result = await execute({ schema, document, operationName, variableValues, contextValue });
  }
  const { complexity, budget, extensions, rules } = contextValue;
  if (!production) extensions['plan'] = { engine: record.engine, ...planOf(schema, rules, cached, size.fields) };
  // Long lists have added to the complexity meanwhile; see `wrapLists`.
  const allUnits = unitsOf(complexity, budget.consumed());
  if (allUnits > units) {
    rates.consumeLate(caller, allUnits - units);
    if (extensions['cost']) Object.assign(extensions['cost'], { complexity, operations: allUnits });
  }
  // A large response has three steps, each in a turn of its own: its last list is completed, it is measured, it is made into text.
  const isLarge = complexity - size.complexity > MAX_ADDED_IN_TURN;
  if (isLarge) await takeTurn(caller.key);
  const singleResult = formatResult(result, contextValue, report);
  if (isLarge) await takeTurn(caller.key);
  // Without a type, Apollo Server would negotiate for each request. The route sets the one that is sent.
  const headers = new HeaderMap([['content-type', 'application/json']]);
  return { http: { headers }, body: { kind: 'single', singleResult } };
}
