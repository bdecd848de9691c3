import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { errorCodes, type FastifyInstance, type FastifyRequest } from 'fastify';
import { type ClientError, requestError } from '../errors.ts';
import { parseExactly } from '../graphql/request.ts';
import { clientGone } from './errors.ts';
import { OVERLOADED } from './overload.ts';

/** The one content type that is accepted. Other parameters could be interpreted differently by a proxy. */
const JSON_IN_UTF8 = /^application\/json *(?:; *charset *= *(?:utf-?8|"utf-?8") *)?;?$/i;
const MAX_CONTENT_TYPE_LENGTH = 100;
/** The size of a buffer for a body before it is known to be larger, in bytes. */
const FIRST_BYTES = 16_384;
/** In how many pieces a body may come. Each takes about 2 µs: 256 KB in one-byte chunks took half a second. */
const MAX_PIECES = 10_000;

/**
 * Reads the bodies of the routes of `scope` as JSON, up to `limit` bytes. Other paths have no parser, so Fastify answers them
 * before their bodies are read.
 */
export function parseBodies(scope: FastifyInstance, limit: number): void {
  scope.addContentTypeParser('application/json', (request: FastifyRequest, payload: IncomingMessage) =>
    readBody(request, payload, limit).then(parseBody),
  );
}

/**
 * Collects a body in one growing buffer. Fastify's own reader keeps a Buffer for each chunk: one-byte chunks then take a
 * hundred times their length.
 */
function readBody({ headers, admitted }: FastifyRequest, payload: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const announced = Number(headers['content-length'] ?? 0);
    if (announced > limit) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE();
    let body = Buffer.allocUnsafe(Math.min(announced, FIRST_BYTES));
    let used = 0;
    let pieces = 0;
    const refuse = (error: Error) => {
      payload.off('data', add);
      reject(error);
    };
    const add = (chunk: Buffer) => {
      const needed = used + chunk.length;
      pieces += 1;
      if (needed > limit || pieces > MAX_PIECES) return refuse(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE());
      if (admitted?.slot.hold(chunk.length) === false) return refuse(OVERLOADED);
      if (needed > body.length) body = Buffer.concat([body.subarray(0, used)], Math.min(limit, 2 * needed));
      chunk.copy(body, used);
      used = needed;
    };
    payload.on('data', add).on('end', () => resolve(body.subarray(0, used)));
    payload.on('error', () => reject(clientGone()));
  });
}

function parseBody(body: Buffer): unknown {
  const refuse = (reason: string) =>
    requestError('BAD_REQUEST', 400, `The body is ${reason}. Send the operation as JSON: {"query": "…"}.`);
  if (body.length === 0) throw refuse('empty');
  if (!isUtf8(body)) throw refuse('not valid UTF-8');
  const value = parseExactly(body.toString());
  if (value === undefined) throw refuse('not valid JSON');
  return value;
}

/** BAD_REQUEST: 415 for a POST that is not JSON in UTF-8, or is compressed; 400 for a GET with a body. */
export function bodyProblem({ method, headers, raw }: FastifyRequest): ClientError | undefined {
  const refuse = (status: number, message: string) => requestError('BAD_REQUEST', status, message);
  if (method !== 'POST') return hasBody(raw) ? refuse(400, 'A GET request must not have a body.') : undefined;
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = headers;
  if (type.length > MAX_CONTENT_TYPE_LENGTH || !JSON_IN_UTF8.test(type)) {
    return refuse(415, 'The body must be JSON in UTF-8, with the content type application/json.');
  }
  return /^ *identity *$/i.test(encoding) ? undefined : refuse(415, 'The body must not be compressed.');
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
