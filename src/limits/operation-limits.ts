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
import { type FieldRule, type FieldRules, readFieldRules } from './field-rules.ts';

/** What each limit counts, for the message. The size of the body and the number of tokens are limited before. */
const COUNTED = {
  depth: 'levels of fields',
  aliases: 'aliases',
  aliasLength: 'characters in one alias',
  rootFields: 'root fields',
  complexity: 'fields, those of lists counted for each item',
  upstreamCalls: 'calls to the referral and rewards service',
  repetitions: 'pairs of fields with the same name',
};

type LimitName = keyof typeof COUNTED;

/**
 * Tokens and complexity do not bound these: an alias is in the response once for each item of a list, and validation compares
 * all fields of one name with each other (10,000 `repetitions` take about 20 ms).
 */
const FIXED = { aliases: 30, aliasLength: 128, rootFields: 20, repetitions: 10_000 };

/** Limits that do not depend on variables: every operation of a document is checked against them before validation. */
const BEFORE_VALIDATION = ['depth', 'aliases', 'rootFields'] as const;
const ALL = [...BEFORE_VALIDATION, 'complexity', 'upstreamCalls'] as const;

/** The complexity of an ordinary operation; each further multiple of it is charged as one more operation. */
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
  /** Whether the complexity depends on variables. */
  varies = false;
  /** Whether it selects one of `INTROSPECTION`. */
  introspects = false;
  /**
   * The REST calls that are certain, by operation of the REST service. Of two fields with the same one the larger number
   * counts: both may be about the same players. Nothing counts below lists of the REST service, or under a directive.
   */
  readonly calls = new Map<unknown, number>();

  get upstreamCalls(): number {
    return [...this.calls.values()].reduce((sum, count) => sum + count, 0);
  }

  needs(operation: unknown, count: number): void {
    this.calls.set(operation, Math.max(count, this.calls.get(operation) ?? 0));
  }

  add(other: Measure, isConditional: boolean): void {
    this.rootFields += other.rootFields;
    this.depth = Math.max(this.depth, other.depth);
    this.aliases += other.aliases;
    this.complexity += other.complexity;
    this.varies ||= other.varies;
    this.introspects ||= other.introspects;
    if (!isConditional) for (const [operation, count] of other.calls) this.needs(operation, count);
  }
}

/** The rest of the operation that is measured: its fragments, the sizes of those so far, and its variables. */
interface Measuring {
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  sizes: Map<object, Measure>;
  variables: Readonly<Record<string, unknown>>;
}

/** Measures operations and refuses those that are too large, before anything is executed. */
export class OperationLimiter {
  readonly #schema: GraphQLSchema;
  readonly #rules: FieldRules;
  readonly #limits: Record<LimitName, number>;
  /** Operations whose size does not depend on variables. */
  readonly #measured = new WeakMap<OperationDefinitionNode, Measure>();

  constructor(schema: GraphQLSchema, limits: Record<Exclude<LimitName, keyof typeof FIXED>, number>) {
    this.#schema = schema;
    this.#rules = readFieldRules(schema);
    this.#limits = { ...limits, ...FIXED };
  }

  /** Throws OPERATION_TOO_COMPLEX for a document with an operation over a limit that does not depend on variables. */
  checkDocument(document: DocumentNode): void {
    this.#check(sizesOf(document), ['aliasLength', 'repetitions']);
    for (const part of document.definitions) {
      if (part.kind === Kind.OPERATION_DEFINITION) this.#check(this.measure(document, part), BEFORE_VALIDATION);
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
    return this.#exceeded(measure, ALL) ? 1 : 1 + Math.floor(measure.complexity / COMPLEXITY_PER_COST);
  }

  /** Throws OPERATION_TOO_COMPLEX for an operation that exceeds a limit. */
  check(measure: Measure): void {
    this.#check(measure, ALL);
  }

  #exceeded<Name extends LimitName>(sizes: Record<Name, number>, limits: readonly Name[]): Name | undefined {
    return limits.find((limit) => sizes[limit] > this.#limits[limit]);
  }

  #check<Name extends LimitName>(sizes: Record<Name, number>, limits: readonly Name[]): void {
    const limit = this.#exceeded(sizes, limits);
    if (!limit) return;
    const max = this.#limits[limit];
    const message = `The operation has more than ${max} ${COUNTED[limit]}. Ask for less at once.`;
    throw requestError('OPERATION_TOO_COMPLEX', 400, message, { limit, max });
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
    const type = field && getNamedType(field.type);
    const { items, certain, varies } = lengthOf(list, node, measuring);
    const size = this.#sizeOf(node.selectionSet, type, measuring);
    size.introspects ||= INTROSPECTION.has(name);
    size.rootFields = 1;
    size.depth = INTROSPECTION.has(name) ? 1 : size.depth + 1;
    size.aliases += node.alias ? 1 : 0;
    size.complexity = weight + items * (each + size.complexity);
    size.varies ||= varies;
    for (const [inner, count] of size.calls) size.calls.set(inner, count * certain);
    if (operation && this.#selectsOwn(node, type)) size.needs(operation, Math.max(1, certain));
    return size;
  }

  /** Whether a field certainly selects something that only its own REST call returns. */
  #selectsOwn({ selectionSet }: FieldNode, type: unknown): boolean {
    if (!selectionSet || !isObjectType(type)) return false;
    return selectionSet.selections.some((selection) => {
      if (selection.kind !== Kind.FIELD || selection.directives?.length) return false;
      const own = IDENTIFIERS.has(selection.name.value) ? undefined : type.getFields()[selection.name.value];
      return own !== undefined && !this.#rules.get(own)?.operation;
    });
  }
}

/** How many items a field can have, how many it certainly has, and whether that depends on variables. */
function lengthOf(list: FieldRule['list'], node: FieldNode, { variables }: Measuring) {
  if (!list) return { items: 1, certain: 1, varies: false };
  const given = node.arguments?.find(({ name }) => name.value === list.argument?.name)?.value;
  const value: unknown = given && valueFromASTUntyped(given, variables);
  // One id in the place of a list is a list of one. An id that is written as a number is the same as a text.
  const ids = given && isListType(getNullableType(list.argument?.type)) ? [value].flat() : [];
  const different = new Set(ids.map((id) => (typeof id === 'string' ? id : JSON.stringify(id))));
  const requested = ids.length || (typeof value === 'number' && Number.isFinite(value) ? value : list.assumed);
  const items = Math.min(Math.max(requested, 1), MAX_LIST_SIZE);
  return { items, certain: different.size, varies: given?.kind === Kind.VARIABLE };
}

/**
 * Of a document: its longest alias, and the sum of the squares of how often each response name has selections. That is at
 * least the number of pairs of fields that validation compares, because it compares each pair at most once.
 */
function sizesOf(document: DocumentNode) {
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
