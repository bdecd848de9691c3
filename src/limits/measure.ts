/*
 * The size of an operation with its fragments expanded. Fragments that spread each other twice can expand from a few hundred
 * bytes to millions of fields. So nothing is expanded here: each fragment is measured once, and a spread adds the size of
 * its fragment. The work is proportional to the length of the document.
 *
 * Complexity is the number of fields. A field below a list counts once for each member of the list. The number of members
 * comes from the argument that `@listSize` names, or from its `assumed`.
 *
 * Depth is not counted below `__schema` and `__type`: the standard introspection query is 15 levels deep, and graphql-js has
 * its own limit on introspection (lists at most three deep).
 */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getDirectiveValues,
  getNamedType,
  getNullableType,
  type InlineFragmentNode,
  isCompositeType,
  isInterfaceType,
  isListType,
  isUnionType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';
import { MAX_PAGE_SIZE } from '../graphql/input/arguments.ts';

/** The fields that return the schema; `_service` belongs to federation. operation-limits.ts decides who may select them. */
export const INTROSPECTION: ReadonlySet<string> = new Set(['__schema', '__type', '_service']);

/** The size of an operation with its fragments expanded. */
export interface Measure {
  /** The number of root fields. */
  rootFields: number;
  depth: number;
  aliases: number;
  /** The length of the longest alias. */
  aliasLength: number;
  directives: number;
  complexity: number;
  /** Whether it selects one of `INTROSPECTION`. */
  introspects: boolean;
  /** The names of the variables that determine the complexity. */
  variables: readonly string[];
}

interface Measuring {
  schema: GraphQLSchema;
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  operation: OperationDefinitionNode;
  variables: Record<string, unknown>;
  measured: Map<string, Measure>;
}

const NOTHING: Measure = {
  rootFields: 0,
  depth: 0,
  aliases: 0,
  aliasLength: 0,
  directives: 0,
  complexity: 0,
  introspects: false,
  variables: [],
};

/** Measures an operation of a parsed document. It need not be valid: unknown names and cycles of fragments are allowed. */
export function measureOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Record<string, unknown>,
): Measure {
  const definitions = document.definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  const fragments = new Map(definitions.map((definition) => [definition.name.value, definition]));
  const measuring = { schema, fragments, operation, variables, measured: new Map<string, Measure>() };
  const measure = measureSet(operation.selectionSet, schema.getRootType(operation.operation) ?? undefined, measuring);
  return { ...measure, directives: measure.directives + (operation.directives?.length ?? 0) };
}

function measureSet(set: SelectionSetNode, type: GraphQLCompositeType | undefined, measuring: Measuring): Measure {
  let total = NOTHING;
  for (const selection of set.selections) {
    const measure =
      selection.kind === Kind.FIELD
        ? measureField(selection, type, measuring)
        : selection.kind === Kind.INLINE_FRAGMENT
          ? measureSet(selection.selectionSet, conditionOf(selection, type, measuring), measuring)
          : measureFragment(selection.name.value, measuring);
    total = add(total, measure, selection.directives?.length ?? 0);
  }
  return total;
}

function measureFragment(name: string, measuring: Measuring): Measure {
  const known = measuring.measured.get(name);
  if (known) return known;
  const fragment = measuring.fragments.get(name);
  if (!fragment) return NOTHING;
  // A fragment that spreads itself adds nothing here; validation refuses it later.
  measuring.measured.set(name, NOTHING);
  const measure = measureSet(fragment.selectionSet, conditionOf(fragment, undefined, measuring), measuring);
  measuring.measured.set(name, measure);
  return measure;
}

/** The type that a fragment is on; without a condition, the type around it. */
function conditionOf(
  { typeCondition }: FragmentDefinitionNode | InlineFragmentNode,
  around: GraphQLCompositeType | undefined,
  { schema }: Measuring,
): GraphQLCompositeType | undefined {
  if (!typeCondition) return around;
  const type = schema.getType(typeCondition.name.value);
  return isCompositeType(type) ? type : undefined;
}

function measureField(node: FieldNode, parent: GraphQLCompositeType | undefined, measuring: Measuring): Measure {
  const introspects = INTROSPECTION.has(node.name.value);
  const field = parent && !isUnionType(parent) ? parent.getFields()[node.name.value] : undefined;
  const type = field && getNamedType(field.type);
  const inner = node.selectionSet
    ? measureSet(node.selectionSet, isCompositeType(type) ? type : undefined, measuring)
    : NOTHING;
  const size = field ? largestSize(field, parent, node, measuring) : FIXED_SIZE;
  return {
    rootFields: 1,
    depth: introspects ? 1 : inner.depth + 1,
    aliases: inner.aliases + (node.alias ? 1 : 0),
    aliasLength: Math.max(inner.aliasLength, node.alias?.value.length ?? 0),
    directives: inner.directives,
    complexity: 1 + size.members * inner.complexity,
    introspects: introspects || inner.introspects,
    variables: union(inner.variables, size.variables),
  };
}

function add(a: Measure, b: Measure, directives: number): Measure {
  return {
    rootFields: a.rootFields + b.rootFields,
    depth: Math.max(a.depth, b.depth),
    aliases: a.aliases + b.aliases,
    aliasLength: Math.max(a.aliasLength, b.aliasLength),
    directives: a.directives + b.directives + directives,
    complexity: a.complexity + b.complexity,
    introspects: a.introspects || b.introspects,
    variables: union(a.variables, b.variables),
  };
}

function union(a: readonly string[], b: readonly string[]): readonly string[] {
  if (a.length === 0) return b;
  return b.length === 0 ? a : [...new Set([...a, ...b])];
}

interface Size {
  members: number;
  variables: readonly string[];
}

const FIXED_SIZE: Size = { members: 1, variables: [] };

/** The size of a field; one of an interface is as large as the largest of the types that implement it. */
function largestSize(
  field: GraphQLField<unknown, unknown>,
  parent: GraphQLCompositeType | undefined,
  node: FieldNode,
  measuring: Measuring,
): Size {
  const own = listSize(field, node, measuring);
  if (!isInterfaceType(parent)) return own;
  return measuring.schema.getPossibleTypes(parent).reduce((largest, type) => {
    const implementing = type.getFields()[field.name];
    const { members, variables } = implementing ? listSize(implementing, node, measuring) : FIXED_SIZE;
    return { members: Math.max(largest.members, members), variables: union(largest.variables, variables) };
  }, own);
}

/** How many members a field can return: what its argument requests, or what its `@listSize` assumes. */
function listSize(field: GraphQLField<unknown, unknown>, node: FieldNode, measuring: Measuring): Size {
  const directive = measuring.schema.getDirective('listSize');
  const rule = directive && field.astNode ? getDirectiveValues(directive, field.astNode) : undefined;
  if (!rule) return FIXED_SIZE;
  const assumed = Number(rule['assumed']);
  const given = node.arguments?.find(({ name }) => name.value === rule['argument'])?.value;
  const argument = field.args.find(({ name }) => name === rule['argument']);
  const requested = requestedLength(given && givenValue(given, measuring), argument?.type);
  // The resolver refuses sizes that are out of range. Here they are limited to 1 to 200, so that the sum stays correct.
  const members = Math.min(Math.max(requested ?? assumed, 1), MAX_PAGE_SIZE);
  return { members, variables: given?.kind === Kind.VARIABLE ? [given.name.value] : [] };
}

function givenValue(node: ValueNode, measuring: Measuring): unknown {
  if (node.kind === Kind.LIST) return node.values;
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
