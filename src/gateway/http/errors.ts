import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ClientError, type GatewayErrorCode } from '../graphql/errors.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Answers what fails before GraphQL sees it (body too large, not JSON, no such path) in GraphQL's own shape, so that a
 * client has one kind of error to read. Nothing of an unexpected error is told.
 */
export function answerFailures(app: FastifyInstance): void {
  app.setErrorHandler(answerFailure);
  app.setNotFoundHandler((request, reply) => {
    const known = app.hasRoute({ url: request.url.split('?', 1)[0] ?? '', method: 'POST' });
    if (known) void reply.header('allow', 'GET, POST');
    return send(known ? 405 : 404, undefined, request, reply);
  });
}

/** The same for what fails even before there is a route: a target that cannot be read, bytes that are no HTTP. */
export const earlyFailures = {
  frameworkErrors: answerFailure,
  clientErrorHandler(error: Error & { code?: string }, socket: Socket): void {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const status = CONNECTION_ERRORS[error.code ?? ''] ?? 400;
    const { code, message } = face(status, undefined);
    const body = JSON.stringify({ errors: [{ message, extensions: { code } }] });
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      `Content-Type: ${JSON_TYPE}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  },
};

/** The statuses of Node's parser errors that are not simply bad. */
const CONNECTION_ERRORS: Partial<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
};

function answerFailure(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const status = error.statusCode ?? 500;
  if (status >= 500 && !(error instanceof ClientError))
    request.log.error({ err: error, requestId: request.id }, 'request failed');
  void send(status, error, request, reply);
}

function send(status: number, error: Error | undefined, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { code, message } = face(status, error);
  return reply
    .code(status)
    .type(JSON_TYPE)
    .send({ errors: [{ message, extensions: { code } }], extensions: { requestId: request.id } });
}

function face(status: number, error: Error | undefined): { code: GatewayErrorCode; message: string } {
  if (error instanceof ClientError) return { code: error.code, message: error.message };
  if (status >= 500)
    return {
      code: status === 503 ? 'OVERLOADED' : 'INTERNAL_SERVER_ERROR',
      message: SENTENCES[status] ?? 'Internal server error',
    };
  return { code: 'BAD_REQUEST', message: SENTENCES[status] ?? `${STATUS_CODES[status] ?? 'Bad request'}.` };
}

const SENTENCES: Partial<Record<number, string>> = {
  400: 'The request is not well-formed HTTP.',
  404: 'There is nothing here; GraphQL is at /graphql.',
  405: 'GraphQL takes GET and POST.',
  408: 'The request took too long to arrive.',
  413: 'The body is larger than this gateway takes.',
  415: 'The body must be JSON in UTF-8, with the content type application/json.',
  431: 'The headers are larger, or more, than this gateway takes.',
  503: 'The gateway has too much to do at the moment; try again shortly.',
};
