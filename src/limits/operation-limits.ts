import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
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
  visit,
} from 'graphql';
import { requestError } from '../errors.ts';
import { type FieldRule, readFieldRules } from './field-rules.ts';

/** The limits, in the order of their checks, and what each counts. Body and tokens are limited before. */
const LIMITS = [
  ['aliasLength', 'characters in one alias'],
  ['repetitions', 'pairs of fields with the same name'],
  ['depth', 'levels of fields'],
  ['aliases', 'aliases'],
  ['rootFields', 'root fields'],
  ['complexity', 'fields, those of lists counted for each item'],
  ['upstreamCalls', 'calls to the referral and rewards service'],
] as const;
type LimitName = (typeof LIMITS)[number][0];
type Sizes = Partial<Record<LimitName, number>>;

/**
 * Tokens and complexity do not bound these: an alias is in the response once for each item of a list, and validation compares
 * all fields of one name with each other (10,000 `repetitions` take about 20 ms).
 */
const FIXED = { aliases: 30, aliasLength: 128, rootFields: 20, repetitions: 10_000 };

/** The complexity that costs one operation more. */
const COMPLEXITY_PER_COST = 500;
/** The longest list that a field returns. Resolvers reject larger arguments. */
const MAX_LIST_SIZE = 200;
/** The fields that return the schema; `_service` belongs to federation. */
export const INTROSPECTION: ReadonlySet<string> = new Set(['__schema', '__type', '_service']);
/** Fields of a player that need no REST call: they are in the request. */
const IDENTIFIERS: ReadonlySet<string> = new Set(['id', 'playerUniqueId']);

/** The size of an operation, or of a part of it. */
class Measure {
  rootFields = 0;
  /** Not counted below introspection: the standard query is 15 levels deep, and graphql-js has a limit of its own. */
  depth = 0;
  aliases = 0;
  /** The weights of the fields (`@cost`, else 1) and objects; below `@listSize` once for each item, for pages their totals too. */
  complexity = 0;
  /** The least number of REST calls, as far as it is known before: of the field that needs the most. */
  upstreamCalls = 0;
  /** The REST calls that one object certainly needs; undefined stands for the call that returns the object. */
  readonly calls = new Set<unknown>();
  /** Whether the complexity depends on variables. */
  varies = false;
  /** Whether it selects one of `INTROSPECTION`. */
  introspects = false;

  add(other: Measure, isConditional: boolean): void {
    this.rootFields += other.rootFields;
    this.depth = Math.max(this.depth, other.depth);
    this.aliases += other.aliases;
    this.complexity += other.complexity;
    this.varies ||= other.varies;
    this.introspects ||= other.introspects;
    if (isConditional) return;
    this.upstreamCalls = Math.max(this.upstreamCalls, other.upstreamCalls);
    for (const call of other.calls) this.calls.add(call);
  }
}

/** The operation that is measured: its fragments, the sizes of those so far, and its variables. */
interface Measuring {
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  sizes: Map<object, Measure>;
  variables: Readonly<Record<string, unknown>>;
}

/** Measures operations and refuses those that are too large, before anything is executed. */
export class OperationLimiter {
  readonly #schema: GraphQLSchema;
  readonly #rules: ReturnType<typeof readFieldRules>;
  readonly #limits: Record<LimitName, number>;
  /** Operations whose size does not depend on variables. */
  readonly #measured = new WeakMap<OperationDefinitionNode, Measure>();

  constructor(schema: GraphQLSchema, limits: Record<Exclude<LimitName, keyof typeof FIXED>, number>) {
    this.#schema = schema;
    this.#rules = readFieldRules(schema);
    this.#limits = { ...limits, ...FIXED };
  }

  /** Throws OPERATION_TOO_COMPLEX for a document over a limit that does not depend on variables, before it is validated. */
  checkDocument(document: DocumentNode): void {
    this.check(sizesOf(document));
    for (const part of document.definitions) {
      if (part.kind !== Kind.OPERATION_DEFINITION) continue;
      const { depth, aliases, rootFields } = this.measure(document, part);
      this.check({ depth, aliases, rootFields });
    }
  }

