const ISO =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/**
 * A point in time as `2025-05-01T10:30:00.000Z`, or undefined when `text` is none. Seconds, fractions, the time and the
 * offset may be missing; without an offset it is UTC.
 */
export function readDateTime(text: string): string | undefined {
  const match = ISO.exec(text.trim());
  if (!match) return undefined;
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', offset = 'Z'] = match;
  if (!isOnCalendar(Number(year), Number(month), Number(day))) return undefined;
  const time = `${hour}:${minute}:${second}.${fraction.padEnd(3, '0').slice(0, 3)}`;
  const instant = new Date(`${year}-${month}-${day}T${time}${isoOffset(offset)}`);
  if (Number.isNaN(instant.getTime())) return undefined;
  const iso = instant.toISOString();
  // An offset can carry the last hours of year 9999 or the first of year 0 out of the form.
  return iso.length === 24 ? iso : undefined;
}

/** The calendar date `2025-05-01` of a date or date-time, or undefined. */
export function readDate(text: string): string | undefined {
  return readDateTime(text)?.slice(0, 10);
}

/** JavaScript takes the 30th of February for the 2nd of March. */
function isOnCalendar(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(2000, month - 1, day));
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

function isoOffset(offset: string): string {
  if (offset.toUpperCase() === 'Z') return 'Z';
  const digits = offset.slice(1).replace(':', '').padEnd(4, '0');
  return `${offset[0]}${digits.slice(0, 2)}:${digits.slice(2)}`;
}
