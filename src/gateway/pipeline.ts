import type { ApolloServerPlugin, GraphQLRequestListener } from '@apollo/server';
import type { Context } from './context.ts';
import { createExecute, type Execute } from './execution/execute.ts';
import { type ReportError, respond } from './execution/respond.ts';
import { createLimitsCheck, type LimitsOptions } from './limits/limits.ts';

export interface PipelineOptions {
  limits: LimitsOptions;
  report: ReportError;
}

/**
 * Our part in Apollo Server's pipeline, in one listener for all requests: limits once the operation is known, its
 * execution, and what an answer tells beside data and errors. HTTP, parsing, validation and persisted queries stay
 * Apollo Server's.
 */
export function pipeline({ limits, report }: PipelineOptions): ApolloServerPlugin<Context> {
  let execute: Execute;
  const checkLimits = createLimitsCheck(limits);
  const listener: GraphQLRequestListener<Context> = {
    async didResolveOperation(request) {
      checkLimits(request);
    },
    async responseForOperation({ document, operation, request, contextValue }) {
      // Without an operation Apollo Server has its own answer: the name given is none of the document's.
      if (!operation) return null;
      const result = await execute({ document, operation, variables: request.variables, context: contextValue });
      return respond(result, contextValue, report);
    },
    async willSendResponse({ response, contextValue }) {
      if (response.body.kind === 'single') response.body.singleResult.extensions = contextValue.extensions;
    },
  };
  return {
    async serverWillStart({ schema }) {
      execute = createExecute(schema);
    },
    async requestDidStart() {
      return listener;
    },
  };
}
