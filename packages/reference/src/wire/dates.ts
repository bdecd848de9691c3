/* The rule for dates of docs/reference-service.md. */
const DATE = /^(\d{4})-(\d\d)-(\d\d)|^(\d{4})(\d\d)(\d\d)/;
const TIME = /^[Tt ](\d\d)(:?)(\d\d)(?:\2(\d\d)(?:[.,](\d{1,30}))?)? ?([Zz]|[+-]\d\d(?::?\d\d)?)?$/;

/** No form of the rule is longer. */
const MAX_LENGTH = 70;
const MINUTE_MS = 60_000;

/** A point in time as `2025-05-01T10:30:00.000Z`; undefined if `text` is none. Without an offset it is UTC. */
export function readDateTime(text: string): string | undefined {
  const read = parse(text);
  if (!read) return undefined;
  const instant = new Date(read.day + read.timeMs - read.offsetMs);
  const iso = instant.toISOString();
  // An offset can lead out of the years 0000 to 9999, which have another form.
  return iso.length === 24 ? iso : undefined;
}

/** The calendar date `2025-05-01` of a date or date-time, as it is written: the offset does not change the day. */
export function readDate(text: string): string | undefined {
  const read = parse(text);
  return read && new Date(read.day).toISOString().slice(0, 10);
}

interface ParsedDate {
  /** Midnight of the written day, as if it were UTC, in milliseconds since 1970. */
  day: number;
  timeMs: number;
  offsetMs: number;
}

function parse(text: string): ParsedDate | undefined {
  const trimmed = text.length <= MAX_LENGTH ? text.trim() : '';
  const date = DATE.exec(trimmed);
  if (!date) return undefined;
  const [year, month, dayOfMonth] = date.slice(1).filter((part) => part !== undefined);
  const day = midnight(Number(year), Number(month), Number(dayOfMonth));
  const rest = trimmed.slice(date[0].length);
  if (day === undefined) return undefined;
  if (rest === '') return { day, timeMs: 0, offsetMs: 0 };

  const [, hour, , minute, second = '00', fraction = '', offset = 'Z'] = TIME.exec(rest) ?? [];
  if (hour === undefined || minute === undefined) return undefined;
  const timeMs = (Number(hour) * 60 + Number(minute)) * MINUTE_MS + Number(second) * 1000 + milliseconds(fraction);
  const offsetMs = readOffset(offset);
  // 24:00 is the end of the day.
  const isTime = Number(hour) <= 24 && Number(minute) < 60 && Number(second) < 60 && timeMs <= 24 * 60 * MINUTE_MS;
  return isTime && offsetMs !== undefined ? { day, timeMs, offsetMs } : undefined;
}

/** Undefined if the calendar has no such day: JavaScript reads February 30 as March 2. */
function midnight(year: number, month: number, day: number): number | undefined {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() : undefined;
}

/** Digits beyond milliseconds are cut off. */
function milliseconds(fraction: string): number {
  return Number(fraction.slice(0, 3).padEnd(3, '0'));
}

function readOffset(offset: string): number | undefined {
  if (offset.toUpperCase() === 'Z') return 0;
  const digits = offset.slice(1).replace(':', '').padEnd(4, '0');
  const [hours, minutes] = [Number(digits.slice(0, 2)), Number(digits.slice(2))];
  if (hours > 23 || minutes > 59) return undefined;
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * MINUTE_MS;
}
