import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { unauthenticated } from '../access/authenticate.ts';
import { badRequest } from './body.ts';

/** Headers that say one thing. Two programs on a request's way could each believe another one of two. */
const STAND_ONCE: ReadonlySet<string> = new Set([
  'authorization',
  'content-encoding',
  'content-length',
  'content-type',
  'host',
  'transfer-encoding',
]);

/** How many headers a request may have. Node drops those past the 2,000th without a word. */
const MAX_HEADERS = 200;

/** Refuses requests that can be read in two ways, before anything of them is believed. */
export function refuseAmbiguity(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw }, reply, done) => {
    if (raw.rawHeaders.length > 2 * MAX_HEADERS) return done(badRequest(431, 'The request has too many headers.'));
    const repeated = repeatedHeader(raw);
    if (!repeated) return done();
    if (repeated !== 'authorization') return done(badRequest(400, `The header "${repeated}" must stand once.`));
    void reply.header('www-authenticate', 'Bearer');
    return done(Object.assign(unauthenticated(), { statusCode: 401 }));
  });
}

/** Node keeps the first of most repeated headers and says nothing; only the raw list still has them all. */
function repeatedHeader({ headers, rawHeaders }: IncomingMessage): string | undefined {
  if (rawHeaders.length === 2 * Object.keys(headers).length) return undefined;
  const seen = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    if (STAND_ONCE.has(name) && seen.has(name)) return name;
    seen.add(name);
  }
  return undefined;
}
