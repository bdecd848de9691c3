import { STATUS_CODES } from 'node:http';
import type { FastifyError, FastifyInstance } from 'fastify';
import { ClientError, type GatewayErrorCode } from './errors.ts';

/**
 * Answers what fails before GraphQL sees it (body too large, not JSON, no such path) in GraphQL's own shape, so that a
 * client has one kind of error to read. Nothing of an unexpected error is told.
 */
export function answerFailures(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const status = error.statusCode ?? 500;
    if (status >= 500 && !(error instanceof ClientError)) request.log.error({ err: error }, 'request failed');
    return reply
      .code(status)
      .type('application/json; charset=utf-8')
      .send(failure(status, error, request.id));
  });
  app.setNotFoundHandler((request, reply) => {
    const known = app.hasRoute({ url: request.url.split('?', 1)[0] ?? '', method: 'POST' });
    if (known) void reply.header('allow', 'GET, POST');
    const status = known ? 405 : 404;
    return reply
      .code(status)
      .type('application/json; charset=utf-8')
      .send(failure(status, undefined, request.id));
  });
}

function failure(status: number, error: Error | undefined, requestId: string) {
  const { code, message } = face(status, error);
  return { errors: [{ message, extensions: { code } }], extensions: { requestId } };
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
  404: 'There is nothing here; GraphQL is at /graphql.',
  405: 'GraphQL takes GET and POST.',
  413: 'The body is larger than this gateway takes.',
  415: 'The body must be JSON in UTF-8, with the content type application/json.',
  503: 'The gateway has too much to do at the moment; try again shortly.',
};
