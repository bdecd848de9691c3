import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import type { Context } from './context.ts';

/** Executes an operation by graphql-js. */
export async function interpret(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variableValues: Record<string, unknown> | undefined,
  contextValue: Context,
): Promise<ExecutionResult> {
  const operationName = operation.name?.value;
  return await execute({ schema, document, operationName, variableValues, contextValue });
}
