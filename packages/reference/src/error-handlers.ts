import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from './errors.ts';
import { StoreUnavailable } from './store/store.ts';

/** How long a client should wait before it repeats a request after the store failed, in seconds. */
const RETRY_AFTER_S = 1;

/** Answers an ApiError as it is, an error of the framework by its status, and any other with 500. */
export function answerError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const error = thrown instanceof ApiError ? thrown : apiErrorOf(thrown);
  if (error.status >= 500) request.log.error({ err: thrown, route: request.routeOptions.url }, 'a request failed');
  if (error.status === 503) reply.header('retry-after', RETRY_AFTER_S);
  // The rest of a body that is too large is not read; the connection is closed.
  if (error.status === 413) reply.header('connection', 'close');
  reply.code(error.status).send({ code: error.code, message: error.message });
}

function apiErrorOf(error: unknown): ApiError {
  if (error instanceof StoreUnavailable) {
    const stored = error.nothingStored
      ? 'nothing of this request was stored'
      : 'it is not known whether this request was stored';
    return new ApiError(503, `The database cannot be reached; ${stored}`);
  }
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  if (error instanceof Error && status >= 400 && status < 500) return new ApiError(status, error.message);
  return new ApiError(500, 'The service has failed; nothing of this request was stored');
}

/**
 * Answers 404 for an unknown path, and 405 with the allowed methods for an unknown method. Must be called before the
 * routes are declared.
 */
export function answerUnknownPaths(app: FastifyInstance): void {
  const routes: { path: RegExp; methods: string[] }[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    const pattern = url.replace(/[^\w/:-]/g, '\\$&').replace(/:\w+/g, '[^/]+');
    routes.push({ path: new RegExp(`^${pattern}$`), methods: [method].flat() });
  });
  app.setNotFoundHandler((request, reply) => {
    const [path = ''] = request.url.split('?');
    const allowed = routes.flatMap((route) => (route.path.test(path) ? route.methods : []));
    if (allowed.length === 0) throw new ApiError(404, 'There is nothing at this path');
    reply.header('allow', allowed.join(', '));
    throw new ApiError(405, `This path takes ${allowed.join(', ')} only`);
  });
}

/** Answers a request that is not HTTP, or whose headers are too large, in the form of all other errors. */
export function answerClientError(error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const isTooLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const [status, message] = isTooLarge ? [431, 'The headers are too large'] : [400, 'This is not an HTTP request'];
  const body = JSON.stringify({ code: status, message });
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, 'Connection: close', 'Content-Type: application/json'];
  socket.end(`${[...head, `Content-Length: ${Buffer.byteLength(body)}`].join('\r\n')}\r\n\r\n${body}`);
}
