import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError, FastifyReply, FastifyRequest } from 'fastify';
import { StoreUnavailable } from './store/store.ts';

/** A problem that the operator can solve. The message is complete and is printed without a stack. */
export class OperatorError extends Error {}

/**
 * An error that is answered as it is: `{ code, message }`, a code for programs and a sentence for people. Anything else
 * that is thrown is a fault of this program and answered with 500.
 */
export class ApiError extends Error {
  readonly status: number;
  readonly code: number;

  /** @param code Default: the HTTP status. */
  constructor(status: number, message: string, code: number = status) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export const missing = (what: string): ApiError => new ApiError(400, `${what} is missing`, 4);

/** A member, parameter or header is invalid; `why` follows its name: "limit must be …". */
export const invalid = (what: string, why: string): ApiError => new ApiError(400, `${what} ${why}`, 5);

/** The body is not JSON, or is JSON with more than one meaning. */
export const unreadable = (why: string): ApiError => new ApiError(400, why, 7);

/** A key is missing or wrong. The response does not tell which of the two: it must not help to guess. */
export const unauthenticated = (header: string): ApiError =>
  new ApiError(401, `The header ${header} is missing or wrong`, 1);

export const unknownPlayer = (): ApiError => new ApiError(404, 'There is no player with this playerUniqueId', 101);

/**
 * Answers an ApiError as it is, an error of the framework by its status, and any other with 500.
 * @param send Default: as JSON.
 */
export function answerError(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  send = ({ status, ...body }: { status: number; code: number; message: string }) => reply.code(status).send(body),
): void {
  const error = thrown instanceof ApiError ? thrown : apiErrorOf(thrown, request.method === 'GET');
  if (error.status >= 500) request.log.error({ err: thrown, route: request.routeOptions.url }, 'a request failed');
  if (error.status === 503) reply.header('retry-after', 1);
  // The rest of a body that is too large is not read; the connection is closed.
  if (error.status === 413) reply.header('connection', 'close');
  const { status, code, message } = error;
  send({ status, code, message });
}

/** Answers what never becomes a request: it is not HTTP, its head is too long, or it was not sent in time. */
export function answerClientError({ code }: ConnectionError, socket: Socket): void {
  const status = code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
  const body = JSON.stringify({ code: status, message: STATUS_CODES[status] });
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: application/json`;
  if (socket.writable) socket.write(`${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  socket.destroy();
}

/** It is said what was stored only where it is known: an error after the commit looks like one before it. */
function apiErrorOf(error: unknown, isRead: boolean): ApiError {
  const unknown = 'it is not known whether this request was stored';
  if (error instanceof StoreUnavailable) {
    const stored = error.nothingStored ? 'nothing of this request was stored' : unknown;
    return new ApiError(503, `The database cannot be used; ${stored}`);
  }
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  if (error instanceof Error && status >= 400 && status < 500) return new ApiError(status, error.message);
  return new ApiError(500, isRead ? 'The service has failed' : `The service has failed; ${unknown}`);
}
