import {
  type DocumentNode,
  type FieldNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  getVariableValues,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import type { AccessRules } from '../access/rules.ts';
import { fragmentsOf, type Selecting, selectedFields } from '../graphql/selection.ts';

export interface Analysed {
  schema: GraphQLSchema;
  document: DocumentNode;
  operation: OperationDefinitionNode;
  variables: Record<string, unknown>;
  rules: AccessRules;
  /** The player that `me` is about, if the caller is one. */
  self: string | undefined;
}

/**
 * How many calls to the REST service an operation causes at least, as far as its arguments tell: which players are named
 * at the top, and what is asked of each. What many fields ask of one player is one call. Friends of friends are not
 * counted, since nobody knows yet how many there are.
 *
 * Only to be called for operations within the other limits: it spreads their fragments.
 */
export function certainCalls(analysed: Analysed): number {
  try {
    return countCalls(analysed);
  } catch (error) {
    // A variable that is null where it must not be: whatever it stands at fails by itself.
    if (error instanceof GraphQLError) return 0;
    throw error;
  }
}

function countCalls({ variables: given, ...rest }: Analysed): number {
  const { schema, operation } = rest;
  // What does not fit fails by itself: one error is enough to know, and a long list can hold very many.
  const { coerced: variables } = getVariableValues(schema, operation.variableDefinitions ?? [], given, {
    maxErrors: 1,
  });
  if (!variables) return 0;
  const analysed = { ...rest, variables };
  const root = schema.getRootType(operation.operation);
  const selecting = selectingOf(analysed);
  const calls = new Set<string>();
  let writes = 0;
  for (const node of selectedFields([operation], selecting)) {
    const field = root?.getFields()[node.name.value];
    if (!root || !field || !restOperation(schema, field)) continue;
    if (operation.operation === 'mutation') writes += 1 + readsBelow(field, node, selecting, schema).length;
    else countReads(root.name, field, node, { ...analysed, selecting, calls });
  }
  return writes + calls.size;
}

function countReads(
  rootType: string,
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  { rules, variables, schema, self, selecting, calls }: Analysed & { selecting: Selecting; calls: Set<string> },
): void {
  const args = argumentsOf(field, node, variables);
  const whom = args && rules.get(rootType)?.get(field.name)?.whom?.(undefined, args);
  const reads = readsBelow(field, node, selecting, schema);
  for (const id of Array.isArray(whom) ? whom : [whom ?? self]) {
    calls.add(JSON.stringify([restOperation(schema, field), id, args?.['lang']]));
    for (const read of reads) calls.add(JSON.stringify([read, id]));
  }
}

/** The REST operations behind the fields of the player that a field leads to, each once; a payload's player is one too. */
function readsBelow(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  selecting: Selecting,
  schema: GraphQLSchema,
): string[] {
  const type = getNamedType(field.type);
  if (!isObjectType(type)) return [];
  const reads = selectedFields([node], selecting).flatMap((child) => {
    const inner = type.getFields()[child.name.value];
    const operation = inner && restOperation(schema, inner);
    if (!operation) return [];
    return operation === 'getPlayer' ? [operation, ...readsBelow(inner, child, selecting, schema)] : [operation];
  });
  return [...new Set(reads)];
}

function selectingOf({ document, variables }: Analysed): Selecting {
  return { fragments: fragmentsOf(document), variableValues: variables };
}

/** Undefined when the arguments do not fit: then the operation fails by itself. */
function argumentsOf(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  variables: Record<string, unknown>,
): Record<string, unknown> | undefined {
  try {
    return getArgumentValues(field, node, variables);
  } catch {
    return undefined;
  }
}

/** The `operationId` that `@rest` names. */
function restOperation(schema: GraphQLSchema, { astNode }: GraphQLField<unknown, unknown>): string | undefined {
  const directive = schema.getDirective('rest');
  const applied = directive && astNode?.directives?.find(({ name }) => name.value === directive.name);
  const value = applied?.arguments?.[0]?.value;
  return value?.kind === Kind.STRING ? value.value : undefined;
}
