import { GraphQLError, GraphQLScalarType, Kind, type ValueNode } from 'graphql';
import { parseDate, parseDateTime } from '../../../rest/decode/dates.ts';

/* Input is parsed by the same rule as responses of the REST service: rest/decode/dates.ts. */

/** A moment in UTC. */
export const DateTime = dateScalar('DateTime', parseDateTime, 'ISO 8601, for example "2025-05-01T10:00:00.000Z"');

/** A calendar date. */
export const DateScalar = dateScalar('Date', parseDate, 'year, month and day, for example "2025-05-01"');

function dateScalar(name: string, parse: (text: string) => string | undefined, form: string) {
  const read = (value: unknown, node?: ValueNode): string => {
    const date = typeof value === 'string' ? parse(value) : undefined;
    if (date !== undefined) return date;
    throw new GraphQLError(`A ${name} is written as ${form}.`, { nodes: node ?? null });
  };
  return new GraphQLScalarType<string, string>({
    name,
    serialize,
    parseValue: (value) => read(value),
    parseLiteral: (node) => read(node.kind === Kind.STRING ? node.value : undefined, node),
  });
}

/** Dates in responses are decoded by the REST client. A compiled operation does not call this function. */
function serialize(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new GraphQLError('A date that is not text reached the response.');
}
