import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { HeaderMap, type HTTPGraphQLRequest } from '@apollo/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Cancellation } from '../../rest/cancellation.ts';
import { type GraphQLRequest, searchOf } from '../graphql/request.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';

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

/** What an `x-request-id` from outside must look like to be used: safe in logs, headers and file names. */
const REQUEST_ID = /^[\w.:-]{8,128}$/;

/** The id of a request: its `x-request-id` where that is well-formed, else a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}
