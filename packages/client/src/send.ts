import {
  GatewayError,
  type GatewayResponse,
  isObject,
  isOfFramework,
  notSent,
  parsed,
  type ResponseError,
  retryAfterMs,
} from './errors.ts';
import type { Kind } from './idempotency.ts';
import { isWorthless, pauseAfter, reasonOf, type Sending, TIMEOUT_MS, TOO_LONG_MS, wait, within } from './retry.ts';
import type { AuthorizedFetch, Input, Progress } from './token.ts';

/** A response of the gateway: its HTTP status, its headers, its text and what that says. */
export interface Received {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  readonly text: string;
  readonly response: GatewayResponse;
}

/** What sends one request. */
export interface Sender extends Sending {
  /** Sends the token; see `authorizedFetch`. */
  readonly fetch: AuthorizedFetch;
  /** Called when the request failed in all its attempts. */
  readonly onFailed: () => void;
}

/**
 * Sends a request until the response has data, or says that another attempt is of no use; at most `attempts` times, and while the
 * pauses are at most 60 s. Resolves to the last response, rejects as `createFetch` does. When nobody knows what became of a
 * mutation in an earlier attempt, errors have the outcome `UNKNOWN`, unless the last attempt says `DONE`.
 */
export async function send(sender: Sender, input: Input, options: RequestInit, kind: Kind): Promise<Received> {
  const { fetch, timeoutMs = TIMEOUT_MS, attempts = 5, onFailed } = sender;
  const { signal } = options;
  const url = String(Object(input).url ?? input);
  let isUnknown = false;
  for (let attempt = 1; ; attempt += 1) {
    const progress: Progress = {};
    const request = (signal: AbortSignal | null) => fetch(input, { ...options, signal }, progress);
    const once = within(timeoutMs, signal, async (signal) => received(await request(signal), url, kind));
    const came = await once.catch((cause: unknown) => {
      if (signal?.aborted) throw reasonOf(signal);
      if (cause instanceof GatewayError) return cause;
      if (isOfFramework(cause)) throw cause;
      return progress.isRejected
        ? notSent('No other token came in time.', 'TOKEN_UNAVAILABLE', cause)
        : noResponse(`There was no response of ${url}.`, kind, cause);
    });
    const isError = came instanceof GatewayError;
    const errors = (isError ? came.errors : came.response.errors) ?? [];
    const isFinal = isError ? !came.retryable || came.cause === NOT_TEMPORARY : !isWorthless(came.response);
    const askedMs = Math.max(0, ...errors.map((error) => retryAfterMs(error) ?? 0));
    // Written so that NaN, as of a missing variable, is one attempt.
    if (isFinal || !(attempt < attempts) || askedMs > TOO_LONG_MS) {
      if (!isFinal) onFailed();
      const left = isUnknown ? errors.map((error) => withUnknown(error, kind)) : errors;
      if (isError) throw isUnknown ? new GatewayError(Object(left[0]), { cause: came.cause }) : came;
      if (!isUnknown || left.length === 0) return came;
      const response = { ...came.response, errors: left };
      return { ...came, response, text: JSON.stringify(response) };
    }
    isUnknown ||= errors.some(({ extensions }) => extensions?.['outcome'] === 'UNKNOWN');
    await wait(pauseAfter(attempt, askedMs), signal);
  }
}

function withUnknown(error: ResponseError, kind: Kind): ResponseError {
  const { outcome, code } = error.extensions ?? {};
  if (outcome === 'DONE') return error;
  // With another token (`NO_TOKEN`, `TOKEN_UNAVAILABLE`), the same key may be sent again.
  const mayRepeat = kind === 'keyed' && /TOKEN|UNAUTHENTICATED/.test(String(code));
  return { ...error, extensions: { ...error.extensions, outcome: 'UNKNOWN', ...(mayRepeat && { retryable: true }) } };
}

/** The cause of an error for a response of something else that will be the same the next time. */
const NOT_TEMPORARY = 'The status is final.';
/** Statuses of something between that are final. What it says with 408, 425 and 429, such as a proxy's limit, is over later. */
const FINAL = /^4(?!08|25|29)/;

async function received(from: Response, url: string, kind: Kind): Promise<Received | GatewayError> {
  const { status, statusText } = from;
  const headers = new Headers();
  // What a test gives can have `get` alone, or no headers at all.
  from.headers?.forEach?.((value, name) => void headers.append(name, value));
  const text = await from.text();
  const response = Object(parsed(text));
  // Some servers write null where there are none.
  response.errors ??= undefined;
  if (isGatewayResponse(response, status)) return { status, statusText, headers, text, response };
  const message = `${url} responded with the status ${status}, but not as a gateway: ${meaningOf(status)}.`;
  return noResponse(message, kind, FINAL.test(String(status)) ? NOT_TEMPORARY : undefined, retryAfterOf(headers));
}

/** A response with a text. Jest's jsdom has no `Response`: a test that gives its own `fetch` gets what libraries read of one. */
export function responseOf({ text, status, statusText, headers }: Received): Response {
  const init = { status, statusText, headers };
  if (globalThis.Response) return new Response(text || null, init);
  return Object({ ...init, ok: status < 300, text: async () => text, json: async () => parsed(text) });
}

/** What a status means that something between client and gateway sent. */
const meaningOf = (status: number) =>
  /^[03]/.test(String(status))
    ? 'it redirects, which is not followed'
    : (MEANINGS[status] ?? 'something in between may have responded');

const MEANINGS: Partial<Record<number, string>> = {
  401: 'a proxy wants another sign-in',
  403: 'a firewall refused the request',
  404: 'the URL is probably wrong',
  405: 'the URL is probably wrong',
  413: 'the request is too large for a proxy',
};

/**
 * `Retry-After` of an edge that refuses for a while, which is in seconds or a date, in milliseconds from now. Not a number, or
 * less than 0, where there is none to wait for.
 */
function retryAfterOf(headers: Headers): number {
  const value = String(headers.get('retry-after'));
  // By the clock of the sender, because that of a phone can be wrong.
  const now = Date.parse(String(headers.get('date'))) || Date.now();
  return /^[\d.]+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - now;
}

/** Something in between can respond instead of the gateway: with HTML, or with JSON whose errors have no code. */
function isGatewayResponse({ data, errors = [] }: GatewayResponse, status: number): boolean {
  if (!Array.isArray(errors) || !errors.every(isObject)) return false;
  return isObject(data) || (data == null && errors.some((error) => status < 400 || Object(error).extensions?.code));
}

function noResponse(message: string, kind: Kind, cause?: unknown, retryAfterMs?: number): GatewayError {
  // An event with a key is never counted twice, whenever the application sends it again.
  const retryable = kind === 'keyed' || (kind === 'query' && cause !== NOT_TEMPORARY);
  const outcome = kind === 'query' ? undefined : 'UNKNOWN';
  const extensions = { code: 'NO_RESPONSE', retryable, retryAfterMs, outcome };
  return new GatewayError({ message, extensions }, { cause });
}
