import type { Refusal } from './errors.ts';
import type { IdentifiedRequest } from './request.ts';

/** The excerpt of a body can end anywhere, so its members are found by their names and not by parsing. */
const CODE = /"code"\s{0,9}:\s{0,9}"?([\w.-]{1,40})/;
const MESSAGE = /"(?:message|error|detail)"\s{0,9}:\s{0,9}"((?:[^"\\]|\\.){1,500})("?)/;
/** The longest message in the log, in characters. It is cut after the values are removed: no part of one stays. */
const MAX_LENGTH = 200;
/** Personal data that did not come from this request. */
const PERSONAL = /[^\s"'<>@/]{1,64}(?:@|%40)[^\s"'<>@]{1,255}|\+?\d[\d -]{5,}\d/gi;
/** Shorter values occur in words by chance. */
const MIN_VALUE_LENGTH = 3;
/** With more values, nothing of the message is logged. */
const MAX_VALUES = 200;

/** The refusal in the beginning of a response's body; undefined when there is none, or when it cannot be cleaned. */
export function refusalIn(excerpt: string, request: IdentifiedRequest, playerUniqueId: string): Refusal | undefined {
  const code = CODE.exec(excerpt)?.[1];
  const [, message, end] = MESSAGE.exec(excerpt) ?? [];
  if (code === undefined && message === undefined) return undefined;
  const values = valuesOf(request, playerUniqueId);
  if (!values) return undefined;
  const shownCode = code !== undefined && withoutValues(code, values) === code ? code : undefined;
  if (message === undefined) return { code: shownCode, message };
  const text = unescaped(message).normalize('NFC');
  const whole = end ? text : withoutCutValue(text, values);
  return { code: shownCode, message: withoutValues(whole, values).slice(0, MAX_LENGTH) };
}

/** The text without the beginning of a value at its end: the excerpt can end inside a value. */
function withoutCutValue(text: string, values: readonly string[]): string {
  const whole = text.replace(/\uFFFD$/, '');
  const lower = whole.toLowerCase();
  const beginnings = values.map((value) => value.slice(0, lower.length).toLowerCase());
  for (let at = 0; at < lower.length; at += 1) {
    const rest = lower.slice(at);
    if (beginnings.some((beginning) => beginning.startsWith(rest))) return whole.slice(0, at);
  }
  return whole;
}

/** A text of JSON without its escapes. An escape that was cut is left out. */
function unescaped(text: string): string {
  try {
    return String(JSON.parse(`"${text.replace(/\\u[\da-f]{0,3}$/i, '')}"`));
  } catch {
    return text;
  }
}

function withoutValues(text: string, all: readonly string[]): string {
  // A longer value than the text cannot be in it.
  const values = all.filter(({ length }) => length <= text.length);
  // The longest first: a value can contain another one.
  values.sort((a, b) => b.length - a.length);
  const literals = values.map((value) => value.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
  // One by one: V8 refuses a regular expression of all values when it is longer than about 32 KB.
  const known = literals.reduce((rest, literal) => rest.replace(new RegExp(literal, 'gi'), '…'), text);
  return known.replace(PERSONAL, '…');
}

/** The player, the keys, and every text and number of the body; undefined when there are too many. */
function valuesOf({ keys, headers, body }: IdentifiedRequest, playerUniqueId: string): string[] | undefined {
  // The headers have the keys that were sent, which a rotation may have replaced since.
  const sent = headers.filter((_, index) => /key$/i.test(headers[index - 1] ?? ''));
  // A refused path is often repeated as it was sent.
  const values = new Set([playerUniqueId, encodeURIComponent(playerUniqueId), ...keys(), ...sent]);
  const open: unknown[] = body === null ? [] : [JSON.parse(body)];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value === 'object' && value !== null) for (const member of Object.values(value)) open.push(member);
    else values.add(String(value));
    if (values.size > MAX_VALUES) return undefined;
  }
  return [...values].map((value) => value.normalize('NFC')).filter(({ length }) => length >= MIN_VALUE_LENGTH);
}
