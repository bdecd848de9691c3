/* Errors as HTTP responses. Every failure that Apollo Server does not answer is answered here, as a GraphQL response. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Unauthenticated } from '../access/authenticate.ts';
import { ClientError, type GatewayErrorCode, statusOf } from '../errors.ts';
import { formatError } from '../graphql/errors.ts';
import { JSON_TYPE } from './headers.ts';

const GRAPHQL_RESPONSE_TYPE = 'application/graphql-response+json';

/** Answers refused and failed requests, and unknown paths and methods. No detail of an unexpected error is sent. */
export function answerErrors(app: FastifyInstance): void {
  app.setErrorHandler(answerError);
  app.setNotFoundHandler((request, reply) => {
    const known = app.hasRoute({ url: request.url.split('?', 1)[0] ?? '', method: 'POST' });
    if (known) void reply.header('allow', 'GET, POST');
    return send(known ? 405 : 404, undefined, request, reply);
  });
}

/** The same for a target that cannot be decoded, before routing. */
export const frameworkErrors = answerError;

/** The same for bytes that are not HTTP, and for requests that are too slow. */
export function sendParserError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = PARSER_ERRORS[error.code ?? ''] ?? 400;
  const body = JSON.stringify({ errors: [describe(status, undefined)] });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Content-Type: ${JSON_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** Errors of Node's HTTP parser that have a status other than 400. */
const PARSER_ERRORS: Partial<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
};

function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const { status = error.statusCode ?? 500, headers } = statusOf(error);
  for (const [name, value] of headers) void reply.header(name, value);
  if (status >= 500 && !(error instanceof ClientError)) {
    request.log.error({ err: error, requestId: request.id }, 'request failed');
  }
  void send(status, error, request, reply);
}

function send(status: number, error: Error | undefined, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const described = describe(status, error);
  if (request.record) {
    request.record.codes = [described.extensions.code];
    if (error instanceof Unauthenticated) request.record.rejection = error.rejection;
  }
  const type = request.headers.accept?.includes(GRAPHQL_RESPONSE_TYPE)
    ? `${GRAPHQL_RESPONSE_TYPE}; charset=utf-8`
    : JSON_TYPE;
  return reply
    .code(status)
    .type(type)
    .send({ errors: [described], extensions: { requestId: request.id } });
}

function describe(
  status: number,
  error: Error | undefined,
): { message: string; extensions: { code: GatewayErrorCode } } {
  if (error instanceof ClientError) {
    const { message, locations, extensions } = formatError(error.toJSON(), error);
    return { message, ...(locations ? { locations } : {}), extensions: { ...extensions, code: error.code } };
  }
  if (status >= 500) return { message: 'Internal server error', extensions: { code: 'INTERNAL_SERVER_ERROR' } };
  const message = MESSAGES[status] ?? `${STATUS_CODES[status] ?? 'Bad request'}.`;
  return { message, extensions: { code: 'BAD_REQUEST' } };
}

const MESSAGES: Partial<Record<number, string>> = {
  400: 'The request is not well-formed HTTP.',
  404: 'There is nothing here; GraphQL is at /graphql.',
  405: 'GraphQL accepts GET and POST.',
  408: 'The request took too long to arrive.',
  413: 'The body is larger than this gateway accepts.',
  431: 'The headers are larger, or more, than this gateway accepts.',
};
