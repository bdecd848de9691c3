import { HeaderMap, type HTTPGraphQLRequest } from '@apollo/server';
import type { FastifyRequest } from 'fastify';
import { type GraphQLRequest, ID_MEMBERS, searchOf } from '../graphql/request.ts';

/** The request for Apollo Server: unchanged, or with the text of a persisted operation in place of its id. */
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
  for (const member of ID_MEMBERS) parameters.delete(member);
  parameters.delete('extensions');
  return { ...request, search: `?${parameters}` };
}
