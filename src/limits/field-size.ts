/* What the directives of the schema say about one field: `@cost`, `@listSize`, `@rest`. */
import {
  type FieldNode,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getDirectiveValues,
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type ValueNode,
} from 'graphql';

/** What the size of a field depends on. */
export interface Measuring {
  schema: GraphQLSchema;
  operation: OperationDefinitionNode;
  variables: Readonly<Record<string, unknown>>;
}

/** Numbers of REST calls, by operation of the REST service. */
export type Calls = Readonly<Record<string, number>>;

/** The longest list that a field returns, as far as complexity is concerned. Resolvers reject larger arguments. */
const MAX_LIST_SIZE = 200;

type Field = GraphQLField<unknown, unknown>;

function directiveOf(name: string, field: Field, { schema }: Measuring): Record<string, unknown> | undefined {
  const directive = schema.getDirective(name);
  return directive && field.astNode ? getDirectiveValues(directive, field.astNode) : undefined;
}

export function weightOf(field: Field | undefined, measuring: Measuring): number {
  return field ? Number(directiveOf('cost', field, measuring)?.['weight'] ?? 1) : 1;
}

/** Fields of a player that need no call of their own: the request contains them, or another call brings them. */
const WITHOUT_CALL: ReadonlySet<string> = new Set(['id', 'playerUniqueId', '__typename', 'referralLink']);

/** The certain calls of a field and of what is selected below it. A player is read when one of its own fields is selected. */
export function callsOf(
  field: Field,
  { selectionSet }: FieldNode,
  certain: number,
  inner: Calls,
  measuring: Measuring,
): Calls {
  const calls = Object.fromEntries(Object.entries(inner).map(([name, count]) => [name, count * certain]));
  const operation = directiveOf('rest', field, measuring)?.['operation'];
  if (typeof operation !== 'string' || !selectionSet) return calls;
  const type = getNamedType(field.type);
  const own = isObjectType(type) ? type.getFields() : {};
  const needsCall = selectionSet.selections.some((selection) => {
    if (selection.kind !== Kind.FIELD || selection.directives?.length || WITHOUT_CALL.has(selection.name.value))
      return false;
    const child = own[selection.name.value];
    return child !== undefined && !directiveOf('rest', child, measuring);
  });
  return needsCall ? larger(calls, { [operation]: Math.max(1, certain) }) : calls;
}

export function larger(a: Calls, b: Calls): Calls {
  const names = Object.keys({ ...a, ...b });
  return Object.fromEntries(names.map((name) => [name, Math.max(a[name] ?? 0, b[name] ?? 0)]));
}

interface Size {
  /** How many items the list can have. */
  items: number;
  /** How many items it certainly has. */
  certain: number;
  variables: readonly string[];
}

export const FIXED_SIZE: Size = { items: 1, certain: 1, variables: [] };

/** How many items a field can return: what its slicing argument requests, or what its `@listSize` assumes. */
export function listSize(field: Field, node: FieldNode, measuring: Measuring): Size {
  const rule = directiveOf('listSize', field, measuring);
  if (!rule) return FIXED_SIZE;
  const [slicing]: unknown[] = Array.isArray(rule['slicingArguments']) ? rule['slicingArguments'] : [];
  const given = node.arguments?.find(({ name }) => name.value === slicing)?.value;
  const argument = field.args.find(({ name }) => name === slicing);
  const value = given && givenValue(given, measuring);
  const requested = requestedLength(value, argument?.type);
  // The resolver refuses sizes that are out of range. Here they are limited to 1 to 200, so that the sum stays correct.
  const items = Math.min(Math.max(requested ?? Number(rule['assumedSize'] ?? 1), 1), MAX_LIST_SIZE);
  // A list of ids has a result for each different id.
  const certain = Array.isArray(value) ? new Set(value.map((item) => JSON.stringify(item))).size : 0;
  return { items, certain, variables: given?.kind === Kind.VARIABLE ? [given.name.value] : [] };
}

function givenValue(node: ValueNode, measuring: Measuring): unknown {
  if (node.kind === Kind.LIST) return node.values.map((value) => ('value' in value ? value.value : value.kind));
  if (node.kind === Kind.INT) return Number(node.value);
  if (node.kind !== Kind.VARIABLE) return undefined;
  const { operation, variables } = measuring;
  const name = node.name.value;
  if (Object.hasOwn(variables, name)) return variables[name];
  const definition = operation.variableDefinitions?.find(({ variable }) => variable.name.value === name);
  return definition?.defaultValue && givenValue(definition.defaultValue, measuring);
}

/**
 * The length that an argument requests: the length of a list, or the value of a number. A number given for a list argument
 * is a list of one.
 */
function requestedLength(value: unknown, type: GraphQLInputType | undefined): number | undefined {
  if (Array.isArray(value)) return value.length;
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
  return isListType(getNullableType(type)) ? 1 : value;
}

export function union(a: readonly string[], b: readonly string[]): readonly string[] {
  if (a.length === 0) return b;
  return b.length === 0 ? a : [...new Set([...a, ...b])];
}
