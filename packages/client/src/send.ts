import { GatewayError, type GatewayResponse, type ResponseError } from './errors.ts';
import type { Kind } from './idempotency.ts';
import { ATTEMPTS, isWorthless, pauseAfter, reasonOf, TOO_LONG_MS, wait } from './retry.ts';
import type { Fetch } from './token.ts';

/** A response of the gateway: its HTTP status, its text and what that says. */
export interface Received {
  readonly status: number;
  readonly text: string;
  readonly response: GatewayResponse;
}

/**
 * Sends a request until the response has data, or says that another attempt is of no use; at most five times, and while the
 * pauses are at most 60 s. Resolves to the last response. Rejects with the signal's reason, or with a `GatewayError` of the
 * code `NO_RESPONSE` or `NO_TOKEN`. When nobody knows what became of a mutation in an earlier attempt, errors have the outcome
 * `UNKNOWN`, unless the last attempt says `DONE`.
 *
 * @param fetch Sends the token; see `authorizedFetch`.
 */
export async function send(fetch: Fetch, url: string, options: RequestInit, kind: Kind): Promise<Received> {
  const { signal } = options;
  let isUnknown = false;
  for (let attempt = 1; ; attempt += 1) {
    const received = await sendOnce(fetch, url, options, kind).catch((cause: unknown) => {
      if (signal?.aborted) throw reasonOf(signal);
      return cause instanceof GatewayError ? cause : noResponse(`There was no response of ${url}.`, kind, true, cause);
    });
    const isError = received instanceof GatewayError;
    const { errors: found = [] } = isError ? received : received.response;
    const pause = pauseAfter(attempt, found);
    const isFinal = isError ? !received.retryable || received.cause === WRONG_URL : !isWorthless(received.response);
    if (isFinal || attempt === ATTEMPTS || pause > TOO_LONG_MS) {
      const errors = isUnknown ? found.map((error) => withUnknown(error, kind)) : found;
      if (isError) throw isUnknown && errors[0] ? new GatewayError(errors[0], { cause: received.cause }) : received;
      if (!isUnknown || found.length === 0) return received;
      const response = { ...received.response, errors };
      return { ...received, response, text: JSON.stringify(response) };
    }
    isUnknown ||= found.some(({ extensions }) => extensions?.['outcome'] === 'UNKNOWN');
    await wait(pause, signal);
  }
}

function withUnknown(error: ResponseError, kind: Kind): ResponseError {
  const { outcome, code } = error.extensions ?? {};
  if (outcome === 'DONE') return error;
  // With another token, the same key may be sent again.
  const mayRepeat = kind === 'keyed' && (code === 'NO_TOKEN' || code === 'UNAUTHENTICATED');
  return { ...error, extensions: { ...error.extensions, outcome: 'UNKNOWN', ...(mayRepeat && { retryable: true }) } };
}

/** The cause of the error for a 404 that does not come from a gateway. The URL is probably wrong, so nothing is repeated. */
const WRONG_URL = new Error('The URL is not that of a gateway.');

async function sendOnce(fetch: Fetch, url: string, options: RequestInit, kind: Kind): Promise<Received | GatewayError> {
  // A redirect would take the token to another address.
  const received = await fetch(url, { ...options, redirect: 'error' });
  const { status } = received;
  const text = await received.text();
  const response = parsed(text);
  if (isGatewayResponse(response)) return { status, text, response };
  // Any other status, such as the 502 of a proxy, is temporary.
  const cause = status === 404 ? WRONG_URL : undefined;
  return noResponse(`${url} responded with the status ${status}, but not as a gateway.`, kind, !cause, cause);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Something in between can respond in the place of the gateway, with HTML or with JSON of its own. */
function isGatewayResponse(value: unknown): value is GatewayResponse {
  if (!isObject(value)) return false;
  const { data, errors }: { data?: unknown; errors?: unknown } = value;
  if (!Array.isArray(errors)) return isObject(data) && errors == null;
  return errors.every(isObject) && (isObject(data) || (data == null && errors.length > 0));
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function noResponse(message: string, kind: Kind, isTemporary: boolean, cause?: unknown): GatewayError {
  // An event with a key is never counted twice, whenever the application sends it again.
  const retryable = kind === 'keyed' || (isTemporary && kind === 'query');
  const extensions = { code: 'NO_RESPONSE', retryable, ...(kind !== 'query' && { outcome: 'UNKNOWN' }) };
  return new GatewayError({ message, extensions }, { cause });
}

/** The request of an operation. `id` names a persisted document; without one, `query` is its text. */
export function post(
  operation: { id?: string | undefined; query?: string | undefined; operationName?: string | undefined },
  variables: object,
  more: Record<string, unknown> = {},
): RequestInit {
  const { id, query, operationName } = operation;
  return {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify({ ...(id === undefined ? { query } : { documentId: id }), operationName, variables, ...more }),
  };
}
