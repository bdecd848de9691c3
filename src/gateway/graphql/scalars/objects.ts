import { GraphQLError, GraphQLScalarType, Kind, type ObjectFieldNode, type ValueNode } from 'graphql';
import { isExact, textProblem } from '../input/text.ts';

type Variables = Record<string, unknown> | null | undefined;
export type CustomValue = string | number;
export type MetadataValue = CustomValue | CustomValue[];

/** Free attributes: an object of strings and numbers. */
export const CustomAttributes = objectScalar<CustomValue>('CustomAttributes', 'a string or a number', isPlain);

/** What is known about an event: an object of numbers, strings and arrays of them. */
export const EventMetadata = objectScalar<MetadataValue>(
  'EventMetadata',
  'a number, a string or an array of them',
  (value): value is MetadataValue => (Array.isArray(value) ? value.every(isPlain) : isPlain(value)),
);

function isPlain(value: unknown): value is CustomValue {
  return typeof value === 'string' ? !textProblem(value) : typeof value === 'number' && isExact(value);
}

/** An object scalar whose every value passes `accepts`; `kinds` says in words what that is. */
function objectScalar<V>(name: string, kinds: string, accepts: (value: unknown) => value is V) {
  const read = (value: unknown): Record<string, V> => {
    if (!isObject(value)) throw new GraphQLError(`${name} is an object, for example { name: "value" }.`);
    const result: Record<string, V> = Object.create(null);
    for (const [key, member] of Object.entries(value)) {
      if (key === '' || textProblem(key)) {
        throw new GraphQLError(`${name} has a name that is empty or holds characters that are not text.`);
      }
      if (!accepts(member)) throw new GraphQLError(`${name}: "${excerpt(key)}" must be ${kinds}.`);
      result[key] = member;
    }
    return result;
  };
  return new GraphQLScalarType<Record<string, V>, unknown>({
    name,
    serialize: (value) => value,
    parseValue: read,
    parseLiteral: (node, variables) => read(literal(name, node, variables)),
  });
}

/** The value of a literal, variables inside it put in; members whose variable is absent are left out. */
function literal(name: string, node: ValueNode, variables: Variables): unknown {
  switch (node.kind) {
    case Kind.VARIABLE:
      return variables?.[node.name.value];
    case Kind.INT:
    case Kind.FLOAT:
      return Number(node.value);
    case Kind.STRING:
    case Kind.BOOLEAN:
      return node.value;
    case Kind.NULL:
      return null;
    case Kind.ENUM:
      throw new GraphQLError(`${name}: "${excerpt(node.value)}" must stand in quotes.`);
    case Kind.LIST:
      return node.values.map((value) => literal(name, value, variables)).filter((value) => value !== undefined);
    case Kind.OBJECT:
      return members(name, node.fields, variables);
  }
}

function members(name: string, fields: readonly ObjectFieldNode[], variables: Variables): unknown {
  const result: Record<string, unknown> = Object.create(null);
  for (const field of fields) {
    const value = literal(name, field.value, variables);
    if (value !== undefined) result[field.name.value] = value;
  }
  return result;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Enough of a client's own text to recognise it by. */
function excerpt(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
