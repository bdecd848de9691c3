/*
 * What precedes Apollo Server's pipeline: it validates a document before any hook that can refuse it with a code. So the text of
 * an operation that is named by an id is found here, and a new document is limited and measured before it is validated.
 */

import type { HTTPGraphQLRequest } from '@apollo/server';
import type { Caller } from '../access/caller.ts';
import { badRequest, requestError } from '../errors.ts';
import { isExactNumber, isJson, type Json } from '../json.ts';
import type { RateLimits } from '../limits/rate-limits.ts';
import type { PersistedOperations } from '../persisted-operations/resolve.ts';
import type { Operations } from './documents.ts';

export interface PrepareOptions {
  persisted: PersistedOperations;
  operations: Operations;
  rates: Pick<RateLimits, 'consume'>;
}

/** Where the id of a listed operation is: `documentId` by the specification, `id` or `doc_id` in Relay's own examples. */
const IDS = ['documentId', 'id', 'doc_id'] as const;

/**
 * Puts the text of a persisted operation into the request in place of its id, and checks a document that was not validated
 * before. Throws BAD_REQUEST, OPERATION_NOT_ALLOWED, RATE_LIMITED or OPERATION_TOO_COMPLEX. Apollo Server refuses all other
 * values of the wrong type.
 */
export async function prepare(
  { persisted, operations, rates }: PrepareOptions,
  http: HTTPGraphQLRequest,
  caller: Caller,
): Promise<void> {
  const { query, extensions, ...others } = http.method === 'GET' ? fromSearch(http.search) : fromBody(http.body);
  const request = {
    query: typeof query === 'string' && query !== '' ? query : undefined,
    extensions: isJson(extensions) ? extensions : undefined,
    documentIds: IDS.filter((name) => others[name] != null).map((name) => [name, others[name]] as const),
  };
  const { text, trusted, textOfId } = await persisted.resolve(request, caller);
  if (textOfId !== undefined) replaceId(http, textOfId);
  if (text === undefined || operations.has(text)) return;
  if (!trusted) await rates.consume('newDocuments', caller);
  operations.check(text);
}

function fromBody(body: unknown): Json {
  if (!Array.isArray(body)) return isJson(body) ? body : {};
  throw badRequest('Send one operation for each request, or several as fields of one operation.');
}

function fromSearch(search: string): Json {
  const { variables, extensions, ...others } = Object.fromEntries(new URLSearchParams(search));
  const parsed = (text: string | undefined) => (text === undefined ? undefined : parseExactly(text));
  return { ...others, variables: parsed(variables), extensions: parsed(extensions) };
}

/** Leaves everything else as it was sent, so that Apollo Server refuses what it refuses beside a text. */
function replaceId(http: HTTPGraphQLRequest, query: string): void {
  if (http.method === 'POST') {
    const body = fromBody(http.body);
    const { extensions } = body;
    const others = isJson(extensions) && { extensions: { ...extensions, persistedQuery: undefined } };
    http.body = { ...body, query, ...others };
    return;
  }
  const parameters = new URLSearchParams(http.search);
  parameters.set('query', query);
  parameters.delete('extensions');
  http.search = `?${parameters}`;
}

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

/** Amounts of money are floats, which may be rounded. Any other large number can be an identifier. */
const AMOUNTS: ReadonlySet<string | number> = new Set(['totalSpent', 'avgOrderAmount']);

/** Whether a parsed number is exact: finite and, if whole, a safe integer of JavaScript or an amount. */
export function isExact(value: number, name: string | number = ''): boolean {
  return isExactNumber(value) || (AMOUNTS.has(name) && Number.isFinite(value));
}
