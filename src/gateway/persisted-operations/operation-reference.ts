import type { HTTPGraphQLRequest } from '@apollo/server';
import { HeaderMap } from '@apollo/server';
import { ClientError } from '../graphql/errors.ts';

/** How a request names its operation: by text, by id, or both. */
export interface Asked {
  text: string | undefined;
  /** From `documentId`, or else `extensions.persistedQuery.sha256Hash`. */
  id: string | undefined;
  /** Whether the id came in Apollo's form, by which a text can also be registered. */
  isApollos: boolean;
}

/** The longest id, in characters. */
const MAX_ID_LENGTH = 256;

/**
 * Reads what Apollo's clients send, `extensions.persistedQuery` with `version` 1 and `sha256Hash`, and the `documentId` of
 * the persisted documents appendix to GraphQL over HTTP, with its prefix `sha256:` or without. Throws BAD_REQUEST for
 * what is neither. What makes no sense for other reasons is left to Apollo Server to refuse.
 */
export function readAsked({ method, body, search }: HTTPGraphQLRequest): Asked {
  return method === 'POST' ? askedInBody(body) : askedInSearch(new URLSearchParams(search));
}

/** Puts a known text in the place of an id. Variables and the operation's name stay. */
export function replaceByText(request: HTTPGraphQLRequest, text: string): void {
  if (request.method === 'POST') {
    const { extensions, ...rest } = isRecord(request.body) ? request.body : {};
    const { persistedQuery: _, ...others } = isRecord(extensions) ? extensions : {};
    request.body = { ...rest, query: text, extensions: others };
    return;
  }
  const parameters = new URLSearchParams(request.search);
  parameters.set('query', text);
  parameters.delete('documentId');
  parameters.delete('extensions');
  request.search = `?${parameters}`;
}

function askedInBody(body: unknown): Asked {
  if (!isRecord(body)) return { text: undefined, id: undefined, isApollos: false };
  const { query, documentId, extensions } = body;
  return toAsked(query, documentId, isRecord(extensions) ? extensions['persistedQuery'] : undefined);
}

function askedInSearch(parameters: URLSearchParams): Asked {
  const extensions = parseJson(parameters.get('extensions'));
  return toAsked(
    parameters.get('query'),
    parameters.get('documentId'),
    isRecord(extensions) ? extensions['persistedQuery'] : undefined,
  );
}

function toAsked(query: unknown, documentId: unknown, persistedQuery: unknown): Asked {
  const text = typeof query === 'string' && query !== '' ? query : undefined;
  if (documentId != null) {
    if (!isId(documentId)) throw badRequest(`documentId must be a text of 1 to ${MAX_ID_LENGTH} characters.`);
    return { text, id: documentId.replace(/^sha256:/, ''), isApollos: false };
  }
  if (persistedQuery == null) return { text, id: undefined, isApollos: false };
  if (!isRecord(persistedQuery) || persistedQuery['version'] !== 1 || !isId(persistedQuery['sha256Hash'])) {
    throw badRequest(
      'extensions.persistedQuery must be {"version": 1, "sha256Hash": …}, the SHA-256 of the query in lower-case hexadecimal.',
    );
  }
  return { text, id: persistedQuery['sha256Hash'], isApollos: true };
}

export function badRequest(message: string): ClientError {
  return new ClientError('BAD_REQUEST', message, { extensions: { http: { status: 400, headers: new HeaderMap() } } });
}

function parseJson(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= MAX_ID_LENGTH;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
