/*
 * Dates by one rule, for responses of the service and for input of clients.
 *
 * A date-time is ISO 8601: a date, then `T` or a space, hours and minutes, and optionally seconds, a fraction behind `.` or
 * `,`, and an offset (`Z`, `+02`, `+0200`, `+02:00`); or the basic format, `20250501T100000Z`. Without an offset it is UTC,
 * and a date alone is midnight UTC. Fractions are cut to milliseconds. A Date is the calendar day as it is written,
 * whatever time and offset follow it.
 */
import { MAX_SHORT_TEXT, type Warn } from './members.ts';

const CANONICAL_LENGTH = '2025-05-01T00:00:00.000Z'.length;
const CANONICAL =
  /^\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;
/** A day that every month has, so that the calendar need not be checked. */
const DAY_LENGTH = '2025-05-01'.length;
const USUAL_DAY = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])$/;

const OFFSET = '(?<offset>[Zz]|[+-]\\d{2}(?::?\\d{2})?)?';
const FRACTION = '(?:[.,](?<fraction>\\d+))?';
const EXTENDED = new RegExp(
  `^(?<day>\\d{4}-\\d{2}-\\d{2})(?:[Tt ](?<hour>\\d{2}):(?<minute>\\d{2})(?::(?<second>\\d{2})${FRACTION})? ?${OFFSET})?$`,
);
const BASIC = new RegExp(
  `^(?<day>\\d{8})(?:[Tt ](?<hour>\\d{2})(?<minute>\\d{2})(?:(?<second>\\d{2})${FRACTION})?${OFFSET})?$`,
);

interface Moment {
  /** The calendar day as it is written, `2025-05-01`. */
  day: string;
  /** In UTC with milliseconds, `2025-05-01T00:00:00.000Z`. */
  utc: string;
}

/** A date-time as UTC with milliseconds, `2025-05-01T00:00:00.000Z`; undefined for any other text. */
export function parseDateTime(text: string): string | undefined {
  return text.length === CANONICAL_LENGTH && CANONICAL.test(text) ? text : parse(text)?.utc;
}

/** The calendar day of a date or date-time, `2025-05-01`; undefined for any other text. */
export function parseDate(text: string): string | undefined {
  return text.length === DAY_LENGTH && USUAL_DAY.test(text) ? text : parse(text)?.day;
}

/** A member that is a date-time. Empty text is absent. */
export function dateTime(value: unknown, member: string, warn: Warn): string | undefined {
  return decode(value, parseDateTime, member, warn);
}

/** A member that is a calendar day. Empty text is absent. */
export function calendarDate(value: unknown, member: string, warn: Warn): string | undefined {
  return decode(value, parseDate, member, warn);
}

function decode(value: unknown, parseText: typeof parseDate, member: string, warn: Warn): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const decoded = typeof value === 'string' ? parseText(value) : undefined;
  if (decoded === undefined) warn('undecodable-date', member);
  return decoded;
}

function parse(text: string): Moment | undefined {
  if (text.length > MAX_SHORT_TEXT) return undefined;
  const groups = (EXTENDED.exec(text.trim()) ?? BASIC.exec(text.trim()))?.groups;
  if (!groups) return undefined;
  const { hour = '00', minute = '00', second = '00', fraction = '', offset = 'Z' } = groups;
  const digits = groups['day']?.replaceAll('-', '') ?? '';
  const day = `${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6)}`;
  if (!isInCalendar(day) || hour === '24') return undefined;
  const milliseconds = fraction.slice(0, 3).padEnd(3, '0');
  const moment = new Date(`${day}T${hour}:${minute}:${second}.${milliseconds}${withMinutes(offset)}`);
  if (Number.isNaN(moment.getTime())) return undefined;
  const utc = moment.toISOString();
  return utc.length === CANONICAL_LENGTH ? { day, utc } : undefined;
}

/** `+02`, `+0200` and `+02:00` are the same offset; JavaScript parses only the last. */
function withMinutes(offset: string): string {
  const digits = offset.replace(':', '');
  return digits.length === 1 ? 'Z' : `${digits.slice(0, 3)}:${digits.slice(3).padEnd(2, '0')}`;
}

/** Whether the day exists: JavaScript parses February 30 as March 2. */
function isInCalendar(day: string): boolean {
  const moment = new Date(`${day}T00:00:00.000Z`);
  return !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(day);
}
