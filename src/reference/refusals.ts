import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorBody, Refusal } from './errors.ts';

/** Answers what was thrown: a refusal as it says, what the framework refuses by its status, anything else with 500. */
export function answerErrors(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const refusal = error instanceof Refusal ? error : refusalOf(error);
  if (refusal.status >= 500) request.log.error({ err: error }, 'A request failed by a fault of this program');
  // The rest of a body that is too large is not read; the connection ends with the answer.
  if (refusal.status === 413) reply.header('connection', 'close');
  const body: ErrorBody = { code: refusal.code, message: refusal.message };
  reply.code(refusal.status).send(body);
}

function refusalOf(error: unknown): Refusal {
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  if (error instanceof Error && status >= 400 && status < 500) return new Refusal(status, error.message);
  return new Refusal(500, 'The service has failed; nothing of this request was stored');
}

/**
 * Answers 404 for a path that the service does not have, and 405 with the methods that it takes for one that it has.
 * Must be called before the routes are declared.
 */
export function answerUnknownPaths(app: FastifyInstance): void {
  const routes: { segments: string[]; methods: string[] }[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    routes.push({ segments: url.split('/'), methods: [method].flat() });
  });
  app.setNotFoundHandler((request, reply) => {
    const segments = (request.url.split('?')[0] ?? '').split('/');
    const allowed = routes.filter((route) => fits(route.segments, segments)).flatMap(({ methods }) => methods);
    if (allowed.length === 0) throw new Refusal(404, 'There is nothing at this path');
    reply.header('allow', allowed.join(', '));
    throw new Refusal(405, `This path takes ${allowed.join(', ')} only`);
  });
}

function fits(pattern: readonly string[], path: readonly string[]): boolean {
  return (
    pattern.length === path.length &&
    pattern.every((segment, index) => (segment.startsWith(':') ? path[index] !== '' : segment === path[index]))
  );
}

/** Answers what is not even HTTP, or has too large headers, in the same shape as every other refusal. */
export function answerBrokenRequests(error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const isTooLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const [status, message] = isTooLarge ? [431, 'The headers are too large'] : [400, 'This is not an HTTP request'];
  const body = JSON.stringify({ code: status, message } satisfies ErrorBody);
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, 'Connection: close', 'Content-Type: application/json'];
  socket.end(`${[...head, `Content-Length: ${Buffer.byteLength(body)}`].join('\r\n')}\r\n\r\n${body}`);
}
