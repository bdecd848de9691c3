import { type ApolloServer, HeaderMap, type HTTPGraphQLRequest, type HTTPGraphQLResponse } from '@apollo/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { stage } from '../../rest/batch-per-tick.ts';
import { Cancellation } from '../../rest/cancellation.ts';
import { attempt, type Maybe } from '../../rest/maybe.ts';
import type { Context } from '../graphql/context.ts';
import { answerShortly, JSON_TYPE } from '../graphql/fast-path.ts';
import type { Pipeline } from '../graphql/pipeline.ts';

/**
 * Makes the context of a request's operation; throws a ClientError for a caller who is not let in. What Apollo Server is
 * going to read is `asked`: an operation that is named by an id gets its text there.
 */
export type ContextOf = (
  request: FastifyRequest,
  asked: HTTPGraphQLRequest,
  cancellation: Cancellation,
) => Maybe<Context>;

/** Puts Apollo Server behind a Fastify route. */
export function routeGraphQL(
  app: FastifyInstance,
  apollo: ApolloServer<Context>,
  pipeline: Pipeline,
  contextOf: ContextOf,
): void {
  app.route({
    method: ['GET', 'POST'],
    url: '/graphql',
    async handler(request, reply) {
      const asked = new Asked(request);
      let made: Maybe<Context> | undefined;
      const context = () => {
        made ??= attempt(() => contextOf(request, asked, cancellationOf(reply)));
        return made;
      };
      const short = await answerShortly(pipeline, request, asked, context);
      if (short === undefined) {
        const response = await apollo.executeHTTPGraphQLRequest({
          httpGraphQLRequest: asked,
          context: async () => context(),
        });
        return send(response, request, reply);
      }
      void reply.header('content-type', JSON_TYPE);
      await new Promise<void>(answerTogether);
      return short;
    },
  });
}

/** Answers by the short way. */
const answerTogether = stage((go: () => void) => go(), process.nextTick);

/** Happens when the client goes away before it has its answer. `close` can come twice; see connections.ts. */
function cancellationOf({ raw }: FastifyReply): Cancellation {
  const cancellation = new Cancellation();
  raw.on('close', () => {
    if (!raw.writableFinished) cancellation.happen();
  });
  return cancellation;
}

/**
 * A request as Apollo Server reads it. The short way does not look at its headers, so they are read when asked for. It is a
 * class since an object with a getter of its own gets a hidden class of its own, which outlives the request.
 */
class Asked implements HTTPGraphQLRequest {
  readonly method: string;
  search: string;
  body: unknown;
  readonly #request: FastifyRequest;
  #headers: HeaderMap | undefined;

  constructor(request: FastifyRequest) {
    const query = request.url.indexOf('?');
    this.method = request.method;
    this.search = query < 0 ? '' : request.url.slice(query);
    this.body = request.body;
    this.#request = request;
  }

  get headers(): HeaderMap {
    this.#headers ??= headersOf(this.#request);
    return this.#headers;
  }
}

function headersOf(request: FastifyRequest): HeaderMap {
  const headers = new HeaderMap();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  return headers;
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
