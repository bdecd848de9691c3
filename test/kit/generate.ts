/*
 * Operations made at random from a schema, the same ones for the same seed: fragments, aliases, directives, variables,
 * fields asked for twice, and arguments that fit, that do not fit and that name what fails.
 */
import {
  type GraphQLArgument,
  GraphQLBoolean,
  type GraphQLCompositeType,
  type GraphQLField,
  GraphQLID,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isRequiredArgument,
  isUnionType,
  parse,
  validate,
} from 'graphql';

export interface GeneratedOperation {
  source: string;
  variables: Record<string, unknown>;
}

interface GenerateOptions {
  schema: GraphQLSchema;
  /** Values a client may give, by the name of their type; `wrong` ones are refused when variables are read. */
  vocabulary: Record<'values' | 'wrong', Record<string, readonly unknown[]>>;
  seed: number;
}

/** Where the selections of an operation end. */
const MAX_DEPTH = 6;
/** Few, so that responses have the same names at different places, and names that mean something elsewhere. */
const ALIASES = ['a', 'b', 'id', 'nodes', 'coupons', 'player', 'idx0', 'constructor', 'toString', 'then', 'aInfo'];

/** Valid queries without end. */
export function* generateOperations({ schema, vocabulary, seed }: GenerateOptions): Generator<GeneratedOperation> {
  const next = createRandom(seed);
  for (;;) {
    const operation = writeOperation(schema, vocabulary, next);
    // Aliases are given without looking at their neighbours, so some of them conflict.
    if (validate(schema, parse(operation.source)).length === 0) yield operation;
  }
}

