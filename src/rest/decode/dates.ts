import type { Notice } from '../observe.ts';

const CANONICAL_LENGTH = '2025-05-01T00:00:00.000Z'.length;
const CANONICAL =
  /^\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;
/** A day every month has: nothing to look up in the calendar. */
const PLAIN_DAY = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])$/;
const ISO_8601 =
  /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2})(?::(\d{2})(?:[.,](\d+))?)?\s?([Zz]|[+-]\d{2}(?::?\d{2})?)?)?$/;

/**
 * A moment as UTC with milliseconds, `2025-05-01T00:00:00.000Z`. Any ISO 8601 form is taken, a date alone too; what has
 * no offset is UTC. Empty text is nothing; what cannot be read is noticed and left out.
 */
export function dateTime(value: unknown, member: string, notice: Notice): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') {
    if (value.length === CANONICAL_LENGTH && CANONICAL.test(value)) return value;
    const read = inUtc(value.trim());
    if (read !== undefined) return read;
  }
  notice('undecodable-date', member);
  return undefined;
}

/** A calendar date, `2025-05-01`: the day as it is written, whatever the time and offset behind it. */
export function calendarDate(value: unknown, member: string, notice: Notice): string | undefined {
  if (typeof value === 'string' && PLAIN_DAY.test(value)) return value;
  const moment = dateTime(value, member, notice);
  return moment === undefined ? undefined : String(value).trim().slice(0, 10);
}

function inUtc(value: string): string | undefined {
  const [, day, time = '00:00', seconds = '00', fraction = '', offset = 'Z'] = ISO_8601.exec(value) ?? [];
  if (day === undefined || !existsInCalendar(day)) return undefined;
  const moment = new Date(`${day}T${time}:${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}${withMinutes(offset)}`);
  if (Number.isNaN(moment.getTime())) return undefined;
  const utc = moment.toISOString();
  return utc.length === CANONICAL_LENGTH ? utc : undefined;
}

/** `+02`, `+0200` and `+02:00` are the same offset; JavaScript reads the last alone. */
function withMinutes(offset: string): string {
  const digits = offset.replace(':', '');
  return digits.length === 1 ? 'Z' : `${digits.slice(0, 3)}:${digits.slice(3).padEnd(2, '0')}`;
}

/** JavaScript reads February 30 as March 2. */
function existsInCalendar(day: string): boolean {
  const moment = new Date(`${day}T00:00:00.000Z`);
  return !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(day);
}
