import {
  type GraphQLField,
  type GraphQLInputType,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
} from 'graphql';

/** Where the selections of an operation end. */
const MAX_DEPTH = 6;
/** Few, so that responses have the same names at different places, and names that mean something elsewhere. */
const ALIASES = ['a', 'b', 'id', 'nodes', 'coupons', 'player', 'constructor', 'toString', 'then', 'aInfo'];

/**
 * A query at random, the same one for the same seed: fragments, aliases, fields asked for twice, every argument a variable.
 * It need not be valid, because aliases can conflict. `values` are by the name of a scalar.
 */
export function generateOperation(schema: GraphQLSchema, values: Record<string, readonly unknown[]>, seed: number) {
  // Neighbouring seeds begin far from each other.
  let state = Math.imul(seed, 0x9e3779b1);
  const below = (end: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * end);
  };
  const oneOf = <Value>(choice: readonly Value[]) => choice[below(choice.length)];
  const definitions: string[] = [];
  const variables: Record<string, unknown> = {};
  const fragments: { type: GraphQLObjectType; text: string }[] = [];

  const query = schema.getQueryType();
  const body = query && selectionSet(query, 0);
  const head = definitions.length > 0 ? `(${definitions.join(', ')})` : '';
  const spread = fragments.map(({ type, text }, index) => `fragment F${index} on ${type} ${text}`);
  return { query: [`query Generated${head} ${body}`, ...spread].join('\n'), variables };

  function selectionSet(type: GraphQLObjectType, depth: number): string {
    const fields = Object.values(type.getFields());
    const leaves = fields.filter((field) => !isCompositeType(getNamedType(field.type)));
    const choice = new Set(depth < MAX_DEPTH || leaves.length === 0 ? fields : leaves);
    const selections = Array.from({ length: 1 + below(depth === 0 ? 2 : 4) }, () => {
      const field = oneOf([...choice]);
      // Now and then a field is asked for again.
      if (field && below(10) > 0) choice.delete(field);
      return field ? selection(type, field, depth) : '__typename';
    });
    return `{ ${selections.join(' ')} }`;
  }

  function selection(type: GraphQLObjectType, field: GraphQLField<unknown, unknown>, depth: number): string {
    const kind = below(12);
    if (kind === 0 && depth < MAX_DEPTH) return `... ${selectionSet(type, depth + 1)}`;
    if (kind === 1 && depth < MAX_DEPTH) return `...F${fragmentOn(type, depth)}`;
    const alias = below(5) === 0 ? `${oneOf(ALIASES)}: ` : '';
    const given = field.args.filter((argument) => argument.type instanceof GraphQLNonNull || below(2) === 0);
    const list = given.map((argument) => `${argument.name}: ${variable(argument.type)}`).join(', ');
    const named = getNamedType(field.type);
    const inner = named instanceof GraphQLObjectType ? ` ${selectionSet(named, depth + 1)}` : '';
    return `${alias}${field.name}${list && `(${list})`}${inner}`;
  }

  /** The number of a fragment; one that is there already is mostly used again. */
  function fragmentOn(type: GraphQLObjectType, depth: number): number {
    const known = fragments.findIndex((fragment) => fragment.type === type);
    if (known >= 0 && below(3) > 0) return known;
    return fragments.push({ type, text: selectionSet(type, depth + 1) }) - 1;
  }

  /** A new variable. One that may be null is left out now and then. */
  function variable(type: GraphQLInputType): string {
    const name = `v${definitions.length}`;
    definitions.push(`$${name}: ${type}`);
    if (type instanceof GraphQLNonNull || below(3) > 0) variables[name] = oneValue(type);
    return `$${name}`;
  }

  function oneValue(type: GraphQLInputType): unknown {
    if (type instanceof GraphQLNonNull) return oneValue(type.ofType);
    if (below(20) === 0) return null;
    if (isListType(type)) return Array.from({ length: below(4) }, () => oneValue(type.ofType));
    if (isEnumType(type)) return oneOf(type.getValues())?.name;
    if (!isInputObjectType(type)) return oneOf(values[type.name] ?? []);
    const fields = Object.values(type.getFields()).filter(() => below(5) < 2);
    return Object.fromEntries(fields.map((field) => [field.name, oneValue(field.type)]));
  }
}
