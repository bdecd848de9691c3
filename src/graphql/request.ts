import type { HTTPGraphQLRequest } from '@apollo/server';
import { type ClientError, requestError } from '../errors.ts';
import { isJson } from '../rest/decode/members.ts';
import { isExact } from './input/problems.ts';

/**
 * A GraphQL request over HTTP, read once. A member of the wrong type is undefined here. Apollo Server gets the original
 * request and refuses it.
 */
export interface GraphQLRequest {
  readonly query: string | undefined;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>> | undefined;
  readonly extensions: Readonly<Record<string, unknown>> | undefined;
  /** `documentId`, `id` and `doc_id` as they were sent, not checked, with the names of their members. */
  readonly documentIds: readonly (readonly [member: string, id: unknown])[];
}

const NO_BATCHES =
  'This gateway takes one operation for each request: send them one by one, or as fields of one operation.';

/** Reads the parameters of a GET request, or the parsed body of a POST request. Throws BAD_REQUEST for a batch. */
export function readGraphQLRequest({ method, search, body }: HTTPGraphQLRequest): GraphQLRequest {
  if (Array.isArray(body)) throw requestError('BAD_REQUEST', 400, NO_BATCHES);
  const members = method === 'GET' ? fromSearch(search) : isJson(body) ? body : {};
  const { query, operationName, variables, extensions } = members;
  return {
    query: typeof query === 'string' && query !== '' ? query : undefined,
    operationName: typeof operationName === 'string' ? operationName : undefined,
    variables: isJson(variables) ? variables : undefined,
    extensions: isJson(extensions) ? extensions : undefined,
    documentIds: ID_MEMBERS.filter((member) => members[member] != null).map(
      (member) => [member, members[member]] as const,
    ),
  };
}

/**
 * Where clients put the id of a listed operation: `documentId` is the form of the specification; Relay's own examples send
 * `id` or `doc_id`. Apollo's form is in `extensions`.
 */
export const ID_MEMBERS = ['documentId', 'id', 'doc_id'] as const;

function fromSearch(search: string): Record<string, unknown> {
  const parameters = new URLSearchParams(search);
  return {
    query: parameters.get('query') ?? undefined,
    operationName: parameters.get('operationName') ?? undefined,
    ...Object.fromEntries(ID_MEMBERS.map((member) => [member, parameters.get(member) ?? undefined])),
    variables: parseJson(parameters.get('variables')),
    extensions: parseJson(parameters.get('extensions')),
  };
}

/** Apollo Server refuses a text that is no JSON. */
function parseJson(text: string | null): unknown {
  return text === null ? undefined : parseExactly(text);
}

/** The query string of a URL with its question mark; empty without one. */
export function searchOf(url: string): string {
  const start = url.indexOf('?');
  return start < 0 ? '' : url.slice(start);
}

/** The longest list anywhere in a request. */
const MAX_LIST_LENGTH = 500;
/** The most properties of a JSON text: 20,000 took 18 ms to parse. */
const MAX_PROPERTIES = 10_000;
/** What follows the name of a property. In a string, a quotation mark before a colon is escaped, and hardly ever there. */
const PROPERTY = /"\s*:/g;

/**
 * The value of a JSON text of a request; undefined for a text that is no JSON. Throws BAD_REQUEST for a number that parsing
 * rounded (as a player's identifier, 9007199254740993 would become that of another player), and BAD_USER_INPUT for a list
 * that is too long or too many properties. POST and GET use this one function.
 */
export function parseExactly(text: string): unknown {
  if (text.length > 4 * MAX_PROPERTIES && (text.match(PROPERTY)?.length ?? 0) > MAX_PROPERTIES) {
    throw requestError(
      'BAD_USER_INPUT',
      400,
      `The request has more than ${MAX_PROPERTIES} properties; send less at once.`,
    );
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  // Iterative, because deep nesting would overflow the stack.
  const open: object[] = [{ body: value }];
  for (let container = open.pop(); container !== undefined; container = open.pop()) {
    for (const [name, member] of Object.entries(container)) {
      if (Array.isArray(member) && member.length > MAX_LIST_LENGTH) throw listTooLong(name, member.length);
      if (typeof member === 'object' && member !== null) open.push(member);
      else if (typeof member === 'number' && !isExact(member, name)) {
        const message = `The number "${name.slice(0, 60)}" is too large to be exact; write it as a string.`;
        throw requestError('BAD_REQUEST', 400, message);
      }
    }
  }
  return value;
}

function listTooLong(name: string, length: number): ClientError {
  const message = `The list "${name.slice(0, 60)}" has ${length} members; at most ${MAX_LIST_LENGTH} are allowed.`;
  return requestError('BAD_USER_INPUT', 400, message);
}
