/*
 * The size of an operation with its fragments expanded. Fragments that spread each other twice can expand from a few hundred
 * bytes to millions of fields. So nothing is expanded here: each fragment is measured once, and a spread adds the size of
 * its fragment. The work is proportional to the length of the document.
 */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLSchema,
  getDirectiveValues,
  getNamedType,
  getNullableType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  valueFromASTUntyped,
} from 'graphql';

/** The fields that return the schema; `_service` belongs to federation. */
export const INTROSPECTION: ReadonlySet<string> = new Set(['__schema', '__type', '_service']);
/** Fields of a player that need no call of their own: the request contains them, or another call brings them. */
const WITHOUT_CALL: ReadonlySet<string> = new Set(['id', 'playerUniqueId', '__typename', 'referralLink']);
/** The longest list that a field returns. Resolvers reject larger arguments. */
const MAX_LIST_SIZE = 200;

/** The size of an operation, or of a part of it. */
export class Measure {
  rootFields = 0;
  /** Not counted below introspection: the standard query is 15 levels deep, and graphql-js has a limit of its own. */
  depth = 0;
  aliases = 0;
  /** The length of the longest alias. */
  aliasLength = 0;
  /**
   * The sum of the weights of the fields (`@cost`, else 1). What is selected below a field with `@listSize` counts once for
   * each item of the list, for pages their totals too.
   */
  complexity = 0;
  /** Whether the complexity depends on variables. */
  varies = false;
  /** Whether it selects one of `INTROSPECTION`. */
  introspects = false;
  /**
   * The REST calls that are certain, by operation of the REST service. Of two fields with the same one the larger number
   * counts, because both may be about the same players. Nothing counts below lists that the REST service returns, which may
   * be empty, or under a directive.
   */
  readonly calls = new Map<unknown, number>();

  get upstreamCalls(): number {
    return [...this.calls.values()].reduce((sum, count) => sum + count, 0);
  }

  add(other: Measure, isConditional: boolean): void {
    this.rootFields += other.rootFields;
    this.depth = Math.max(this.depth, other.depth);
    this.aliases += other.aliases;
    this.aliasLength = Math.max(this.aliasLength, other.aliasLength);
    this.complexity += other.complexity;
    this.varies ||= other.varies;
    this.introspects ||= other.introspects;
    if (!isConditional) for (const [operation, count] of other.calls) this.needs(operation, count);
  }

  needs(operation: unknown, count: number): void {
    this.calls.set(operation, Math.max(count, this.calls.get(operation) ?? 0));
  }
}

/** What the directives `@cost`, `@rest` and `@listSize` say about a field. */
type FieldRule = ReturnType<typeof ruleOf>;
export type FieldRules = ReadonlyMap<GraphQLField<unknown, unknown>, FieldRule>;

export function readFieldRules(schema: GraphQLSchema): FieldRules {
  const types = Object.values(schema.getTypeMap()).filter((type) => isObjectType(type) || isInterfaceType(type));
  const fields = types.flatMap((type) => Object.values(type.getFields()));
  return new Map(fields.map((field) => [field, ruleOf(schema, field)]));
}

function ruleOf(schema: GraphQLSchema, { astNode, args }: GraphQLField<unknown, unknown>) {
  const read = (name: string) => {
    const directive = schema.getDirective(name);
    return (directive && astNode && getDirectiveValues(directive, astNode)) || undefined;
  };
  const size = read('listSize');
  const slicing = Object(size?.['slicingArguments'])[0];
  return {
    weight: Number(read('cost')?.['weight'] ?? 1),
    operation: read('rest')?.['operation'],
    list: size && { assumed: Number(size['assumedSize'] ?? 1), argument: args.find(({ name }) => name === slicing) },
  };
}

interface Measuring {
  schema: GraphQLSchema;
  rules: FieldRules;
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** Of the fragments so far. */
  measured: Map<object, Measure>;
  variables: Readonly<Record<string, unknown>>;
}

