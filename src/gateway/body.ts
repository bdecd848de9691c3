import type { FastifyInstance } from 'fastify';
import { ClientError } from './errors.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Takes request bodies as JSON in UTF-8 and nothing else: no other charset, no compression, no multipart. Whatever the
 * decoder would have to guess at is refused.
 */
export function acceptJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      refuseOtherEncodings(request.headers['content-type'], request.headers['content-encoding']);
      done(null, parse(body));
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

function refuseOtherEncodings(contentType = '', contentEncoding = 'identity'): void {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType)?.[1] ?? 'utf-8';
  if (!/^utf-?8$/i.test(charset)) throw badBody(415, 'The body must be JSON in UTF-8; no other charset is taken.');
  if (contentEncoding.trim().toLowerCase() !== 'identity') {
    throw badBody(415, 'The body must not be compressed.');
  }
}

function parse(body: string | Buffer): unknown {
  let text: string;
  try {
    text = typeof body === 'string' ? body : utf8.decode(body);
  } catch {
    throw badBody(400, 'The body is not valid UTF-8.');
  }
  try {
    return JSON.parse(text);
  } catch {
    throw badBody(400, 'The body is not valid JSON.');
  }
}

function badBody(statusCode: number, message: string): Error {
  return Object.assign(new ClientError('BAD_REQUEST', message), { statusCode });
}
