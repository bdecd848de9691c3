import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import type { Context } from '../context.ts';
import { createCompiler } from './compile.ts';

export interface Execution {
  document: DocumentNode;
  operation: OperationDefinitionNode;
  variables: Record<string, unknown> | undefined;
  context: Context;
}

/** Executes a validated operation: compiled where it can be, by graphql-js otherwise. */
export type Execute = (execution: Execution) => Promise<ExecutionResult>;

export function createExecute(schema: GraphQLSchema): Execute {
  const compiledFor = createCompiler(schema);
  return async (execution) => {
    const compiled = compiledFor(execution.document, execution.operation);
    if (!compiled) return await interpret(schema, execution);
    const result = await compiled({}, execution.context, execution.variables);
    // Without data nothing was executed, because the variables do not fit: graphql-js says so in the words clients know.
    return result.data === undefined ? await interpret(schema, execution) : result;
  };
}

/** Executes by graphql-js alone. */
export function interpret(
  schema: GraphQLSchema,
  { document, operation, variables, context }: Execution,
): Promise<ExecutionResult> | ExecutionResult {
  return execute({
    schema,
    document,
    contextValue: context,
    variableValues: variables,
    operationName: operation.name?.value,
  });
}