/** Measures an operation of a parsed document. It need not be valid: unknown names and cycles of fragments are allowed. */
export function measureOperation(
  schema: GraphQLSchema,
  rules: FieldRules,
  { definitions }: DocumentNode,
  { operation, selectionSet, variableDefinitions = [] }: OperationDefinitionNode,
  given: object,
): Measure {
  const fragments = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  const defaults = variableDefinitions.flatMap(({ variable, defaultValue }) =>
    defaultValue ? [[variable.name.value, valueFromASTUntyped(defaultValue)]] : [],
  );
  return measureSet(selectionSet, schema.getRootType(operation), {
    schema,
    rules,
    fragments: new Map(fragments.map((fragment) => [fragment.name.value, fragment])),
    measured: new Map(),
    variables: { ...Object.fromEntries(defaults), ...given },
  });
}

function measureSet(set: SelectionSetNode | undefined, type: unknown, measuring: Measuring): Measure {
  const total = new Measure();
  for (const selection of set?.selections ?? []) {
    total.add(measureSelection(selection, type, measuring), Boolean(selection.directives?.length));
  }
  return total;
}

function measureSelection(node: SelectionNode, type: unknown, measuring: Measuring): Measure {
  if (node.kind === Kind.FIELD) return measureField(node, type, measuring);
  const { schema, fragments, measured } = measuring;
  const fragment = node.kind === Kind.FRAGMENT_SPREAD ? fragments.get(node.name.value) : node;
  const known = fragment && measured.get(fragment);
  if (known || !fragment) return known ?? new Measure();
  // A fragment that spreads itself adds nothing here; validation refuses it later.
  measured.set(fragment, new Measure());
  const { typeCondition, selectionSet } = fragment;
  const measure = measureSet(selectionSet, typeCondition ? schema.getType(typeCondition.name.value) : type, measuring);
  measured.set(fragment, measure);
  return measure;
}

function measureField(node: FieldNode, parent: unknown, measuring: Measuring): Measure {
  const name = node.name.value;
  const field = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined;
  const rule = field && measuring.rules.get(field);
  const type = field && getNamedType(field.type);
  const inner = measureSet(node.selectionSet, type, measuring);
  const { items, certain, varies } = sizeOf(rule?.list, node, measuring);
  const measure = new Measure();
  measure.rootFields = 1;
  measure.introspects = INTROSPECTION.has(name) || inner.introspects;
  measure.depth = INTROSPECTION.has(name) ? 1 : inner.depth + 1;
  measure.aliases = inner.aliases + (node.alias ? 1 : 0);
  measure.aliasLength = Math.max(inner.aliasLength, node.alias?.value.length ?? 0);
  measure.complexity = (rule?.weight ?? 1) + items * inner.complexity;
  measure.varies = inner.varies || varies;
  for (const [operation, count] of inner.calls) measure.needs(operation, count * certain);
  if (rule?.operation && needsOwnCall(node, type, measuring)) measure.needs(rule.operation, Math.max(1, certain));
  return measure;
}

/** How many items a field can have, how many it certainly has, and whether that depends on variables. */
function sizeOf(list: FieldRule['list'], node: FieldNode, { variables }: Measuring) {
  if (!list) return { items: 1, certain: 1, varies: false };
  const { argument, assumed } = list;
  const given = argument && node.arguments?.find(({ name }) => name.value === argument.name)?.value;
  const value = given && valueFromASTUntyped(given, variables);
  // A number for a list argument is a list of one.
  const length = Array.isArray(value) ? value.length : isListType(getNullableType(argument?.type)) ? 1 : value;
  const requested = typeof length === 'number' && Number.isFinite(length) ? length : assumed;
  return {
    items: Math.min(Math.max(requested, 1), MAX_LIST_SIZE),
    // A list of ids has a result for each different id.
    certain: Array.isArray(value) ? new Set(value.map(textOf)).size : 0,
    varies: given?.kind === Kind.VARIABLE,
  };
}

/** An id that is written as a number is the same as a text. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A player is read when one of its own fields is selected. */
function needsOwnCall({ selectionSet }: FieldNode, type: unknown, { rules }: Measuring): boolean {
  if (!selectionSet || !isObjectType(type)) return false;
  return selectionSet.selections.some((selection) => {
    if (selection.kind !== Kind.FIELD || selection.directives?.length) return false;
    const own = WITHOUT_CALL.has(selection.name.value) ? undefined : type.getFields()[selection.name.value];
    return own !== undefined && !rules.get(own)?.operation;
  });
}
