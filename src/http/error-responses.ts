/* Errors that Apollo Server does not send, as GraphQL responses. `app.ts` responds to what is not HTTP, or too slow. */
import { STATUS_CODES } from 'node:http';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Unauthenticated } from '../access/authenticate.ts';
import { formatError } from '../engine/response.ts';
import { badRequest, ClientError, requestError } from '../errors.ts';
import { responseType } from './body.ts';

export const GRAPHQL_PATH = '/graphql';

/** Responds to refused and failed requests, and to unknown paths and methods. */
export function handleErrors(app: FastifyInstance): void {
  app.setErrorHandler(sendError);
  app.setNotFoundHandler((request, reply) => {
    const isGraphQL = request.url.split('?', 1)[0]?.replace(/\/$/, '') === GRAPHQL_PATH;
    if (isGraphQL) void reply.header('allow', 'GET, POST');
    const message = isGraphQL ? 'GraphQL accepts GET and POST.' : 'There is nothing here; GraphQL is at /graphql.';
    sendError(badRequest(message, isGraphQL ? 405 : 404), request, reply);
  });
}

/** Also for a target that cannot be decoded, before routing. Of an unexpected error, a client gets the status alone. */
export function sendError(error: FastifyError | ClientError, request: FastifyRequest, reply: FastifyReply): void {
  // The client disconnected before its compressed response was sent, which is recorded already.
  if (request.raw.socket.destroyed && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE') return;
  const sent = error instanceof ClientError ? error : masked(error);
  const { http } = sent.extensions;
  const { status = 500, headers = [] }: { status?: number; headers?: Iterable<[string, string]> } = Object(http);
  if (sent !== error && status >= 500) request.log.error({ err: error, requestId: request.id }, 'request failed');
  if (request.record) request.record.codes = [sent.code];
  if (request.record && error instanceof Unauthenticated) request.record.rejection = error.rejection;
  for (const [name, value] of headers) void reply.header(name, value);
  void reply
    .code(status)
    .type(`${responseType(request.headers)}; charset=utf-8`)
    .send({ errors: [formatError(sent.toJSON(), sent)], extensions: { requestId: request.id } });
}

function masked({ statusCode = 500 }: FastifyError): ClientError {
  if (statusCode >= 500) return requestError('INTERNAL_SERVER_ERROR', 500, 'Internal server error');
  return badRequest(`${STATUS_CODES[statusCode]}.`, statusCode);
}
