import type { Refusal } from './errors.ts';
import type { IdentifiedRequest } from './request.ts';

/** The excerpt of a body can end anywhere, so its members are found by their names and not by parsing. */
const CODE = /"code"\s{0,9}:\s{0,9}"?([\w.-]{1,40})/;
const MESSAGE = /"(?:message|error|detail)"\s{0,9}:\s{0,9}"((?:[^"\\]|\\.){1,200})/;
/** Personal data that did not come from this request. */
const PERSONAL = /[^\s"'<>@]{1,64}@[^\s"'<>@]{1,255}|\+?\d[\d -]{5,}\d/g;
/** Shorter values occur in words by chance. */
const MIN_VALUE_LENGTH = 3;
const MAX_VALUES = 200;

/** The refusal in the beginning of a response's body; undefined when there is none. */
export function refusalIn(excerpt: string, request: IdentifiedRequest, playerUniqueId: string): Refusal | undefined {
  const code = CODE.exec(excerpt)?.[1];
  const message = MESSAGE.exec(excerpt)?.[1];
  if (code === undefined && message === undefined) return undefined;
  return { code, message: message && withoutValues(unescaped(message), valuesOf(request, playerUniqueId)) };
}

function unescaped(text: string): string {
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text;
  }
}

function withoutValues(text: string, all: Iterable<string>): string {
  // A longer value than the text cannot be in it.
  const values = [...all].filter(({ length }) => length >= MIN_VALUE_LENGTH && length <= text.length);
  // The longest first: a value can contain another one.
  values.sort((a, b) => b.length - a.length);
  const literals = values.map((value) => value.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
  // One by one: V8 refuses a regular expression of all values when it is longer than about 32 KB.
  const known = literals.reduce((rest, literal) => rest.replace(new RegExp(literal, 'gi'), '…'), text);
  return known.replace(PERSONAL, '…');
}

/** The player, the keys, and every text and number of the body. */
function valuesOf({ keys, headers, body }: IdentifiedRequest, playerUniqueId: string): Set<string> {
  // The headers have the keys that were sent, which a rotation may have replaced since.
  const sent = headers.filter((_, index) => /key$/i.test(headers[index - 1] ?? ''));
  const values = new Set([playerUniqueId, ...keys(), ...sent]);
  const open: unknown[] = body === null ? [] : [JSON.parse(body)];
  for (let value = open.pop(); value !== undefined && values.size < MAX_VALUES; value = open.pop()) {
    if (typeof value === 'object' && value !== null) for (const member of Object.values(value)) open.push(member);
    else values.add(String(value));
  }
  return values;
}
