import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { Unauthenticated } from '../access/authenticate.ts';
import { LOOPBACK } from '../config/forms.ts';
import { requestError } from '../errors.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** Headers of every response: it must not be cached, and browsers must not guess its type. */
const ALWAYS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

export function setHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id);
    void reply.headers(ALWAYS);
    done();
  });
}

/** Headers that must not be repeated: two programs on the path could use different values. */
const SINGLE: ReadonlySet<string> = new Set([
  'authorization',
  'content-encoding',
  'content-length',
  'content-type',
  'host',
  'transfer-encoding',
]);

/** How many headers a request may have. Node silently drops those after the 2,000th. */
const MAX_HEADERS = 200;

/** Refuses requests whose headers can be interpreted in two ways. */
export function refuseAmbiguousHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    if (raw.rawHeaders.length > 2 * MAX_HEADERS) {
      return done(requestError('BAD_REQUEST', 431, 'The request has too many headers.'));
    }
    const repeated = repeatedHeader(raw);
    if (!repeated) return done();
    if (repeated === 'authorization') return done(new Unauthenticated({ reason: 'malformed' }));
    return done(requestError('BAD_REQUEST', 400, `The header "${repeated}" must not be repeated.`));
  });
}

/** For most repeated headers, Node silently keeps only the first value; `rawHeaders` has all of them. */
function repeatedHeader({ headers, rawHeaders }: IncomingMessage): string | undefined {
  if (rawHeaders.length === 2 * Object.keys(headers).length) return undefined;
  const seen = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    if (SINGLE.has(name) && seen.has(name)) return name;
    seen.add(name);
  }
  return undefined;
}

/**
 * Refuses requests whose Host header is not a loopback name. An open gateway trusts every client that can reach it. With DNS
 * rebinding, a website can reach it through a visitor's browser: any domain can resolve to 127.0.0.1. The Host header still
 * has that domain.
 */
export function refuseForeignHosts(app: FastifyInstance): void {
  app.addHook('onRequest', ({ hostname, raw }, _reply, done) => {
    // `hostname` can come from `X-Forwarded-Host`, which a website can send too.
    const host = raw.headers.host?.replace(/:\d+$/, '') ?? '';
    if (LOOPBACK.test(hostname) && LOOPBACK.test(host)) return done();
    const message = 'Without a token setting this gateway answers to localhost and 127.0.0.1 only.';
    return done(requestError('BAD_REQUEST', 421, message));
  });
}

/** The form of a client's `x-request-id` that is used: safe in logs, headers and file names. */
const REQUEST_ID = /^[\w.:-]{8,128}$/;

/** The id of a request: its `x-request-id` if that is well-formed, else a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}
