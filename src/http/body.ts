import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { requestError } from '../errors.ts';
import { parseExactly } from '../graphql/request.ts';

/** The one content type that is accepted. Other parameters could be interpreted differently by a proxy. */
const JSON_IN_UTF8 = /^application\/json *(?:; *charset *= *(?:utf-?8|"utf-?8") *)?;?$/i;
const MAX_CONTENT_TYPE_LENGTH = 100;

/** Fastify reads bodies up to `bodyLimit` and hands them to this parser. */
export function parseBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => {
    if (body.length === 0) throw requestError('BAD_REQUEST', 400, 'The body is empty; send the operation as JSON.');
    if (!isUtf8(body)) throw requestError('BAD_REQUEST', 400, 'The body is not valid UTF-8.');
    const value = parseExactly(body.toString());
    if (value === undefined) throw requestError('BAD_REQUEST', 400, 'The body is not valid JSON.');
    return value;
  });
  // A refused request whose body was not read: the rest of it must not be taken for the next request.
  app.addHook('onSend', ({ raw }, reply, payload, done) => {
    if (!raw.complete && hasBody(raw)) void reply.header('connection', 'close');
    done(null, payload);
  });
}

/** Throws BAD_REQUEST with 415 for a POST that is not JSON in UTF-8, or is compressed. */
export function checkContentType({ method, headers }: FastifyRequest): void {
  if (method !== 'POST') return;
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = headers;
  if (type.length > MAX_CONTENT_TYPE_LENGTH || !JSON_IN_UTF8.test(type)) {
    throw requestError('BAD_REQUEST', 415, 'The body must be JSON in UTF-8, with the content type application/json.');
  }
  if (encoding.trim().toLowerCase() !== 'identity') {
    throw requestError('BAD_REQUEST', 415, 'The body must not be compressed.');
  }
}

function hasBody({ headers }: FastifyRequest['raw']): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
