import { HeaderMap } from '@apollo/server';
import { type GraphQLSchema, getVariableValues, type OperationDefinitionNode } from 'graphql';
import { ClientError } from '../errors.ts';
import { withoutSuggestion } from '../response.ts';

/**
 * Makes sure that variables fit their types, for both ways of execution. Coercion stops at the first error: a list can hold
 * very many. Throws BAD_USER_INPUT with HTTP 400.
 * @param suggestions Whether the message may suggest names of the schema.
 */
export function checkVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>> = {},
  suggestions = false,
): void {
  if (variableDefinitions.length === 0) return;
  const [error] = getVariableValues(schema, variableDefinitions, variables, { maxErrors: 1 }).errors ?? [];
  if (!error) return;
  const extensions = { http: { status: 400, headers: new HeaderMap() } };
  throw new ClientError('BAD_USER_INPUT', suggestions ? error.message : withoutSuggestion(error.message), {
    nodes: error.nodes ?? null,
    extensions,
  });
}
