import { GraphQLError, GraphQLScalarType, Kind, type ValueNode, valueFromASTUntyped } from 'graphql';
import { isJson, type Json } from '../../rest/decode/members.ts';

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
    case Kind.ENUM:
      throw new GraphQLError(`${name}: "${node.value.slice(0, 60)}" must be in quotes.`, { nodes: node });
    case Kind.LIST:
      return node.values.map((value) => literal(name, value, variables)).filter((value) => value !== undefined);
    case Kind.OBJECT: {
      const members = node.fields.map((field) => [field.name.value, literal(name, field.value, variables)] as const);
      // `Object.fromEntries` treats `__proto__` like any other name.
      return Object.fromEntries(members.filter(([, value]) => value !== undefined));
    }
    default:
      return valueFromASTUntyped(node, variables);
  }
}
