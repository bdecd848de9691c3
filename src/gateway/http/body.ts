import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { ClientError } from '../graphql/errors.ts';
import { isExact } from '../graphql/input/numbers.ts';

/** The one content type that is taken. A second charset, or any other parameter, leaves room for two readings. */
const JSON_IN_UTF8 = /^application\/json *(?:; *charset *= *(?:utf-?8|"utf-?8") *)?;?$/i;

/**
 * Takes request bodies as JSON in UTF-8 and nothing else: no other charset, no compression, no multipart. Whatever the
 * decoder would have to guess at, or could not keep exactly, is refused.
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
  if (!JSON_IN_UTF8.test(contentType)) {
    throw badRequest(415, 'The body must be JSON in UTF-8, with the content type application/json.');
  }
  if (contentEncoding.trim().toLowerCase() !== 'identity') {
    throw badRequest(415, 'The body must not be compressed.');
  }
}

function parse(body: string | Buffer): unknown {
  if (typeof body !== 'string' && !isUtf8(body)) throw badRequest(400, 'The body is not valid UTF-8.');
  const json = parseJson(body.toString());
  if (!isAllExact(json)) {
    throw badRequest(400, 'The body holds a number that is too large to be exact; write it as a string.');
  }
  return json;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest(400, 'The body is not valid JSON.');
  }
}

/**
 * Whether all numbers are those that were written: 9007199254740993 is read as another one, and as a player's identifier it
 * would name another player.
 */
function isAllExact(json: unknown): boolean {
  // Bodies can be nested deeper than functions can call themselves.
  const open = [json];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === 'number' && !isExact(value)) return false;
    if (typeof value !== 'object' || value === null) continue;
    for (const member of Array.isArray(value) ? value : Object.values(value)) open.push(member);
  }
  return true;
}

/** What is wrong with a request before GraphQL sees it. */
export function badRequest(statusCode: number, message: string): Error {
  return Object.assign(new ClientError('BAD_REQUEST', message), { statusCode });
}
