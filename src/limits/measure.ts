/*
 * The size of an operation with its fragments expanded. Fragments that spread each other twice can expand from a few hundred
 * bytes to millions of fields. So nothing is expanded here: each fragment is measured once, and a spread adds the size of
 * its fragment. The work is proportional to the length of the document.
 *
 * Complexity is the sum of the weights of the fields (`@cost`, else 1). What is selected below a field with `@listSize` counts
 * once for each item of the list, for pages their totals too.
 *
 * Depth is not counted below `__schema` and `__type`: the standard introspection query is 15 levels deep, and graphql-js has
 * its own limit on introspection (lists at most three deep).
 */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLSchema,
  getNamedType,
  type InlineFragmentNode,
  isCompositeType,
  isUnionType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { type Calls, callsOf, FIXED_SIZE, larger, listSize, type Measuring, union, weightOf } from './field-size.ts';

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
  complexity: number;
  /**
   * The REST calls that are certain, by operation of the REST service. Of two fields with the same one the larger number
   * counts, because both may be about the same players. Nothing counts below lists that the REST service returns, which may
   * be empty, or under a directive.
   */
  calls: Calls;
  /** Whether it selects one of `INTROSPECTION`. */
  introspects: boolean;
  /** The names of the variables that determine the complexity. */
  variables: readonly string[];
}

interface MeasuringSets extends Measuring {
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  measured: Map<string, Measure>;
}

const NOTHING: Measure = {
  rootFields: 0,
  depth: 0,
  aliases: 0,
  aliasLength: 0,
  complexity: 0,
  calls: {},
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
  return measureSet(operation.selectionSet, schema.getRootType(operation.operation) ?? undefined, measuring);
}

/** The least number of REST calls that an operation causes. */
export function certainCalls({ calls }: Pick<Measure, 'calls'>): number {
  return Object.values(calls).reduce((sum, count) => sum + count, 0);
}

function measureSet(set: SelectionSetNode, type: GraphQLCompositeType | undefined, measuring: MeasuringSets): Measure {
  let total = NOTHING;
  for (const selection of set.selections) {
    const measure =
      selection.kind === Kind.FIELD
        ? measureField(selection, type, measuring)
        : selection.kind === Kind.INLINE_FRAGMENT
          ? measureSet(selection.selectionSet, conditionOf(selection, type, measuring), measuring)
          : measureFragment(selection.name.value, measuring);
    total = add(total, selection.directives?.length ? { ...measure, calls: {} } : measure);
  }
  return total;
}

function measureFragment(name: string, measuring: MeasuringSets): Measure {
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
  { schema }: MeasuringSets,
): GraphQLCompositeType | undefined {
  if (!typeCondition) return around;
  const type = schema.getType(typeCondition.name.value);
  return isCompositeType(type) ? type : undefined;
}

function measureField(node: FieldNode, parent: GraphQLCompositeType | undefined, measuring: MeasuringSets): Measure {
  const introspects = INTROSPECTION.has(node.name.value);
  const field = parent && !isUnionType(parent) ? parent.getFields()[node.name.value] : undefined;
  const type = field && getNamedType(field.type);
  const inner = node.selectionSet
    ? measureSet(node.selectionSet, isCompositeType(type) ? type : undefined, measuring)
    : NOTHING;
  const size = field ? listSize(field, node, measuring) : FIXED_SIZE;
  return {
    rootFields: 1,
    depth: introspects ? 1 : inner.depth + 1,
    aliases: inner.aliases + (node.alias ? 1 : 0),
    aliasLength: Math.max(inner.aliasLength, node.alias?.value.length ?? 0),
    complexity: weightOf(field, measuring) + size.items * inner.complexity,
    calls: field ? callsOf(field, node, size.certain, inner.calls, measuring) : {},
    introspects: introspects || inner.introspects,
    variables: union(inner.variables, size.variables),
  };
}

function add(a: Measure, b: Measure): Measure {
  return {
    rootFields: a.rootFields + b.rootFields,
    depth: Math.max(a.depth, b.depth),
    aliases: a.aliases + b.aliases,
    aliasLength: Math.max(a.aliasLength, b.aliasLength),
    complexity: a.complexity + b.complexity,
    calls: larger(a.calls, b.calls),
    introspects: a.introspects || b.introspects,
    variables: union(a.variables, b.variables),
  };
}
