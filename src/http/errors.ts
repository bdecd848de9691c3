/*
 * Errors as HTTP responses. Every failed request that Apollo Server does not answer is answered here, as a GraphQL response.
 * What is not HTTP, or too slow, is answered by Fastify.
 */
import { STATUS_CODES } from 'node:http';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Unauthenticated } from '../access/authenticate.ts';
import { ClientError, requestError, statusOf } from '../errors.ts';
import { formatError } from '../graphql/errors.ts';

const GRAPHQL_RESPONSE_TYPE = 'application/graphql-response+json';

/** Answers refused and failed requests, and unknown paths and methods. No detail of an unexpected error is sent. */
export function answerErrors(app: FastifyInstance): void {
  app.setErrorHandler(answerError);
  app.setNotFoundHandler((request, reply) => {
    const known = app.hasRoute({ url: request.url.split('?', 1)[0] ?? '', method: 'POST' });
    if (known) void reply.header('allow', 'GET, POST');
    answerError(refusal(known ? 405 : 404), request, reply);
  });
}

/** Also for a target that cannot be decoded, before routing. */
export function answerError(error: FastifyError | ClientError, request: FastifyRequest, reply: FastifyReply): void {
  const sent = error instanceof ClientError ? error : refusal(error.statusCode ?? 500);
  const { status = 500, headers } = statusOf(sent);
  if (sent !== error && status >= 500) request.log.error({ err: error, requestId: request.id }, 'request failed');
  if (request.record) {
    request.record.codes = [sent.code];
    if (error instanceof Unauthenticated) request.record.rejection = error.rejection;
  }
  for (const [name, value] of headers) void reply.header(name, value);
  const asked = request.headers.accept?.includes(GRAPHQL_RESPONSE_TYPE);
  const { message, locations, extensions } = formatError(sent.toJSON(), sent);
  const described = { message, ...(locations && { locations }), extensions: { ...extensions, code: sent.code } };
  void reply
    .code(status)
    .type(`${asked ? GRAPHQL_RESPONSE_TYPE : 'application/json'}; charset=utf-8`)
    .send({ errors: [described], extensions: { requestId: request.id } });
}

/** This error is not sent to anyone; log and metrics count the request under its code. */
export function clientGone(): ClientError {
  return requestError('CANCELLED', 499, 'The client disconnected.');
}

/** What a client is told of an error of Node or Fastify: its status alone. */
function refusal(status: number): ClientError {
  if (status >= 500) return requestError('INTERNAL_SERVER_ERROR', 500, 'Internal server error');
  return requestError('BAD_REQUEST', status, MESSAGES[status] ?? `${STATUS_CODES[status] ?? 'Bad request'}.`);
}

const MESSAGES: Partial<Record<number, string>> = {
  400: 'The request is not well-formed HTTP.',
  404: 'There is nothing here; GraphQL is at /graphql.',
  405: 'GraphQL accepts GET and POST.',
  413: 'The body is larger than this gateway accepts.',
};
