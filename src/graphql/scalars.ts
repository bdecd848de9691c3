/* How the custom scalars of schema/scalars.graphql are read. graphql-js adds the place to their errors. */
import { Kind, type ValueNode, valueFromASTUntyped } from 'graphql';
import { isEmptyList, isJson, type Json } from '../json.ts';
import { parseExactId } from '../player-id.ts';
import { parseDate, parseDateTime } from '../rest/decode/dates.ts';

const LANGUAGE = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,4}$/;
const parseLanguage = (text: string) => (LANGUAGE.test(text) ? text : undefined);

export const scalars = {
  ID: { parseValue: parseExactId },
  // Dates in input are parsed by the same rules as those in responses of the REST service.
  Date: textScalar('Date', parseDate, 'as year, month and day, for example "2025-05-01"'),
  DateTime: textScalar('DateTime', parseDateTime, 'as ISO 8601, for example "2025-05-01T10:00:00.000Z"'),
  // Sent to the REST service unchanged.
  LanguageCode: textScalar('LanguageCode', parseLanguage, 'like "en", "fr" or "pt-BR"'),
  // Any JSON object. input.ts checks its properties, because its errors can name them.
  CustomAttributes: objectScalar('CustomAttributes'),
  EventMetadata: objectScalar('EventMetadata'),
};

function textScalar(name: string, parse: (text: string) => string | undefined, form: string) {
  const parseValue = (value: unknown): string => {
    const text = typeof value === 'string' ? parse(value) : undefined;
    if (text !== undefined) return text;
    throw new TypeError(`A ${name} is written ${form}.`);
  };
  return {
    parseValue,
    parseLiteral: (node: ValueNode) => parseValue(node.kind === Kind.STRING ? node.value : undefined),
  };
}

function objectScalar(name: string) {
  const parseValue = (value: unknown): Json => {
    if (isJson(value)) return value;
    if (isEmptyList(value)) return {};
    throw new TypeError(`${name} is an object, for example { name: "value" }.`);
  };
  return {
    parseValue,
    parseLiteral: (node: ValueNode, variables?: Json | null) => parseValue(valueFromASTUntyped(node, variables)),
  };
}
