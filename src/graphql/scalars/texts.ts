import { GraphQLError, GraphQLScalarType, Kind, type ValueNode } from 'graphql';
import { parseDate, parseDateTime } from '../../rest/decode/dates.ts';

const LANGUAGE = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,4}$/;

/** A moment in UTC. Input is parsed by the same rule as responses of the REST service. */
export const DateTime = textScalar(
  'DateTime',
  parseDateTime,
  'A DateTime is written as ISO 8601, for example "2025-05-01T10:00:00.000Z".',
);

/** A calendar date. */
export const DateScalar = textScalar(
  'Date',
  parseDate,
  'A Date is written as year, month and day, for example "2025-05-01".',
);

/** A language code, sent to the REST service unchanged. */
export const LanguageCode = textScalar(
  'LanguageCode',
  (text) => (LANGUAGE.test(text) ? text : undefined),
  'A LanguageCode is written like "en", "fr" or "pt-BR".',
);

/** A URL. It is in responses only, decoded by the REST client. */
export const URLScalar = textScalar(
  'URL',
  (text) => (URL.canParse(text) ? text : undefined),
  'A URL is absolute, with a scheme.',
);

function textScalar(name: string, parse: (text: string) => string | undefined, message: string) {
  const read = (value: unknown, node?: ValueNode): string => {
    const text = typeof value === 'string' ? parse(value) : undefined;
    if (text !== undefined) return text;
    throw new GraphQLError(message, { nodes: node ?? null });
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
