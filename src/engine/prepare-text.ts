/* The text of an operation, before Apollo Server's pipeline; docs/architecture.md says why there. */
import { hash } from 'node:crypto';
import type { HTTPGraphQLRequest } from '@apollo/server';
import { type DocumentNode, parse } from 'graphql';
import type { Caller } from '../caller.ts';
import { badRequest, requestError } from '../errors.ts';
import { isEmptyList, isJson, type Json, parseRequestJson } from '../json.ts';
import type { RateLimits } from '../limits/rate-limits.ts';
import { idIn, nameIn, type PersistedOperations } from '../persisted-operations/find-text.ts';
import type { OperationRecord } from '../telemetry/observe.ts';
import type { ApolloOptions } from './apollo.ts';
import { operationsIn } from './documents.ts';
import { repetitionsIn } from './operation-size.ts';

const NO_OPERATION =
  'The request has no operation. Send its text as "query": in the body, {"query": "…"}, or as a parameter of a GET.';

export interface PrepareTextOptions extends Pick<ApolloOptions, 'schema' | 'documents' | 'limiter' | 'parseOptions'> {
  persisted: PersistedOperations;
  rates: Pick<RateLimits, 'consume'>;
}

/**
 * Returns the function that puts the text of a persisted operation into a request in place of its id, and checks a document
 * that was not validated before. It rejects with BAD_REQUEST, OPERATION_NOT_ALLOWED, RATE_LIMITED or OPERATION_TOO_COMPLEX.
 * Apollo Server refuses all other values of the wrong type.
 */
export function createPrepareText(options: PrepareTextOptions) {
  const { persisted, documents, rates } = options;
  return async function prepareText(http: HTTPGraphQLRequest, caller: Caller, record: OperationRecord): Promise<void> {
    removeEmpty(http);
    const body = http.method === 'GET' ? fromSearch(http.search) : fromBody(http.body);
    const query = queryIn(body);
    const { text, isListed, hasId } = await persisted.findText(query, body, caller).catch((error: unknown) => {
      if (query === undefined) noteId(record, body);
      else noteText(record, query);
      throw error;
    });
    // Apollo Server's messages for this name the content type too, or a persisted query.
    if (text === undefined && idIn(body) === undefined) throw badRequest(NO_OPERATION);
    if (text !== undefined && hasId) replaceId(http, text);
    if (text === undefined || documents.has(text)) return;
    noteText(record, text);
    if (!isListed) await rates.consume('newDocuments', caller);
    checkDocument(options, text);
  };
}

/** The name and hash for the log of an operation that may be refused before Apollo Server reads it. */
function noteText(record: OperationRecord, text: string): void {
  record.name = nameIn(text);
  record.hash = hash('sha256', text);
}

/** The same for an operation that is named by an id alone. Most ids are the hash of the text. */
function noteId(record: OperationRecord, body: Json): void {
  const [id, name] = [idIn(body), body['operationName']];
  record.name = typeof name === 'string' && /^\w{1,100}$/.test(name) ? name : undefined;
  record.hash = id && (/^(?:sha256:)?([0-9a-f]{64})$/.exec(id)?.[1] ?? hash('sha256', id));
}

/** The text of the operation; undefined where it is absent, null or empty. Throws BAD_REQUEST for another value. */
function queryIn({ query }: Json): string | undefined {
  if (typeof query === 'string' || query == null) return query || undefined;
  throw badRequest('"query" must be a text.');
}

/**
 * Checks the limits of a new document that need no variables, before it is validated. Throws OPERATION_TOO_COMPLEX, and
 * BAD_REQUEST for a kind of operation that the schema does not have. Apollo Server reports a text that cannot be parsed.
 */
function checkDocument({ schema, limiter, parseOptions }: PrepareTextOptions, text: string): void {
  let document: DocumentNode;
  try {
    document = parse(text, parseOptions);
  } catch {
    return;
  }
  limiter.check({ repetitions: repetitionsIn(document) });
  for (const part of operationsIn(document)) {
    const { depth, aliases } = limiter.measure(document, part);
    limiter.check({ depth, aliases });
    const { operation } = part;
    if (!schema.getRootType(operation)) throw requestError('BAD_REQUEST', 400, `The schema has no ${operation}.`);
  }
}

function fromBody(body: unknown): Json {
  if (Array.isArray(body))
    throw badRequest('Send one operation for each request, or several as fields of one operation.');
  return isJson(body) ? body : {};
}

function fromSearch(search: string): Json {
  const { variables, extensions, ...others } = Object.fromEntries(new URLSearchParams(search));
  const parsed = (text: string | undefined) => (text === undefined ? undefined : parseRequestJson(text));
  return { ...others, variables: parsed(variables), extensions: parsed(extensions) };
}

/** Some clients send every parameter, and an empty text, null or `[]` for those that they do not use: these are absent. */
function removeEmpty(http: HTTPGraphQLRequest): void {
  http.search = http.search.replace(/(?<=[?&])[^?&=]*=(?:null|\[\]|%5B%5D)?(?=&|$)/gi, '');
  const body = isJson(http.body) ? http.body : {};
  for (const [name, value] of Object.entries(body))
    if (value === '' || (isEmptyList(value) && /^(?:variables|extensions)$/.test(name))) delete body[name];
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
