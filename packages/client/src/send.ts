import {
  errorsOf,
  GatewayError,
  type GatewayResponse,
  isObject,
  isOfFramework,
  longestPauseMs,
  notSent,
  parsed,
  type ResponseError,
} from './errors.ts';
import type { Kind } from './idempotency.ts';
import { isWorthless, pauseAfter, reasonOf, type Sending, TIMEOUT_MS, TOO_LONG_MS, wait, within } from './retry.ts';
import { type AuthorizedFetch, addressOf, type Input, type Progress } from './token.ts';

/** A response of the gateway, a copy of its headers, its text and what that says. */
export interface Received {
  readonly from: Response;
  readonly headers: Headers;
  readonly text: string;
  readonly response: GatewayResponse;
}

/** What sends one request. */
export interface Sender extends Sending {
  /** Sends the token; see `authorizedFetch`. */
  readonly fetch: AuthorizedFetch;
  /** True when the request failed in all its attempts. */
  isFailed?: boolean;
  /** True when nobody knows what became of an attempt, also of an earlier call that this one repeats. */
  isLost?: boolean | undefined;
}

/** What to send, and what ends it. */
export type Init = Omit<RequestInit, 'signal'> & { readonly signal?: AbortSignal | null | undefined };

/**
 * Sends a request until the response has data, or says that another attempt is of no use; at most `attempts` times, and while the
 * pauses are at most 60 s. Resolves to the last response, rejects as `createFetch` does. When nobody knows what became of a
 * mutation in an earlier attempt, errors have the outcome `UNKNOWN`, unless the last attempt says `DONE`.
 */
export async function send(sender: Sender, input: Input, options: Init, kind: Kind): Promise<Received> {
  const { fetch, timeoutMs = TIMEOUT_MS, attempts = 5 } = sender;
  const { signal } = options;
  const url = addressOf(input);
  for (let attempt = 1; ; attempt += 1) {
    const progress: Progress = {};
    const request = async (signal: AbortSignal | null) =>
      received(await fetch(input, { ...options, signal }, progress), url, kind);
    const came = await within(timeoutMs, signal, request).catch((cause: unknown) => {
      if (signal?.aborted) throw reasonOf(signal);
      if (cause instanceof GatewayError) return cause;
      if (isOfFramework(cause)) throw cause;
      return progress.isRejected
        ? notSent('The token cannot be fetched.', 'TOKEN_UNAVAILABLE', cause)
        : noResponse(`No response of ${url}.`, kind, cause);
    });
    const isError = came instanceof GatewayError;
    const response: GatewayResponse = isError ? came : came.response;
    const errors = errorsOf(response);
    const isFinal = !isWorthless(response) || (isError && came.cause === NOT_TEMPORARY);
    const askedMs = longestPauseMs(errors);
    const told = sender.isLost && response.errors?.map(withUnknown);
    sender.isLost ||= errors.some(({ outcome }) => outcome === 'UNKNOWN');
    // Written so that NaN, as of a missing variable, is one attempt.
    if (isFinal || !(attempt < attempts) || askedMs > TOO_LONG_MS) {
      sender.isFailed = !isFinal;
      if (isError) throw told ? new GatewayError(Object(told[0]), { cause: came.cause }) : came;
      if (!told) return came;
      const changed = { ...response, errors: told };
      return { ...came, response: changed, text: JSON.stringify(changed) };
    }
    await wait(pauseAfter(attempt, askedMs), signal);
  }
}

/** An error after an attempt whose outcome is unknown. Only what has a key, or is a query, is sent again after such an attempt. */
function withUnknown(error: ResponseError): ResponseError {
  const { outcome, code, retryable } = error.extensions ?? {};
  if (outcome === 'DONE') return error;
  // With another token (`NO_TOKEN`, `TOKEN_UNAVAILABLE`), or with its text, the same key may be sent again.
  const mayRepeat = /TOKEN|UNAUTHENTICATED|PERSISTED/.test(String(code));
  return { ...error, extensions: { ...error.extensions, outcome: 'UNKNOWN', retryable: mayRepeat || retryable } };
}

/** The cause of an error for a response of something else that will be the same the next time. */
const NOT_TEMPORARY = 'final';
/** Statuses of something between that are final. What it says with 408, 425 and 429, such as a proxy's limit, is over later. */
const FINAL = /^4(?!08|25|29)/;

async function received(from: Response, url: string, kind: Kind): Promise<Received> {
  const status = String(from.status);
  const text = await from.text();
  const headers = new Headers();
  // By `forEach`: `get` throws in a `load` of SvelteKit. What a test gives can have no headers at all.
  from.headers?.forEach?.((value, name) => void headers.append(name, value));
  const response = Object(parsed(text));
  // Some servers write null where there are none.
  response.errors ??= undefined;
  if (isGatewayResponse(response, from.status)) return { from, headers, text, response };
  const meaning = MEANINGS.find(([statuses]) => statuses.test(status))?.[1];
  const message = `${url} responded with ${status}, but not as a gateway: ${meaning}.`;
  // Of an edge that refuses for a while: in seconds, of two edges the longer; or a date by its own clock: that of a phone can be wrong.
  const after = `${headers.get('retry-after')}`;
  const now = Date.parse(`${headers.get('date')}`) || Date.now();
  // Not a number, or less than 0, where there is none to wait for.
  const retryAfterMs = Math.max(...after.split(',').map(Number)) * 1_000 || Date.parse(after) - now;
  throw noResponse(message, kind, FINAL.test(status) ? NOT_TEMPORARY : undefined, retryAfterMs);
}

/** What a status means that something between client and gateway sent. */
const MEANINGS = [
  [/^[03]/, 'a redirect'],
  [/401/, 'a proxy wants a sign-in'],
  [/403/, 'a firewall refused the request'],
  [/40[45]/, 'the URL is probably wrong'],
  [/413/, 'too large for a proxy'],
  [/./, 'probably a proxy'],
] as const;

/** A response with a text. Jest's jsdom has no `Response`: a test that gives its own `fetch` gets what libraries read of one. */
export function responseOf({ text, headers, from: { status, statusText } }: Received): Response {
  // The text is decoded already.
  for (const name of ['content-encoding', 'content-length']) headers.delete(name);
  const init = { status, statusText, headers };
  if (globalThis.Response) return new Response(text || null, init);
  return Object({ ...init, ok: status < 300, text: async () => text, json: async () => parsed(text) });
}

/** Something in between can respond instead of the gateway: with HTML, or with JSON whose errors have no code. */
function isGatewayResponse({ data, errors = [] }: GatewayResponse, status: number): boolean {
  const isError = (error: object) => status < 400 || Object(error).extensions?.code;
  return Array.isArray(errors) && errors.every(isObject) && (isObject(data) || (data == null && errors.some(isError)));
}

function noResponse(message: string, kind: Kind, cause?: unknown, retryAfterMs?: number): GatewayError {
  // An event with a key is never counted twice, whenever the application sends it again.
  const retryable = kind === 'keyed' || (kind === 'query' && cause !== NOT_TEMPORARY);
  const outcome = kind === 'query' ? undefined : 'UNKNOWN';
  const extensions = { code: 'NO_RESPONSE', retryable, retryAfterMs, outcome };
  return new GatewayError({ message, extensions }, { cause });
}
