import type { FastifyRequest } from 'fastify';
import { isJson } from '../rest/decode/members.ts';
import { requestError } from './errors.ts';

/**
 * A GraphQL request over HTTP, read once. A member of the wrong type is undefined here. Apollo Server gets the original
 * request and refuses it.
 */
export interface GraphQLRequest {
  readonly method: string;
  readonly accept: string | undefined;
  readonly query: string | undefined;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>> | undefined;
  readonly extensions: Readonly<Record<string, unknown>> | undefined;
  /** `documentId`, `id` and `doc_id` as they were sent, not checked, with the names of their members. */
  readonly documentIds: readonly (readonly [member: string, id: unknown])[];
  /** Whether the members of the request have the right types. */
  readonly wellFormed: boolean;
  /** Whether the text is sent with a hash, to be registered as a persisted query. */
  readonly registers: boolean;
}

const NO_BATCHES =
  'This gateway takes one operation for each request: send them one by one, or as fields of one operation.';

/** Reads the parameters of a GET request, or the parsed body of a POST request. Throws BAD_REQUEST for a batch. */
export function readGraphQLRequest(
  { method, url, headers }: Pick<FastifyRequest, 'method' | 'url' | 'headers'>,
  body: unknown,
): GraphQLRequest {
  if (Array.isArray(body)) throw requestError('BAD_REQUEST', 400, NO_BATCHES);
  const members = method === 'GET' ? fromSearch(searchOf(url)) : isJson(body) ? body : {};
  const { query, operationName, variables, extensions } = members;
  return {
    method,
    accept: headers.accept,
    query: typeof query === 'string' && query !== '' ? query : undefined,
    operationName: typeof operationName === 'string' ? operationName : undefined,
    variables: isJson(variables) ? variables : undefined,
    extensions: isJson(extensions) ? extensions : undefined,
    documentIds: ID_MEMBERS.filter((member) => members[member] != null).map(
      (member) => [member, members[member]] as const,
    ),
    wellFormed:
      (query == null || typeof query === 'string') &&
      (operationName == null || typeof operationName === 'string') &&
      (variables == null || isJson(variables)) &&
      (extensions == null || isJson(extensions)),
    registers: query !== undefined && isJson(extensions) && extensions['persistedQuery'] != null,
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

function parseJson(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The query string of a URL with its question mark; empty without one. */
export function searchOf(url: string): string {
  const start = url.indexOf('?');
  return start < 0 ? '' : url.slice(start);
}

/** `{ __typename }` and nothing else. */
const TYPENAME_ALONE = /^\s*(?:query\s*)?\{\s*__typename\s*\}\s*$/;

/** Whether a request is a load balancer's health check: `{ __typename }` without a name, variables or a persisted query. */
export function isHealthCheck({ query, operationName, variables, extensions, documentIds }: GraphQLRequest): boolean {
  const more = operationName ?? variables ?? extensions ?? documentIds[0];
  return more === undefined && query !== undefined && TYPENAME_ALONE.test(query);
}
