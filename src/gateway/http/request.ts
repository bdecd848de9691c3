import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { HeaderMap, type HTTPGraphQLRequest } from '@apollo/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Cancellation } from '../../rest/cancellation.ts';
import { isJson } from '../../rest/decode/members.ts';
import { type ClientError, requestError } from '../graphql/errors.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * A GraphQL request over HTTP, read once. A member of the wrong type is undefined here; Apollo Server, which is given the
 * request as it came, refuses it.
 */
export interface GraphQLRequest {
  readonly method: string;
  readonly accept: string | undefined;
  readonly query: string | undefined;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>> | undefined;
  readonly extensions: Readonly<Record<string, unknown>> | undefined;
  readonly documentId: unknown;
  /** Whether every member has its type. */
  readonly wellFormed: boolean;
  /** Whether the text comes with a hash under which it is to be registered. */
  readonly registers: boolean;
}

/** Reads the parameters of a GET request, or the parsed body of a POST request. */
export function readGraphQLRequest({ method, headers, url }: FastifyRequest, body: unknown): GraphQLRequest {
  const members = method === 'GET' ? fromSearch(searchOf(url)) : isJson(body) ? body : {};
  const { query, operationName, variables, extensions, documentId } = members;
  return {
    method,
    accept: headers.accept,
    query: typeof query === 'string' && query !== '' ? query : undefined,
    operationName: typeof operationName === 'string' ? operationName : undefined,
    variables: isJson(variables) ? variables : undefined,
    extensions: isJson(extensions) ? extensions : undefined,
    documentId,
    wellFormed:
      typeof query === 'string' &&
      (operationName == null || typeof operationName === 'string') &&
      (variables == null || isJson(variables)) &&
      (extensions == null || isJson(extensions)),
    registers: query !== undefined && isJson(extensions) && extensions['persistedQuery'] != null,
  };
}

function fromSearch(search: string): Record<string, unknown> {
  const parameters = new URLSearchParams(search);
  return {
    query: parameters.get('query') ?? undefined,
    operationName: parameters.get('operationName') ?? undefined,
    documentId: parameters.get('documentId') ?? undefined,
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

function searchOf(url: string): string {
  const start = url.indexOf('?');
  return start < 0 ? '' : url.slice(start);
}

/** The request as Apollo Server reads it: as it came, or with the text that stands for a persisted operation's id. */
export function toApolloRequest(
  { method, headers, url }: FastifyRequest,
  body: unknown,
  { operationName, variables, extensions }: GraphQLRequest,
  textOfId: string | undefined,
): HTTPGraphQLRequest {
  const apolloHeaders = new HeaderMap();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) apolloHeaders.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  const request = { method, headers: apolloHeaders, search: searchOf(url), body };
  if (textOfId === undefined) return request;
  const { persistedQuery: _, ...others } = extensions ?? {};
  if (method === 'POST') {
    const members = { operationName: operationName ?? null, variables: variables ?? null };
    return { ...request, body: { query: textOfId, ...members, extensions: others } };
  }
  const parameters = new URLSearchParams(request.search);
  parameters.set('query', textOfId);
  parameters.delete('documentId');
  parameters.delete('extensions');
  return { ...request, search: `?${parameters}` };
}

/** Happens when the client closes the connection before it has its response. `close` can come twice; see connections.ts. */
export function cancellationOf({ raw }: FastifyReply): Cancellation {
  const cancellation = new Cancellation();
  raw.on('close', () => {
    if (!raw.writableFinished) cancellation.happen();
  });
  return cancellation;
}

/** The address of the client. Throws for a connection that was reset: it has none any more, whatever the type says. */
export function addressOf(request: FastifyRequest): string {
  const address: string | undefined = request.ip;
  if (address === undefined || request.raw.socket.destroyed) throw clientGone();
  return address;
}

/** Nobody will read this error; log and metrics count the request under its code. */
export function clientGone(): ClientError {
  return requestError('CANCELLED', 499, 'The client went away.');
}

/** What an `x-request-id` from outside must look like to be used: safe in logs, headers and file names. */
const REQUEST_ID = /^[\w.:-]{8,128}$/;

/** The id of a request: its `x-request-id` where that is well-formed, else a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

/** `{ __typename }` and nothing else. */
const TYPENAME_ALONE = /^\s*(?:query\s*)?\{\s*__typename\s*\}\s*$/;

/** Whether a request is the health check of a balancer: `{ __typename }` without a name, variables or a persisted query. */
export function isHealthCheck({ query, operationName, variables, extensions, documentId }: GraphQLRequest): boolean {
  const alone = operationName ?? variables ?? extensions ?? documentId;
  return alone === undefined && query !== undefined && TYPENAME_ALONE.test(query);
}
