import { isJson } from '../../rest/decode/members.ts';
import { type ClientError, requestError } from '../graphql/errors.ts';
import type { GraphQLRequest } from '../graphql/request.ts';
import { MAX_ID_LENGTH, withoutPrefix } from './formats.ts';

/** The id that a request names its operation by. */
export interface RequestId {
  /** Without the prefix `sha256:`; undefined for a request with a text alone. */
  id: string | undefined;
  /** Whether it is in `extensions.persistedQuery`, where clients also register queries. */
  isApollos: boolean;
}

const NO_ID: RequestId = { id: undefined, isApollos: false };

/**
 * Reads the id from `extensions.persistedQuery` (Apollo's form, `version` 1 and `sha256Hash`), `documentId` (the persisted
 * documents appendix to GraphQL over HTTP), `id` or `doc_id`. Beside a text, an `id` or `doc_id` that is not listed is some
 * other program's number and does not count. Throws BAD_REQUEST for an id of another form, and for two different ids.
 */
export function readId(request: GraphQLRequest, isListed: (id: string) => boolean): RequestId {
  if (request.documentIds === undefined && request.extensions === undefined) return NO_ID;
  const ids = new Set<string>();
  for (const [member, value] of Object.entries(request.documentIds ?? {})) {
    const id = isId(value) ? withoutPrefix(value) : undefined;
    const foreign = request.query !== undefined && member !== 'documentId';
    if (foreign && (id === undefined || !isListed(id))) continue;
    if (id === undefined) throw badRequest(`${member} must be a text of 1 to ${MAX_ID_LENGTH} characters.`);
    ids.add(id);
  }
  const apollos = readPersistedQuery(request.extensions?.['persistedQuery']);
  if (apollos !== undefined) ids.add(apollos);
  if (ids.size > 1) throw badRequest('The request names two operations by different ids; send one id.');
  const [id] = ids;
  return { id, isApollos: apollos !== undefined };
}

function readPersistedQuery(given: unknown): string | undefined {
  if (given == null) return undefined;
  if (!isJson(given) || given['version'] !== 1 || !isId(given['sha256Hash'])) {
    throw badRequest(
      'extensions.persistedQuery must be {"version": 1, "sha256Hash": …}, the SHA-256 of the query in lower-case hexadecimal.',
    );
  }
  return withoutPrefix(given['sha256Hash']);
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= MAX_ID_LENGTH;
}

export function badRequest(message: string): ClientError {
  return requestError('BAD_REQUEST', 400, message);
}
