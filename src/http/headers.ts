import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { LOOPBACK } from '../config/forms.ts';
import { type ClientError, requestError } from '../errors.ts';

/** How many headers a request may have. Node silently drops those after the 2,000th. */
const MAX_HEADERS = 200;

/**
 * The refusal of a request whose headers can be interpreted in two ways, or that a gateway without tokens must not serve. Node
 * joins repeated headers with a comma, so a repeated `authorization`, `content-type` or `content-encoding` is not valid.
 * @param open Whether the gateway has no token setting. It then trusts every client that can reach it. With DNS rebinding, a
 * website can reach it through a visitor's browser: any domain can resolve to 127.0.0.1. The Host header still has that domain.
 */
export function headerProblem({ hostname, raw }: FastifyRequest, open: boolean): ClientError | undefined {
  const { host = '' } = raw.headers;
  if (raw.rawHeaders.length > 2 * MAX_HEADERS) {
    return requestError('BAD_REQUEST', 431, 'The request has too many headers.');
  }
  if (host.includes(',')) return requestError('BAD_REQUEST', 400, 'The header "host" must not be repeated.');
  // `hostname` can come from `X-Forwarded-Host`, which a website can send too.
  if (!open || (LOOPBACK.test(hostname) && LOOPBACK.test(host.replace(/:\d+$/, '')))) return undefined;
  return requestError(
    'BAD_REQUEST',
    421,
    'Without a token setting this gateway answers to localhost and 127.0.0.1 only.',
  );
}

/** The form of a client's `x-request-id` that is used: safe in logs, headers and file names. */
const REQUEST_ID = /^[\w.:-]{8,128}$/;

/** The id of a request: its `x-request-id` if that is well-formed, else a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}
