import { type ApolloServer, HeaderMap, type HTTPGraphQLRequest, type HTTPGraphQLResponse } from '@apollo/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Authentication } from '../access/authenticate.ts';
import type { Caller } from '../access/caller.ts';
import type { Config } from '../config/config.ts';
import { ClientError, requestError } from '../errors.ts';
import { type Context, type ContextOptions, createContext } from '../graphql/context.ts';
import { type PrepareOptions, prepare, searchOf } from '../graphql/request.ts';
import { abortAt, DISCONNECTED } from '../rest/send.ts';
import { createOperationRecord, type ReportError } from '../telemetry/observe.ts';
import { bodyProblem, parseBodies } from './body.ts';
import { clientGone } from './errors.ts';
import type { Page } from './ide/pages.ts';
import { OVERLOADED, type Slot, type Slots } from './overload.ts';

/** What Apollo Server reads: for the content type of the response, and to prevent forged requests. */
const APOLLO_HEADERS = [
  'accept',
  'content-type',
  'authorization',
  'apollo-require-preflight',
  'x-apollo-operation-name',
];

/** Where operations are sent. */
export const GRAPHQL_PATH = '/graphql';

export interface GraphQLRoute extends PrepareOptions {
  config: Config;
  authentication: Pick<Authentication, 'authenticate'>;
  isUnderPressure(): boolean;
  slots: Slots;
  context: ContextOptions;
  report: ReportError;
  apollo: ApolloServer<Context>;
  /** For browsers that open the address; undefined in production. */
  page: Page | undefined;
}

/** A request whose caller is known and that holds a slot. */
interface Admitted {
  caller: Caller;
  slot: Slot;
  /** Aborts when the client disconnects. */
  cancellation: AbortController;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null before it is admitted, and for a browser that opens the page. */
    admitted: Admitted | null;
  }
}

/** The route of GraphQL. A request is admitted before its body is read. */
export function routeGraphQL(app: FastifyInstance, route: GraphQLRoute): void {
  app.decorateRequest('admitted', null);
  app.register(async (scope) => {
    parseBodies(scope, route.config.limits.bodyBytes);
    scope.addHook('onRequest', (request, reply, done) => {
      if (route.page && isForPage(request)) return done();
      // A connection that was reset has no address, although the type says string.
      if (request.raw.socket.destroyed) return done(clientGone());
      const caller = route.authentication.authenticate(request.headers.authorization, request.ip);
      if (caller instanceof Promise) caller.then((verified) => done(admit(route, verified, request, reply)), done);
      else done(admit(route, caller, request, reply));
    });
    scope.route({
      method: ['GET', 'POST'],
      url: GRAPHQL_PATH,
      handler: ({ admitted }, reply) => (admitted ? execute(route, admitted, reply) : route.page?.(reply)),
    });
  });
}

/** Whether a browser opened the address. */
function isForPage({ method, headers: { accept = '' } }: FastifyRequest): boolean {
  return method === 'GET' && accept.includes('text/html') && !accept.includes('json');
}

/**
 * Takes a slot until the response is sent or the client disconnects, unless the process is under pressure. Returns the error of
 * a refusal.
 */
function admit(route: GraphQLRoute, caller: Caller, request: FastifyRequest, { raw: response }: FastifyReply) {
  const { socket } = request.raw;
  if (request.record) request.record.caller = caller;
  // Authentication may have taken time, and a connection that is closed emits no `close` any more.
  if (socket.destroyed) return clientGone();
  const problem = bodyProblem(request);
  if (problem) return problem;
  const slot = route.isUnderPressure() ? undefined : route.slots.take(caller);
  if (!slot) return OVERLOADED;
  const cancellation = new AbortController();
  request.admitted = { caller, slot, cancellation };
  // Node emits `close` only on the response that is sent next, so the connection of a pipelined request is watched too.
  const end = () => {
    socket.off('close', end);
    response.off('close', end);
    slot.release();
    if (!response.writableFinished) cancellation.abort(DISCONNECTED);
  };
  socket.setMaxListeners(0).once('close', end);
  response.once('close', end);
  return undefined;
}

async function execute(route: GraphQLRoute, admitted: Admitted, reply: FastifyReply): Promise<string> {
  const { caller, slot, cancellation } = admitted;
  const { request } = reply;
  const http = toApolloRequest(request);
  const record = request.record ?? createOperationRecord();
  const deadline = performance.now() + route.config.operationTimeoutMs;
  const operation = { requestId: request.id, caller, record, signal: cancellation.signal, deadline };
  const clearTimer = abortAt(cancellation, deadline);
  const context = async () => {
    try {
      await prepare(route, http, caller);
    } catch (error) {
      // Apollo Server calls no hook with the request when `context` throws.
      record.codes = [error instanceof ClientError ? error.code : 'INTERNAL_SERVER_ERROR'];
      const unexpected = error instanceof Error ? error : new Error(String(error));
      if (!(unexpected instanceof ClientError)) route.report(unexpected, request.id);
      throw error;
    }
    return createContext(route.context, operation);
  };
  const sent = route.apollo.executeHTTPGraphQLRequest({ httpGraphQLRequest: http, context });
  const text = applyResponse(await sent.finally(clearTimer), reply);
  // Clients that do not read must not fill the memory. A write may have been done: its client must not send it again.
  if (slot.hold(Buffer.byteLength(text))) return text;
  if (record.type !== 'mutation') throw OVERLOADED;
  const message = 'The gateway cannot send the response of this write; read the player to learn its outcome.';
  throw requestError('OVERLOADED', 503, message, { retryable: false, outcome: 'UNKNOWN' });
}

function toApolloRequest({ method, headers, url, body }: FastifyRequest): HTTPGraphQLRequest {
  const map = new HeaderMap();
  for (const name of APOLLO_HEADERS) if (typeof headers[name] === 'string') map.set(name, headers[name]);
  return { method, headers: map, search: searchOf(url), body };
}

/** Takes over status and headers of Apollo Server's response. Returns its body, with the request id if it is an error's. */
function applyResponse({ status = 200, headers, body }: HTTPGraphQLResponse, reply: FastifyReply): string {
  if (body.kind === 'chunked') throw new Error('The schema has no incremental delivery.');
  void reply.code(status);
  for (const [name, value] of headers) void reply.header(name, value);
  if (status < 400) return body.string;
  const response: object = JSON.parse(body.string);
  return JSON.stringify({ extensions: { requestId: reply.request.id }, ...response });
}
