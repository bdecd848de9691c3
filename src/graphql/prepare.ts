/*
 * What precedes Apollo Server's pipeline. Measured: an error keeps its code only when `context()` or `didResolveOperation`
 * throws it, and a document is validated before `didResolveOperation`. So `context()` finds the text of an operation that is
 * named by an id, and limits and measures a new document before Apollo Server validates it.
 */
import type { HTTPGraphQLRequest } from '@apollo/server';
import type { Caller } from '../access/caller.ts';
import type { RateLimits } from '../limits/rate-limits.ts';
import type { Admission } from '../persisted-operations/admission.ts';
import type { Operations } from './operations.ts';
import { type GraphQLRequest, ID_MEMBERS, readGraphQLRequest } from './request.ts';

export interface PrepareOptions {
  admission: Admission;
  operations: Operations;
  rates: Pick<RateLimits, 'consume'>;
}

/**
 * Puts the text of a persisted operation into the request in place of its id, and checks a document that was not validated
 * before. Throws BAD_REQUEST, OPERATION_NOT_ALLOWED, RATE_LIMITED or OPERATION_TOO_COMPLEX.
 */
export async function prepare(
  { admission, operations, rates }: PrepareOptions,
  http: HTTPGraphQLRequest,
  caller: Caller,
): Promise<void> {
  const request = readGraphQLRequest(http);
  const { text, trusted, textOfId } = await admission.resolve(request, caller);
  if (textOfId !== undefined) replaceId(http, request, textOfId);
  if (text === undefined || operations.has(text)) return;
  if (!trusted) await rates.consume('newDocuments', caller);
  operations.check(text);
}

function replaceId(
  http: HTTPGraphQLRequest,
  { operationName, variables, extensions }: GraphQLRequest,
  text: string,
): void {
  const { persistedQuery: _, ...others } = extensions ?? {};
  if (http.method === 'POST') {
    http.body = { query: text, operationName: operationName ?? null, variables: variables ?? null, extensions: others };
    return;
  }
  const parameters = new URLSearchParams(http.search);
  parameters.set('query', text);
  for (const member of ID_MEMBERS) parameters.delete(member);
  parameters.delete('extensions');
  http.search = `?${parameters}`;
}
