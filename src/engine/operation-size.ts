/* How large operations are, by the directives `@cost`, `@listSize` and `@rest` of the schema. */
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionNode,
  type SelectionSetNode,
  valueFromASTUntyped,
} from 'graphql';
import { directiveOf, INTROSPECTION } from '../access/rules.ts';
import { walk } from '../json.ts';

/** The longest list that a field returns. Resolvers reject larger arguments. */
const MAX_LIST_SIZE = 200;
/** How often a field below introspection counts: a list in it has about so many types, fields or arguments. */
const INTROSPECTED = 50;
/** What each hundred values in the variables of a mutation add to each of its fields: checking and sending them takes time. */
const PER_HUNDRED_VALUES = 35;

export interface Size {
  /** Not counted below introspection: the standard query is 15 levels deep, and graphql-js has a limit of its own. */
  depth: number;
  aliases: number;
  /** With fragments expanded. */
  fields: number;
  /** The weights of the fields (`@cost`, else 1) and objects; below `@listSize` once for each item, for pages their totals too. */
  complexity: number;
  upstreamCalls: number;
  introspects: boolean;
}

export class OperationMeasure {
  readonly #schema: GraphQLSchema;
  readonly #sizing: ReadonlyMap<unknown, ReturnType<typeof readSizing>>;
  /** What each item adds to the complexity, by the selection set of a list whose length is assumed. */
  readonly #perItem = new WeakMap<SelectionSetNode, number>();

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
    const types = Object.values(schema.getTypeMap()).filter((type) => isObjectType(type) || isInterfaceType(type));
    const fields = types.flatMap((type) => Object.values(type.getFields()));
    this.#sizing = new Map(fields.map((field) => [field, readSizing(schema, field)]));
  }

  /**
   * Measures an operation of a parsed document, valid or not, with its fragments expanded. Fragments that spread each other
   * twice can expand from a few hundred bytes to millions of fields, so each is measured once, and a spread adds its size.
   * `varies`: whether the size depends on variables.
   */
  measure({ definitions }: DocumentNode, operation: OperationDefinitionNode, given: object = {}) {
    const fragments = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
    const variables = withDefaults(operation, given);
    const sizes = new Map<readonly SelectionNode[], Size>();
    const isMutation = operation.operation === OperationTypeNode.MUTATION;
    const root = this.#schema.getRootType(operation.operation);
    const ofInput = isMutation ? PER_HUNDRED_VALUES * Math.floor(countValues(given) / 100) : 0;
    let varies = isMutation;

    const sizeOfField = (node: FieldNode, parent: unknown): Size => {
      const name = node.name.value;
      const field = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined;
      const type = field && getNamedType(field.type);
      const { weight = 1, each = 0, argument, assumed, restCall } = this.#sizing.get(field) ?? {};
      const value = node.arguments?.find((one) => one.name.value === argument)?.value;
      const list: unknown = value && valueFromASTUntyped(value, variables);
      const below = sizeOf(node.selectionSet?.selections, type);
      varies ||= value?.kind === Kind.VARIABLE || value?.kind === Kind.LIST;
      const length = INTROSPECTION.has(name) ? INTROSPECTED : lengthOf(list, assumed);
      if (assumed !== undefined && node.selectionSet) this.#perItem.set(node.selectionSet, each + below.complexity);
      return {
        depth: INTROSPECTION.has(name) ? 1 : below.depth + 1,
        aliases: below.aliases + (node.alias ? 1 : 0),
        fields: below.fields + 1,
        complexity: weight + (parent === root ? ofInput : 0) + length * (each + below.complexity),
        upstreamCalls: restCall && Array.isArray(list) ? this.#callsOf(node, type, restCall, list) : 0,
        introspects: INTROSPECTION.has(name),
      };
    };
    const sizeOfNode = (node: SelectionNode, type: unknown): Size => {
      if (node.kind === Kind.FIELD) return sizeOfField(node, type);
      const isSpread = node.kind === Kind.FRAGMENT_SPREAD;
      const fragment = isSpread ? fragments.find(({ name }) => name.value === node.name.value) : node;
      const condition = fragment?.typeCondition?.name.value;
      return sizeOf(fragment?.selectionSet.selections, condition ? this.#schema.getType(condition) : type);
    };
    const sizeOf = (selections: readonly SelectionNode[] = [], type: unknown): Size => {
      const begun = sizes.get(selections);
      if (begun) return begun;
      const total = { depth: 0, aliases: 0, fields: 0, complexity: 0, upstreamCalls: 0, introspects: false };
      // Stored before it is complete, so that a fragment that spreads itself ends here. Validation refuses it later.
      sizes.set(selections, total);
      for (const size of selections.map((node) => sizeOfNode(node, type))) {
        total.depth = Math.max(total.depth, size.depth);
        total.aliases += size.aliases;
        total.fields += size.fields;
        total.complexity += size.complexity;
        // Those of two fields can be the same.
        total.upstreamCalls = Math.max(total.upstreamCalls, size.upstreamCalls);
        total.introspects ||= size.introspects;
      }
      return total;
    };

    const size = sizeOf(operation.selectionSet.selections, root);
    return { size, varies };
  }

  /** The length that is assumed for the list of a field; undefined where an argument says it, and for other fields. */
  assumedLength(field: GraphQLField<unknown, unknown>): number | undefined {
    const { assumed, argument } = this.#sizing.get(field) ?? {};
    return argument === undefined ? assumed : undefined;
  }

  /** What each item of a list adds to the complexity of its operation: 1 without a selection. */
  perItem(nodes: readonly FieldNode[]): number {
    return nodes.reduce((sum, { selectionSet }) => sum + ((selectionSet && this.#perItem.get(selectionSet)) || 1), 0);
  }

  /** The different REST calls that a list of objects certainly needs. */
  #callsOf({ selectionSet }: FieldNode, type: unknown, own: string, ids: readonly unknown[]): number {
    const fields = isObjectType(type) ? type.getFields() : {};
    // The list's own REST call only where more than identifiers is selected.
    const operationIdsOf = (selections: readonly SelectionNode[] = []): string[] =>
      selections.flatMap((node) => {
        if (node.directives?.length || node.kind === Kind.FRAGMENT_SPREAD) return [];
        if (node.kind === Kind.INLINE_FRAGMENT) return operationIdsOf(node.selectionSet.selections);
        return this.#sizing.get(fields[node.name.value])?.restCall ?? (node.selectionSet ? own : []);
      });
    const operationIds = new Set(operationIdsOf(selectionSet?.selections));
    // Not JSON: an identifier may still be any value, nested too deeply for the stack.
    return operationIds.size * new Set(ids.map((id) => (typeof id === 'object' ? id : String(id)))).size;
  }
}

/** The variables that were sent, and the defaults of the others. */
export function withDefaults({ variableDefinitions = [] }: OperationDefinitionNode, given: object = {}) {
  const defaults = variableDefinitions.map(({ variable, defaultValue }): [string, unknown] => [
    variable.name.value,
    defaultValue && valueFromASTUntyped(defaultValue),
  ]);
  return { ...Object.fromEntries(defaults), ...given };
}

/** What the directives `@cost`, `@listSize` and `@rest` say about a field. */
function readSizing(schema: GraphQLSchema, field: GraphQLField<unknown, unknown>) {
  const size: { slicingArguments?: string[]; assumedSize?: number } = Object(directiveOf(schema, 'listSize', field));
  const rest: { operation?: string } = Object(directiveOf(schema, 'rest', field));
  return {
    weight: Number(directiveOf(schema, 'cost', field)?.['weight'] ?? 1),
    // Of a list of texts, each one takes time as every field does.
    each: size.assumedSize && isLeafType(getNamedType(field.type)) ? 1 : weightOf(schema, getNamedType(field.type)),
    argument: size.slicingArguments?.[0],
    assumed: size.assumedSize,
    restCall: rest.operation,
  };
}

/** The weight of an object of a type; of an interface or a union, the largest. */
export function weightOf(schema: GraphQLSchema, type: GraphQLNamedType): number {
  if (isAbstractType(type)) return Math.max(...schema.getPossibleTypes(type).map((one) => weightOf(schema, one)));
  return Number((isObjectType(type) && directiveOf(schema, 'cost', type)?.['weight']) || 0);
}

/** How many items a field can have. Without an assumed size the argument is the list itself, or one item in its place. */
function lengthOf(argument: unknown, assumed?: number): number {
  const length = assumed === undefined ? [argument].flat().length : typeof argument === 'number' ? argument : assumed;
  return Math.min(Math.max(length, 1), MAX_LIST_SIZE);
}

/**
 * The sum of the squares of how often each name is selected: at least the number of pairs that validation compares. Objects of
 * one name are counted in the whole document, because they are merged; a leaf only beside itself.
 */
export function repetitionsIn({ definitions }: DocumentNode): number {
  const objects = new Map<string, number>();
  const all = [objects];
  const add = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);
  const countIn = (selections: readonly SelectionNode[] = [], leaves = new Map<string, number>()) => {
    for (const node of selections) {
      if (node.kind === Kind.INLINE_FRAGMENT) countIn(node.selectionSet.selections, leaves);
      if (node.kind !== Kind.FIELD) continue;
      add(node.selectionSet ? objects : leaves, (node.alias ?? node.name).value);
      countIn(node.selectionSet?.selections);
    }
    all.push(leaves);
  };
  for (const part of definitions) if ('selectionSet' in part) countIn(part.selectionSet?.selections);
  return all.flatMap((counts) => [...counts.values()]).reduce((sum, count) => sum + count ** 2, 0);
}

/** The values in a JSON value, with itself. */
function countValues(value: unknown): number {
  let count = 1;
  walk(value, () => {
    count += 1;
  });
  return count;
}
