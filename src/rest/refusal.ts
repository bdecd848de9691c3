import type { Request } from './transport.ts';

/** Why the REST service refused a request, in its own words. For the log alone. */
export interface Refusal {
  code: string | undefined;
  /** At most 200 characters. Values of the request, keys, e-mail addresses and long numbers are replaced by `…`. */
  message: string | undefined;
}

/** The excerpt of a body can end anywhere, so its members are found by their names and not by parsing. */
const CODE = /"code"\s{0,9}:\s{0,9}"?([\w.-]{1,40})/;
const MESSAGE = /"(?:message|error|detail)"\s{0,9}:\s{0,9}"((?:[^"\\]|\\.){1,200})/;
/** Personal data that did not come from this request. */
const PERSONAL = /[^\s"'<>@]{1,64}@[^\s"'<>@]{1,255}|\+?\d[\d -]{5,}\d/g;
/** Shorter values occur in words by chance. */
const MIN_VALUE_LENGTH = 3;
const MAX_VALUES = 200;

/** The refusal in the beginning of a response's body; undefined when there is none. */
export function refusalIn(excerpt: string, request: Request, playerUniqueId: string): Refusal | undefined {
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
  const values = [...all].filter(({ length }) => length >= MIN_VALUE_LENGTH);
  // The longest first: a value can contain another one.
  values.sort((a, b) => b.length - a.length);
  const literals = values.map((value) => value.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
  const known = literals.length > 0 ? text.replace(new RegExp(literals.join('|'), 'gi'), '…') : text;
  return known.replace(PERSONAL, '…');
}

/** The player, the keys, and every text and number of the body. */
function valuesOf({ headers, body }: Request, playerUniqueId: string): Set<string> {
  const values = new Set([playerUniqueId]);
  headers.forEach((value, index) => {
    if (/key$/i.test(headers[index - 1] ?? '') && index % 2 === 1) values.add(value);
  });
  const open: unknown[] = body === null ? [] : [JSON.parse(body)];
  for (let value = open.pop(); value !== undefined && values.size < MAX_VALUES; value = open.pop()) {
    if (typeof value === 'object' && value !== null) open.push(...Object.values(value));
    else values.add(String(value));
  }
  return values;
}
