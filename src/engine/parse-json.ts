import { badRequest, requestError } from '../errors.ts';
import { isExact, isJson, type Json } from '../json.ts';

/** The longest list anywhere in a request. */
const MAX_LIST_LENGTH = 500;
/** The most properties of a JSON text: 20,000 took 18 ms to parse. */
const MAX_PROPERTIES = 10_000;
/** What follows the name of a property. In a string, a quotation mark before a colon is escaped, and hardly ever there. */
const PROPERTY = /"\s*:/g;

/**
 * The value of a JSON text of a request; undefined for a text that is no JSON, which Apollo Server refuses. Throws BAD_REQUEST
 * for a number that parsing rounded (as a player's identifier, 9007199254740993 would become that of another player), and
 * BAD_USER_INPUT for a list that is too long or too many properties. POST and GET use this one function.
 */
export function parseExactly(text: string): unknown {
  if (text.length > 4 * MAX_PROPERTIES && (text.match(PROPERTY)?.length ?? 0) > MAX_PROPERTIES) {
    const message = `The request has more than ${MAX_PROPERTIES} properties; send less at once.`;
    throw requestError('BAD_USER_INPUT', 400, message);
  }
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  // Iterative, because deep nesting would overflow the stack.
  const open: (unknown[] | Json)[] = [{ body }];
  const visit = (value: unknown, name: string | number) => {
    if (Array.isArray(value) && value.length > MAX_LIST_LENGTH) {
      const message = `has ${value.length} items; at most ${MAX_LIST_LENGTH} are allowed.`;
      throw requestError('BAD_USER_INPUT', 400, `The list "${String(name).slice(0, 60)}" ${message}`);
    }
    if (Array.isArray(value) || isJson(value)) open.push(value);
    if (typeof value === 'number' && !isExact(value, name)) {
      const message = 'is too large to be exact; write it as a string.';
      throw badRequest(`The number "${String(name).slice(0, 60)}" ${message}`);
    }
  };
  // `Object.entries` takes five times as long.
  for (let container = open.pop(); container !== undefined; container = open.pop()) {
    if (Array.isArray(container)) container.forEach(visit);
    else for (const name in container) visit(container[name], name);
  }
  return body;
}
