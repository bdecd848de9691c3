import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { decodeContent, isSupported } from '../content-encoding.ts';
import { badRequest, requestError } from '../errors.ts';
import { parseRequestJson } from '../json.ts';
import { OVERLOADED } from './overload.ts';

/** The one content type that is accepted. A proxy could interpret other parameters differently. */
const JSON_IN_UTF8 = /^application\/json[ \t]*(?:;[ \t]*charset *= *(?:utf-?8|"utf-?8") *)?;?$/i;
/** The size of a buffer for a body before it is known to be larger, in bytes. */
const FIRST_BYTES = 16_384;
/** A request consumes one more unit for each so many bytes of its body. */
const BYTES_PER_UNIT = 25_000;
/** In how many pieces a body may come. Each takes about 2 µs: 256 KB in one-byte chunks took half a second. */
const MAX_PIECES = 10_000;

/** Not sent to anyone; log and metrics count the request under this code. */
export const CLIENT_GONE = requestError('CANCELLED', 499, 'The client disconnected.');
const bodyOfGet = () => badRequest('A GET request must not have a body.');
const tooLarge = (limit: number) =>
  limit === 0
    ? bodyOfGet()
    : badRequest(`The body is larger than ${limit} bytes, or in more than ${MAX_PIECES} pieces.`, 413);

/** Reads the bodies of the routes of `scope` as JSON, up to `limit` bytes. Without a parser, Fastify reads no body. */
export function parseBodies(scope: FastifyInstance, limit: number): void {
  scope.addContentTypeParser('application/json', (request: FastifyRequest, payload: IncomingMessage) =>
    readBody(request, payload, limit)
      .then((body) => decodeBody(request, body, limit))
      .then(parseBody),
  );
}

/** Collects a body in one growing buffer: Fastify keeps each chunk, and those of one byte take a hundred times that. `limit` 0 is for a GET. */
export function readBody({ headers, admitted, record }: FastifyRequest, payload: IncomingMessage, limit: number) {
  return new Promise<Buffer>((resolve, reject) => {
    const announced = Number(headers['content-length'] ?? 0);
    if (announced > limit) throw tooLarge(limit);
    let body = Buffer.allocUnsafe(Math.min(announced, FIRST_BYTES));
    let used = 0;
    let pieces = 0;
    const refuse = (error: Error) => {
      payload.removeAllListeners('data');
      reject(error);
    };
    payload.on('data', (chunk: Buffer) => {
      const needed = used + chunk.length;
      pieces += 1;
      if (needed > limit || pieces > MAX_PIECES) return refuse(tooLarge(limit));
      if (admitted?.slot.addBytes(chunk.length) === false) return refuse(OVERLOADED);
      if (record) record.bodyUnits = Math.floor(needed / BYTES_PER_UNIT);
      if (needed > body.length) body = Buffer.concat([body.subarray(0, used)], Math.min(limit, 2 * needed));
      chunk.copy(body, used);
      used = needed;
    });
    payload.on('end', () => resolve(body.subarray(0, used))).on('error', () => reject(CLIENT_GONE));
  });
}

/** Routers and some clients compress requests. Decoded, a body has the same bound, and counts with the same bytes. */
async function decodeBody({ headers, admitted, record }: FastifyRequest, body: Buffer, limit: number): Promise<Buffer> {
  const { 'content-encoding': encoding } = headers;
  if (encoding === undefined) return body;
  const decoded = await decodeContent(body, encoding, limit);
  if (decoded === 'too large') throw tooLarge(limit);
  if (typeof decoded === 'string')
    throw badRequest(`The body is ${decoded}: its content-encoding is ${JSON.stringify(encoding)}.`);
  if (admitted?.slot.addBytes(decoded.length) === false) throw OVERLOADED;
  if (record) record.bodyUnits = Math.floor((body.length + decoded.length) / BYTES_PER_UNIT);
  return decoded;
}

function parseBody(body: Buffer): unknown {
  const value = isUtf8(body) ? parseRequestJson(body.toString().replace(/^\uFEFF/, '')) : undefined;
  if (value !== undefined) return value;
  const problem = body.length === 0 ? 'empty' : 'not valid JSON';
  throw badRequest(`The body is ${problem}. Send the operation as JSON: {"query": "…"}.`);
}

const GRAPHQL_RESPONSE_TYPE = 'application/graphql-response+json';

/** The media type of a response: JSON, whatever a client accepts; GraphQL's own for clients that name it. */
export function responseType({ accept }: IncomingHttpHeaders): string {
  return accept?.includes(GRAPHQL_RESPONSE_TYPE) ? GRAPHQL_RESPONSE_TYPE : 'application/json';
}

/**
 * Throws BAD_REQUEST: 415 for a POST that is not JSON in UTF-8, or is compressed in another way than gzip, deflate or br; 400 for
 * a GET with a body. The body of a GET in chunks is read in graphql-route.ts, because it can be empty.
 */
export function checkContent({ method, headers }: FastifyRequest): void {
  const { 'content-type': type = '', 'content-encoding': encoding } = headers;
  if (method === 'GET' && Number(headers['content-length']) > 0) throw bodyOfGet();
  if (method === 'POST' && !JSON_IN_UTF8.test(type)) {
    throw badRequest('The body must be JSON in UTF-8, with the content type application/json.', 415);
  }
  if (encoding !== undefined && !isSupported(encoding))
    throw badRequest('The body may be compressed with gzip, deflate or br only.', 415);
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

export function hasUnreadBody(request: IncomingMessage): boolean {
  return !request.complete && hasBody(request);
}
