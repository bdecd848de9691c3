import { GraphQLError, GraphQLScalarType, Kind, type ValueNode } from 'graphql';

const DATE_TIME = /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|z|[+-]\d{2}:?\d{2})?)?$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** A moment in UTC. What leaves was made canonical by the REST client; what comes in is made canonical here. */
export const DateTime = new GraphQLScalarType<string, string>({
  name: 'DateTime',
  serialize: text,
  parseValue: readDateTime,
  parseLiteral: (node) => readDateTime(literal(node)),
});

/** A calendar date. */
export const DateScalar = new GraphQLScalarType<string, string>({
  name: 'Date',
  serialize: text,
  parseValue: readDate,
  parseLiteral: (node) => readDate(literal(node)),
});

/** A compiled operation does not ask: it relies on the REST client, as it does for every other scalar. */
function text(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new GraphQLError('A date that is not text reached the answer.');
}

/** The text of a literal, or nothing that passes for a date. */
function literal(node: ValueNode): unknown {
  return node.kind === Kind.STRING ? node.value : undefined;
}

function readDateTime(value: unknown): string {
  const [, day, time = '00:00', offset = 'Z'] = typeof value === 'string' ? (DATE_TIME.exec(value) ?? []) : [];
  const moment = day && isCalendarDate(day) ? new Date(`${day}T${time}${offset.toUpperCase()}`) : undefined;
  if (!moment || Number.isNaN(moment.getTime())) {
    throw new GraphQLError('A DateTime is written as ISO 8601, for example "2025-05-01T10:00:00.000Z".');
  }
  return moment.toISOString();
}

function readDate(value: unknown): string {
  if (typeof value !== 'string' || !DATE.test(value) || !isCalendarDate(value)) {
    throw new GraphQLError('A Date is written as year, month and day, for example "2025-05-01".');
  }
  return value;
}

/** Whether the day exists: JavaScript reads February 30 as March 2. */
function isCalendarDate(day: string): boolean {
  const moment = new Date(`${day}T00:00:00.000Z`);
  return !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(day);
}
