import { type ApolloServer, HeaderMap, type HTTPGraphQLRequest, type HTTPGraphQLResponse } from '@apollo/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from './context.ts';

/**
 * Makes the context of a request's operation; throws a ClientError for a caller who is not let in. What Apollo Server is
 * going to read is `asked`: an operation that is named by an id gets its text there.
 */
export type ContextOf = (request: FastifyRequest, asked: HTTPGraphQLRequest, signal: AbortSignal) => Promise<Context>;

/** Puts Apollo Server behind a Fastify route. */
export function routeGraphQL(app: FastifyInstance, apollo: ApolloServer<Context>, contextOf: ContextOf): void {
  app.route({
    method: ['GET', 'POST'],
    url: '/graphql',
    async handler(request, reply) {
      const signal = signalOfClient(reply);
      const asked = toApollo(request);
      const response = await apollo.executeHTTPGraphQLRequest({
        httpGraphQLRequest: asked,
        context: () => contextOf(request, asked, signal),
      });
      return send(response, request, reply);
    },
  });
}

/** Aborts when the client goes away before it has its answer. */
function signalOfClient(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  return controller.signal;
}

function toApollo(request: FastifyRequest): HTTPGraphQLRequest {
  const headers = new HeaderMap();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  const query = request.url.indexOf('?');
  return { method: request.method, headers, search: query < 0 ? '' : request.url.slice(query), body: request.body };
}

function send(response: HTTPGraphQLResponse, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status = 200, headers, body } = response;
  if (body.kind === 'chunked') throw new Error('The schema has no incremental delivery.');
  void reply.code(status);
  for (const [name, value] of headers) void reply.header(name, value);
  return reply.send(status >= 400 ? withRequestId(body.string, request.id) : body.string);
}

/** Apollo Server answers what never became an operation on its own, without our extensions: they are added here. */
function withRequestId(body: string, requestId: string): string {
  const answer: unknown = JSON.parse(body);
  if (typeof answer !== 'object' || answer === null || 'extensions' in answer) return body;
  return `${JSON.stringify({ ...answer, extensions: { requestId } })}\n`;
}
