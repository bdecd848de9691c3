import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { LOOPBACK } from '../../config/loopback.ts';
import { unauthenticated } from '../access/authenticate.ts';
import { requestError } from '../graphql/errors.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** On every response: it is for one caller at one moment, and has the type it says. */
const ALWAYS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

export function setHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id);
    void reply.headers(ALWAYS);
    done();
  });
}

/** Headers that must be unambiguous. Two programs on the way of a request could each believe another one of two. */
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

/** Refuses requests that can be read in two ways. */
export function refuseAmbiguousHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    if (raw.rawHeaders.length > 2 * MAX_HEADERS) {
      return done(requestError('BAD_REQUEST', 431, 'The request has too many headers.'));
    }
    const repeated = repeatedHeader(raw);
    if (!repeated) return done();
    if (repeated === 'authorization') return done(unauthenticated());
    return done(requestError('BAD_REQUEST', 400, `The header "${repeated}" must stand once.`));
  });
}

/** Node keeps the first of most repeated headers without a word; only the raw list has them all. */
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
 * Answers only requests to a loopback name. An open gateway trusts whoever can reach it, and a website can reach it through
 * its visitor's browser under a name of its own that resolves to 127.0.0.1 (DNS rebinding). The request still has that name.
 */
export function refuseForeignHosts(app: FastifyInstance): void {
  app.addHook('onRequest', ({ hostname }, _reply, done) => {
    if (LOOPBACK.test(hostname)) return done();
    const message = 'Without a token setting this gateway answers to localhost and 127.0.0.1 only.';
    return done(requestError('BAD_REQUEST', 421, message));
  });
}

/** What an `x-request-id` from outside must look like to be used: safe in logs, headers and file names. */
const REQUEST_ID = /^[\w.:-]{8,128}$/;

/** The id of a request: its `x-request-id` where that is well-formed, else a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}
