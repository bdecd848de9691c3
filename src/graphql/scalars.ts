/* The custom scalars; schema/scalars.graphql has their descriptions. */
import { GraphQLError, GraphQLScalarType, Kind, type ValueNode, valueFromASTUntyped } from 'graphql';
import { parseDate, parseDateTime } from '../rest/decode/dates.ts';
import { isJson, type Json } from '../rest/decode/members.ts';

type Variables = Record<string, unknown> | null | undefined;

const LANGUAGE = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,4}$/;

export const scalars = {
  // Dates in input are parsed by the same rules as those in responses of the REST service.
  Date: textScalar('Date', parseDate, 'as year, month and day, for example "2025-05-01"'),
  DateTime: textScalar('DateTime', parseDateTime, 'as ISO 8601, for example "2025-05-01T10:00:00.000Z"'),
  // Sent to the REST service unchanged.
  LanguageCode: textScalar(
    'LanguageCode',
    (text) => (LANGUAGE.test(text) ? text : undefined),
    'like "en", "fr" or "pt-BR"',
  ),
  URL: textScalar('URL', (text) => (URL.canParse(text) ? text : undefined), 'with a scheme'),
  // Any JSON object. input/mutations.ts checks its properties, because its errors can name them.
  CustomAttributes: objectScalar('CustomAttributes'),
  EventMetadata: objectScalar('EventMetadata'),
};

function textScalar(name: string, parse: (text: string) => string | undefined, form: string) {
  const read = (value: unknown, node?: ValueNode): string => {
    const text = typeof value === 'string' ? parse(value) : undefined;
    if (text !== undefined) return text;
    throw new GraphQLError(`A ${name} is written ${form}.`, { nodes: node ?? null });
  };
  return new GraphQLScalarType<string, string>({
    name,
    serialize(value) {
      // The REST client has decoded it. A compiled operation does not call this function.
      if (typeof value === 'string') return value;
      throw new GraphQLError(`A ${name} that is not text reached the response.`);
    },
    parseValue: (value) => read(value),
    parseLiteral: (node) => read(node.kind === Kind.STRING ? node.value : undefined, node),
  });
}

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

/** The value of a literal with its variables. Properties whose variable is absent are left out. */
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
