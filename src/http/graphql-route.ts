import { type ApolloServer, HeaderMap, type HTTPGraphQLRequest, type HTTPGraphQLResponse } from '@apollo/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Authentication, Unauthenticated } from '../access/authenticate.ts';
import type { Caller } from '../access/caller.ts';
import { ClientError, requestError } from '../errors.ts';
import { type Context, type ContextOptions, createContext } from '../graphql/context.ts';
import { type PrepareOptions, prepare } from '../graphql/prepare.ts';
import { searchOf } from '../graphql/request.ts';
import { abortAt, DISCONNECTED } from '../rest/call-context.ts';
import { createOperationRecord, type ReportError } from '../telemetry/observe.ts';
import { checkContentType } from './body.ts';
import { limitPressure, overloaded } from './pressure.ts';
import type { Slot, Slots } from './slots.ts';

/** Where operations are sent. */
export const GRAPHQL_PATH = '/graphql';

export interface GraphQLRoute extends PrepareOptions {
  production: boolean;
  authentication: Pick<Authentication, 'authenticate'>;
  slots: Slots;
  operationTimeoutMs: number;
  context: ContextOptions;
  report: ReportError;
  /** Unless in production, it has a landing page for browsers. */
  apollo: ApolloServer<Context>;
  maxEventLoopDelayMs: number | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null before authentication, and for a browser that asks for the landing page. */
    caller: Caller | null;
    slot: Slot | null;
  }
}

/**
 * The route of GraphQL, and the hooks before it, in order: authentication, pressure, a slot in flight, then the body is read.
 * Returns whether the process is under pressure.
 */
export async function routeGraphQL(app: FastifyInstance, route: GraphQLRoute): Promise<() => boolean> {
  let isUnderPressure = () => false;
  app.decorateRequest('caller', null);
  app.decorateRequest('slot', null);
  await app.register(async (scope) => {
    scope.addHook('onRequest', (request) => authenticate(route, request));
    await limitPressure(scope, route.maxEventLoopDelayMs);
    isUnderPressure = () => scope.isUnderPressure();
    scope.addHook('onRequest', async (request, reply) => takeSlot(route.slots, request, reply));
    scope.route({
      method: ['GET', 'POST'],
      url: GRAPHQL_PATH,
      handler: (request, reply) => answer(route, request, reply),
    });
  });
  return () => isUnderPressure();
}

async function authenticate({ production, authentication }: GraphQLRoute, request: FastifyRequest): Promise<void> {
  if (!production && prefersHtml(request)) return;
  request.caller = await authentication.authenticate(request.headers.authorization, addressOf(request));
  if (request.record) request.record.caller = request.caller;
  checkContentType(request);
}

function takeSlot(slots: Slots, request: FastifyRequest, reply: FastifyReply): void {
  const { caller } = request;
  if (!caller) return;
  // Authentication may have taken time. A connection that is closed emits no `close` any more, which gives the slot back.
  if (request.raw.socket.destroyed) throw clientGone();
  const slot = slots.take(caller);
  if (!slot) throw overloaded();
  request.slot = slot;
  onEnd(request, reply, () => slot.give());
}

async function answer(route: GraphQLRoute, request: FastifyRequest, reply: FastifyReply): Promise<string> {
  const http = toApolloRequest(request);
  const { caller } = request;
  const cancellation = new AbortController();
  onEnd(request, reply, (isSent) => {
    if (!isSent) cancellation.abort(DISCONNECTED);
  });
  let clearTimer = () => {};
  const context = async () => {
    if (!caller) throw new Unauthenticated({ reason: 'missing' });
    try {
      await prepare(route, http, caller);
      const deadline = performance.now() + route.operationTimeoutMs;
      clearTimer = abortAt(cancellation, deadline);
      const record = request.record ?? createOperationRecord();
      return createContext(route.context, {
        requestId: request.id,
        caller,
        record,
        signal: cancellation.signal,
        deadline,
      });
    } catch (error) {
      recordFailure(route, request, error);
      throw error;
    }
  };
  const response = await route.apollo
    .executeHTTPGraphQLRequest({ httpGraphQLRequest: http, context })
    .finally(() => clearTimer());
  const text = applyResponse(response, reply);
  // Clients that do not read must not fill the memory. A write may have been done: its client must not send it again.
  if (request.slot?.fits(text.length) === false) throw request.record?.type === 'mutation' ? unsent() : overloaded();
  return text;
}

/** Apollo Server calls no hook with the request when `context` throws. */
function recordFailure({ report }: GraphQLRoute, { record, id }: FastifyRequest, error: unknown): void {
  if (!(error instanceof ClientError)) report(error instanceof Error ? error : new Error(String(error)), id);
  if (record) record.codes = [error instanceof ClientError ? error.code : 'INTERNAL_SERVER_ERROR'];
}

/** The response to a write that cannot be sent. */
function unsent(): ClientError {
  const message = 'The gateway cannot send the response of this write; read the player to learn its outcome.';
  return requestError('OVERLOADED', 503, message, { retryable: false, outcome: 'UNKNOWN' });
}

function prefersHtml({ method, headers }: FastifyRequest): boolean {
  return method === 'GET' && headers.accept?.includes('text/html') === true && !headers.accept.includes('json');
}

function toApolloRequest({ method, headers, url, body }: FastifyRequest): HTTPGraphQLRequest {
  const apolloHeaders = new HeaderMap();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) apolloHeaders.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  return { method, headers: apolloHeaders, search: searchOf(url), body };
}

/** Takes over status and headers of Apollo Server's response; returns its body. */
function applyResponse({ status = 200, headers, body }: HTTPGraphQLResponse, reply: FastifyReply): string {
  if (body.kind === 'chunked') throw new Error('The schema has no incremental delivery.');
  void reply.code(status);
  for (const [name, value] of headers) void reply.header(name, value);
  return status >= 400 ? withRequestId(body.string, reply.request.id) : body.string;
}

/** Adds `requestId` to error responses that do not have it. */
function withRequestId(body: string, requestId: string): string {
  const response: unknown = JSON.parse(body);
  if (typeof response !== 'object' || response === null || 'extensions' in response) return body;
  return `${JSON.stringify({ ...response, extensions: { requestId } })}\n`;
}

/** The address of the client. Throws for a connection that was reset: it has none, although the type says string. */
function addressOf(request: FastifyRequest): string {
  const address: string | undefined = request.ip;
  if (address === undefined || request.raw.socket.destroyed) throw clientGone();
  return address;
}

/** This error is not sent to anyone; log and metrics count the request under its code. */
function clientGone(): ClientError {
  return requestError('CANCELLED', 499, 'The client disconnected.');
}

/**
 * Calls `ended` once, when the response is sent or its connection is closed. Node emits `close` only on the response that is
 * next to be sent, so the connection of a pipelined one is watched too.
 */
function onEnd(request: FastifyRequest, { raw: response }: FastifyReply, ended: (isSent: boolean) => void): void {
  const { socket } = request.raw;
  const end = () => {
    socket.off('close', end);
    response.off('close', end);
    ended(response.writableFinished);
  };
  socket.setMaxListeners(0).once('close', end);
  response.once('close', end);
}
