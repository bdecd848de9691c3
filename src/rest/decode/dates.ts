/*
 * Dates by one rule, for responses of the service and for input of clients.
 *
 * A date-time is ISO 8601: a date (`2025-05-01` or `20250501`), then `T` or a space, hours and minutes (`10:00` or `1000`;
 * `24:00` is the end of the day), optionally seconds and a fraction after `.` or `,`, and an offset (`Z`, `+02`, `+0200`,
 * `+02:00`). Without an offset it is UTC, and a date alone is midnight UTC. Fractions are cut to milliseconds. A Date is the
 * calendar day as it is written, whatever time and offset follow it.
 */
const CANONICAL_LENGTH = '2025-05-01T00:00:00.000Z'.length;
const CANONICAL =
  /^\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** More characters than any form has. */
const MAX_LENGTH = 70;

const DAY = '(?<year>\\d{4})(?:-(?<month>\\d{2})-(?<date>\\d{2})|(?<basicMonth>\\d{2})(?<basicDate>\\d{2}))';
const FRACTION = '(?:[.,](\\d{1,30}))?';
const TIME = `(\\d{2}):(\\d{2})(?::(\\d{2})${FRACTION})?|(\\d{2})(\\d{2})(?:(\\d{2})${FRACTION})?`;
const OFFSET = '(?: ?([Zz]|[+-]\\d{2}(?::?\\d{2})?))?';
const FORM = new RegExp(`^${DAY}(?:[Tt ](?:${TIME})${OFFSET})?$`);

interface Moment {
  /** The calendar day as it is written, `2025-05-01`. */
  day: string;
  /** In UTC with milliseconds, `2025-05-01T00:00:00.000Z`; undefined outside of the years 0000 to 9999. */
  utc: string | undefined;
}

/** A date-time as UTC with milliseconds, `2025-05-01T00:00:00.000Z`; undefined for any other text. */
export function parseDateTime(text: string): string | undefined {
  return text.length === CANONICAL_LENGTH && CANONICAL.test(text) ? text : parse(text)?.utc;
}

/** The calendar day of a date or date-time, `2025-05-01`; undefined for any other text. */
export function parseDate(text: string): string | undefined {
  return parse(text)?.day;
}

function parse(text: string): Moment | undefined {
  const trimmed = text.length > MAX_LENGTH ? '' : text.trim();
  const found = FORM.exec(trimmed);
  if (!found) return undefined;
  const { year, month, date, basicMonth, basicDate } = found.groups ?? {};
  const day = `${year}-${month ?? basicMonth}-${date ?? basicDate}`;
  // Behind the five groups of the day: the extended time, the basic time, the offset.
  const [hour = '00', minute = '00', second = '00', fraction = ''] =
    found[6] === undefined ? found.slice(10) : found.slice(6);
  const milliseconds = fraction.slice(0, 3).padEnd(3, '0');
  if (!isInCalendar(day)) return undefined;
  const moment = new Date(`${day}T${hour}:${minute}:${second}.${milliseconds}${withMinutes(found[14] ?? 'Z')}`);
  if (Number.isNaN(moment.getTime())) return undefined;
  const utc = moment.toISOString();
  // An offset can lead out of the years 0000 to 9999, which have another form.
  return { day, utc: utc.length === CANONICAL_LENGTH ? utc : undefined };
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
