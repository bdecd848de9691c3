import { GraphQLError, GraphQLScalarType, Kind, type ObjectFieldNode, type ValueNode } from 'graphql';
import { isJson, type Json } from '../../../rest/decode/members.ts';

type Variables = Record<string, unknown> | null | undefined;

/*
 * Objects with any members. The scalar accepts any JSON object. The members are checked with the input of the mutation
 * (input/mutations.ts), where an error can name the member.
 */
export const CustomAttributes = objectScalar('CustomAttributes');
export const EventMetadata = objectScalar('EventMetadata');

function objectScalar(name: string) {
  const read = (value: unknown, node?: ValueNode): Json => {
    if (isJson(value)) return value;
    throw new GraphQLError(`${name} is an object, for example { name: "value" }.`, { nodes: node ?? null });
  };
  return new GraphQLScalarType<Json, unknown>({
    name,
    serialize: (value) => value,
    parseValue: (value) => read(value),
    parseLiteral: (node, variables) => read(literal(name, node, variables), node),
  });
}

/** The value of a literal with its variables. Members whose variable is absent are left out. */
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
      throw new GraphQLError(`${name}: "${node.value.slice(0, 60)}" must be in quotes.`, { nodes: node });
    case Kind.LIST:
      return node.values.map((value) => literal(name, value, variables)).filter((value) => value !== undefined);
    case Kind.OBJECT:
      return members(name, node.fields, variables);
  }
}

/** The members of a literal. The object has no prototype, so that names such as `__proto__` are ordinary names. */
function members(name: string, fields: readonly ObjectFieldNode[], variables: Variables): unknown {
  const result: Json = Object.create(null);
  for (const field of fields) {
    const value = literal(name, field.value, variables);
    if (value !== undefined) result[field.name.value] = value;
  }
  return result;
}