/** A small generator of numbers from 0 up to, but not with, 1, by 32 bits of state (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Writes one operation, which need not be valid. */
function writeOperation(
  schema: GraphQLSchema,
  { values, wrong }: GenerateOptions['vocabulary'],
  next: () => number,
): GeneratedOperation {
  const below = (end: number) => Math.floor(next() * end);
  const happens = (probability: number) => next() < probability;
  const oneOf = <Value>(choice: readonly Value[]) => choice[below(choice.length)];
  const definitions: string[] = [];
  const fragments: { name: string; type: GraphQLCompositeType; text: string }[] = [];
  const variables: Record<string, unknown> = {};

  const query = schema.getQueryType();
  if (!query) throw new Error('The schema has no queries.');
  const body = selectionSet(query, 0);
  const head = definitions.length > 0 ? `(${definitions.join(', ')})` : '';
  const all = fragments.map(({ name, type, text }) => `fragment ${name} on ${type} ${text}`);
  const name = happens(0.8) ? `Generated${head}` : head;
  return { source: [`query ${name} ${body}`, ...all].join('\n'), variables };

  function selectionSet(type: GraphQLCompositeType, depth: number): string {
    const fields = isUnionType(type) ? [] : Object.values(type.getFields());
    const leaves = fields.filter((field) => !isCompositeType(getNamedType(field.type)));
    const choice = new Set(depth < MAX_DEPTH || leaves.length === 0 ? fields : leaves);
    // Now and then the fields of one of the types behind an interface.
    const behind = isAbstractType(type) && happens(0.8) ? oneOf(schema.getPossibleTypes(type)) : undefined;
    const selections = behind ? [`... on ${behind}${directives()} ${selectionSet(behind, depth + 1)}`] : [];
    for (let count = 1 + below(depth === 0 ? 2 : 4); count > 0; count -= 1) {
      const field = oneOf([...choice]);
      if (!field) break;
      selections.push(selection(type, field, depth));
      // Now and then a field is asked for again.
      if (happens(0.9)) choice.delete(field);
    }
    return `{ ${selections.join(' ')} }`;
  }

  function selection(type: GraphQLCompositeType, field: GraphQLField<unknown, unknown>, depth: number): string {
    const kind = below(24);
    const alias = happens(0.2) ? `${oneOf(ALIASES)}: ` : '';
    if (kind === 0) return `${alias}__typename${directives()}`;
    if (kind <= 2 && depth < MAX_DEPTH)
      return `...${kind === 1 ? ` on ${type}` : ''}${directives()} ${selectionSet(type, depth + 1)}`;
    if (kind <= 4 && depth < MAX_DEPTH) return `...${fragmentOn(type, depth)}${directives()}`;
    const named = getNamedType(field.type);
    const inner = isCompositeType(named) ? ` ${selectionSet(named, depth + 1)}` : '';
    return `${alias}${field.name}${argumentsOf(field.args)}${directives()}${inner}`;
  }

  /** The name of a fragment; one that is there already is mostly used again. */
  function fragmentOn(type: GraphQLCompositeType, depth: number): string {
    const known = oneOf(fragments.filter((fragment) => fragment.type === type));
    if (known && happens(0.7)) return known.name;
    const text = selectionSet(type, depth + 1);
    const name = `F${fragments.length}`;
    fragments.push({ name, type, text });
    return name;
  }

  function directives(): string {
    const names = ['skip', 'include'].filter(() => happens(0.05));
    const condition = () => (happens(0.3) ? happens(0.5) : variable(new GraphQLNonNull(GraphQLBoolean)));
    return names.map((name) => ` @${name}(if: ${condition()})`).join('');
  }

  function argumentsOf(args: readonly GraphQLArgument[]): string {
    const given = args.filter((argument) => isRequiredArgument(argument) || happens(0.5));
    if (given.length === 0) return '';
    return `(${given.map((argument) => `${argument.name}: ${argumentValue(argument)}`).join(', ')})`;
  }

  function argumentValue({ type, defaultValue }: GraphQLArgument): string {
    if (happens(0.08)) return literal(type);
    const id = new GraphQLNonNull(GraphQLID);
    if (String(type) === '[ID!]!' && happens(0.3)) return `[${variable(id)}, ${variable(id)}]`;
    const mayBeNull = type instanceof GraphQLNonNull && defaultValue !== undefined && happens(0.5);
    return variable(mayBeNull ? type.ofType : type);
  }

  /** A new variable of a type; sometimes with a default, left out, null or with a value that does not fit. */
  function variable(type: GraphQLInputType): string {
    const name = `v${definitions.length}`;
    const hasDefault = happens(0.2);
    definitions.push(`$${name}: ${type}${hasDefault ? ` = ${literal(type)}` : ''}`);
    const isNeeded = type instanceof GraphQLNonNull && !hasDefault;
    if (happens(isNeeded ? 0.99 : 0.6)) variables[name] = jsonValue(type);
    return `$${name}`;
  }

  /** A value as it stands in the JSON of variables. */
  function jsonValue(type: GraphQLInputType): unknown {
    if (type instanceof GraphQLNonNull) return happens(0.005) ? null : jsonValue(type.ofType);
    if (happens(0.05)) return null;
    if (type instanceof GraphQLList) return Array.from({ length: below(4) }, () => jsonValue(type.ofType));
    if (type instanceof GraphQLInputObjectType) {
      const fields = Object.values(type.getFields()).filter(() => happens(0.4));
      const members = fields.map((field): [string, unknown] => [field.name, jsonValue(field.type)]);
      return Object.fromEntries(happens(0.02) ? [...members, ['unknownMember', 1]] : members);
    }
    return oneOf((happens(0.015) ? wrong[type.name] : undefined) ?? wordsFor(type));
  }

  /** A value as it stands in a document. */
  function literal(type: GraphQLInputType): string {
    if (type instanceof GraphQLNonNull) return literal(type.ofType);
    if (type instanceof GraphQLList)
      return `[${Array.from({ length: below(3) }, () => literal(type.ofType)).join(', ')}]`;
    if (type instanceof GraphQLInputObjectType) {
      const fields = Object.values(type.getFields()).filter(() => happens(0.3));
      return `{ ${fields.map((field) => `${field.name}: ${literal(field.type)}`).join(', ')} }`;
    }
    const value = oneOf(wordsFor(type));
    return isEnumType(type) ? String(value) : JSON.stringify(value);
  }

  function wordsFor(type: GraphQLNamedType): readonly unknown[] {
    const words = isEnumType(type) ? type.getValues().map(({ name }) => name) : values[type.name];
    if (!words) throw new Error(`The vocabulary has no ${type.name}.`);
    return words;
  }
}
