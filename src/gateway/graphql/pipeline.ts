import type { ApolloServerPlugin, GraphQLRequestListener } from '@apollo/server';
import type { FormattedExecutionResult, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import { createLimitsCheck, type LimitsOptions } from '../limits/operation-limits.ts';
import { noteAnswer } from '../observe/observe.ts';
import type { Context } from './context.ts';
import { interpret } from './interpret.ts';
import { createCompiler } from './jit.ts';
import { createPreparedOperations, type Prepared, type PreparedOperations } from './prepared.ts';
import { type ReportError, respond, toAnswer } from './respond.ts';
import { shortenErrors } from './shorten-errors.ts';

export interface PipelineOptions {
  schema: GraphQLSchema;
  limits: LimitsOptions;
  report: ReportError;
  /** Whether answers tell developers more than clients need, and help with names that are nearly right. */
  development: boolean;
}

export interface Pipeline {
  /** Our part in Apollo Server's pipeline. */
  plugin: ApolloServerPlugin<Context>;
  /** Operations that have been through it and are compiled. */
  prepared: PreparedOperations;
  /**
   * The same part for a prepared operation. Undefined when its variables do not fit it: nothing was executed then, and
   * Apollo Server's pipeline has the answer. Throws a ClientError for an operation over a limit.
   */
  run(
    prepared: Prepared,
    variables: Record<string, unknown> | undefined,
    context: Context,
  ): Promise<FormattedExecutionResult | undefined>;
}

/**
 * What the gateway adds to Apollo Server: limits once the operation is known, its execution, and what an answer tells
 * beside data and errors. HTTP, parsing, validation and persisted queries are Apollo Server's.
 */
export function createPipeline({ schema, limits, report, development }: PipelineOptions): Pipeline {
  const checkLimits = createLimitsCheck(limits);
  const compiledFor = createCompiler(schema);
  const prepared = createPreparedOperations();

  const listener: GraphQLRequestListener<Context> = {
    async didResolveOperation({ document, operation, request: { variables }, contextValue: context }) {
      if (operation) checkLimits({ schema, document, operation, variables, context });
    },
    async responseForOperation({ document, operation, source, request, contextValue: context }) {
      // Without an operation Apollo Server has its own answer: the name given is none of the document's.
      if (!operation) return null;
      const compiled = prepared.lacks(source, request.operationName) && compiledFor(document, operation);
      if (compiled) prepared.set(source, request.operationName, { document, operation, compiled });
      const result = await interpret(schema, document, operation, request.variables, context);
      return respond(result, context, report);
    },
    async willSendResponse({ response: { body }, operation, contextValue: context }) {
      if (body.kind === 'single') complete(body.singleResult, operation, context);
    },
  };

  return {
    plugin: { requestDidStart: async () => listener },
    prepared,
    async run({ document, operation, compiled }, variables, context) {
      checkLimits({ schema, document, operation, variables, context });
      const result = await compiled.execute({}, context, variables);
      if (result.data === undefined) return undefined;
      const answer = toAnswer(result, context, report);
      complete(answer, operation, context);
      return answer;
    },
  };

  /** The last touch to every answer, whichever way it came about. */
  function complete(
    answer: FormattedExecutionResult,
    operation: OperationDefinitionNode | undefined,
    context: Context,
  ): void {
    shortenErrors(answer, !development);
    noteAnswer(answer, operation, context, development);
    answer.extensions = context.extensions;
  }
}
