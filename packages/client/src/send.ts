import { GatewayError, type GatewayResponse } from './errors.ts';
import { ATTEMPTS, isWorthless, pauseAfter, wait } from './retry.ts';
import type { Fetch } from './token.ts';

/** A response of the gateway: its HTTP status, its text and what that says. */
export interface Received {
  readonly status: number;
  readonly text: string;
  readonly response: GatewayResponse;
}

/**
 * Sends a request until the response has data, or says that another attempt is of no use; at most five times. Without a
 * response it sends again only what `isSafe` to repeat. Resolves to the last response. Rejects with the signal's reason,
 * or with a `GatewayError` of the code `NO_RESPONSE`.
 *
 * @param fetch Sends the token; see `authorizedFetch`.
 */
export async function send(fetch: Fetch, url: string, options: RequestInit, isSafe: boolean): Promise<Received> {
  const { signal } = options;
  for (let attempt = 1; ; attempt += 1) {
    const received = await sendOnce(fetch, url, options, isSafe).catch((cause: unknown) => {
      if (signal?.aborted) throw signal.reason;
      if (cause instanceof GatewayError) throw cause;
      return noResponse(`There was no response of ${url}.`, isSafe, isSafe, cause);
    });
    const isError = received instanceof GatewayError;
    if (attempt === ATTEMPTS || (isError ? !received.retryable : !isWorthless(received.response))) {
      if (isError) throw received;
      return received;
    }
    await wait(pauseAfter(attempt, isError ? [] : received.response.errors), signal);
  }
}

async function sendOnce(fetch: Fetch, url: string, options: RequestInit, isSafe: boolean) {
  const received = await fetch(url, options);
  const { status } = received;
  const text = await received.text();
  const response = parsed(text);
  if (isGatewayResponse(response)) return { status, text, response };
  // A 404 is a wrong URL, which stays wrong. Others, such as the 502 of a proxy, pass.
  return noResponse(
    `${url} responded with the status ${status}, but not as a gateway.`,
    isSafe && status !== 404,
    isSafe,
  );
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
  if (typeof value !== 'object' || value === null) return false;
  return ('errors' in value && Array.isArray(value.errors)) || ('data' in value && typeof value.data === 'object');
}

/** Nobody knows whether a request without a response was carried out. */
function noResponse(message: string, retryable: boolean, isSafe: boolean, cause?: unknown): GatewayError {
  const extensions = { code: 'NO_RESPONSE', retryable, ...(isSafe ? {} : { outcome: 'UNKNOWN' }) };
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