  /**
   * Measures an operation of a parsed document, valid or not, with its fragments expanded. Fragments that spread each other
   * twice can expand from a few hundred bytes to millions of fields, so each is measured once, and a spread adds its size.
   */
  measure({ definitions }: DocumentNode, operation: OperationDefinitionNode, given: object = {}): Measure {
    const known = this.#measured.get(operation);
    if (known) return known;
    const fragments = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
    const defaults = operation.variableDefinitions?.flatMap(({ variable, defaultValue }) =>
      defaultValue ? [[variable.name.value, valueFromASTUntyped(defaultValue)]] : [],
    );
    const measure = this.#sizeOf(operation.selectionSet, this.#schema.getRootType(operation.operation), {
      fragments: new Map(fragments.map((fragment) => [fragment.name.value, fragment])),
      sizes: new Map(),
      variables: { ...Object.fromEntries(defaults ?? []), ...given },
    });
    if (!measure.varies) this.#measured.set(operation, measure);
    return measure;
  }

  /** What an operation is charged against the caller's rate, in ordinary operations. One that is refused is an ordinary one. */
  costOf(measure: Measure): number {
    return this.#exceeded(measure) ? 1 : 1 + Math.floor(measure.complexity / COMPLEXITY_PER_COST);
  }

  /** Throws OPERATION_TOO_COMPLEX for sizes over a limit. */
  check(sizes: Sizes): void {
    const [limit, counted] = this.#exceeded(sizes) ?? [];
    if (!limit) return;
    const max = this.#limits[limit];
    const message = `The operation has more than ${max} ${counted}. Ask for less at once.`;
    throw requestError('OPERATION_TOO_COMPLEX', 400, message, { limit, max });
  }

  #exceeded(sizes: Sizes) {
    return LIMITS.find(([limit]) => (sizes[limit] ?? 0) > this.#limits[limit]);
  }

  #sizeOf(set: SelectionSetNode | undefined, type: unknown, measuring: Measuring): Measure {
    const total = new Measure();
    for (const node of set?.selections ?? []) {
      const isField = node.kind === Kind.FIELD;
      const size = isField ? this.#sizeOfField(node, type, measuring) : this.#sizeOfFragment(node, type, measuring);
      total.add(size, Boolean(node.directives?.length));
    }
    return total;
  }

  #sizeOfFragment(node: Exclude<SelectionNode, FieldNode>, type: unknown, measuring: Measuring): Measure {
    const fragment = node.kind === Kind.FRAGMENT_SPREAD ? measuring.fragments.get(node.name.value) : node;
    const known = fragment && measuring.sizes.get(fragment);
    if (known || !fragment) return known ?? new Measure();
    // A fragment that spreads itself adds nothing here; validation refuses it later.
    measuring.sizes.set(fragment, new Measure());
    const condition = fragment.typeCondition?.name.value;
    const size = this.#sizeOf(fragment.selectionSet, condition ? this.#schema.getType(condition) : type, measuring);
    measuring.sizes.set(fragment, size);
    return size;
  }

  #sizeOfField(node: FieldNode, parent: unknown, measuring: Measuring): Measure {
    const name = node.name.value;
    const field = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined;
    const { weight = 1, each = 0, operation, list } = (field && this.#rules.get(field)) ?? {};
    const { items, certain, varies } = lengthOf(list, node, measuring);
    const below = this.#sizeOf(node.selectionSet, field && getNamedType(field.type), measuring);
    const calls = new Set([...below.calls].map((call) => call ?? operation));
    const size = new Measure();
    size.rootFields = 1;
    size.depth = INTROSPECTION.has(name) ? 1 : below.depth + 1;
    size.aliases = below.aliases + (node.alias ? 1 : 0);
    size.complexity = weight + items * (each + below.complexity);
    size.upstreamCalls = Math.max(certain * calls.size, below.upstreamCalls);
    size.varies = varies || below.varies;
    size.introspects = INTROSPECTION.has(name) || below.introspects;
    if (field && !IDENTIFIERS.has(name)) size.calls.add(operation);
    return size;
  }
}

/** How many items a field can have, how many it certainly has, and whether that depends on variables. */
function lengthOf(list: FieldRule['list'], node: FieldNode, { variables }: Measuring) {
  if (!list) return { items: 1, certain: 1, varies: false };
  const given = node.arguments?.find(({ name }) => name.value === list.argument?.name)?.value;
  const value: unknown = given && valueFromASTUntyped(given, variables);
  // One id in the place of a list is a list of one.
  const ids = given && isListType(getNullableType(list.argument?.type)) ? [value].flat() : [];
  const requested = ids.length || (typeof value === 'number' ? value : list.assumed);
  const items = Math.min(Math.max(requested, 1), MAX_LIST_SIZE);
  const certain = Math.min(new Set(ids.map((id) => JSON.stringify(id))).size, MAX_LIST_SIZE);
  return { items, certain, varies: given?.kind === Kind.VARIABLE };
}

/**
 * Of a document: its longest alias, and the sum of the squares of how often each response name has selections. That is at
 * least the number of pairs of fields that validation compares, because it compares each pair at most once.
 */
function sizesOf(document: DocumentNode): Sizes {
  const counts = new Map<string, number>();
  let aliasLength = 0;
  visit(document, {
    [Kind.FIELD]({ alias, name, selectionSet }) {
      const { value } = alias ?? name;
      if (alias) aliasLength = Math.max(aliasLength, value.length);
      if (selectionSet) counts.set(value, (counts.get(value) ?? 0) + 1);
    },
  });
  return { aliasLength, repetitions: [...counts.values()].reduce((sum, count) => sum + count ** 2, 0) };
}
