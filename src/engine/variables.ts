import { HeaderMap } from '@apollo/server';
import { type GraphQLSchema, getVariableValues, type OperationDefinitionNode } from 'graphql';
import { ClientError } from '../errors.ts';

/** The variables with their types and defaults. Stops at the first error: a list can have many. Throws BAD_USER_INPUT. */
export function coerceVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>> = {},
  hideSuggestions = false,
): Readonly<Record<string, unknown>> {
  const options = { maxErrors: 1, hideSuggestions };
  const { coerced, errors } = getVariableValues(schema, variableDefinitions, variables, options);
  if (coerced) return coerced;
  throw new ClientError('BAD_USER_INPUT', errors[0]?.message ?? 'A variable is not valid.', {
    nodes: errors[0]?.nodes ?? null,
    extensions: { http: { status: 400, headers: new HeaderMap() } },
  });
}
