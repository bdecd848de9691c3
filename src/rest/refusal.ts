import { isJson, type Json, parseJson } from './decode/members.ts';
import type { Refusal } from './errors.ts';
import type { IdentifiedRequest } from './request.ts';

/** Codes of this form are logged. */
const CODE = /^[\w.-]{1,40}$/;
/** Where services put the message, in this order. */
const MESSAGES = ['message', 'error', 'detail'];
/** The longest message in the log, in characters. It is cut after the values are removed, so no part of one stays. */
const MAX_LENGTH = 200;
/** Personal data that did not come from this request. */
const PERSONAL = /[^\s"'<>@/]{1,64}(?:@|%40)[^\s"'<>@]{1,255}|\+?\d[\d -]{5,}\d/gi;
/** Shorter values occur in words by chance. */
const MIN_VALUE_LENGTH = 3;
/** With more values, nothing of the message is logged. */
const MAX_VALUES = 200;

/**
 * The refusal in the body of a response. Undefined for a body that is no JSON object (a long one was cut), that has neither
 * a code nor a message, or whose request has too many values to remove.
 */
export function refusalIn(body: string, request: IdentifiedRequest, playerUniqueId: string): Refusal | undefined {
  const error = errorIn(parseJson(body));
  const code = error['code'] == null ? undefined : String(error['code']);
  const message = MESSAGES.map((name) => error[name]).find((text) => typeof text === 'string');
  if (code === undefined && message === undefined) return undefined;
  const values = valuesOf(request, playerUniqueId);
  if (!values) return undefined;
  return {
    code: code !== undefined && CODE.test(code) && withoutValues(code, values) === code ? code : undefined,
    message: message && withoutValues(message.normalize('NFC'), values).slice(0, MAX_LENGTH),
  };
}

/** The object with code and message: the body, its member `error`, or the first of `errors`. */
function errorIn(body: unknown): Json {
  if (!isJson(body)) return {};
  const { error, errors } = body;
  if (isJson(error)) return error;
  return Array.isArray(errors) && isJson(errors[0]) ? errors[0] : body;
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
