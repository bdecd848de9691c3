import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ApolloServer, HeaderMap, type HTTPGraphQLResponse } from '@apollo/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Authentication } from '../access/authenticate.ts';
import type { Caller } from '../caller.ts';
import type { Config } from '../config/config.ts';
import { SHOW_COST } from '../engine/apollo.ts';
import type { createPrepareText } from '../engine/prepare-text.ts';
import { formatError, MAX_RESPONSE, refuseLength } from '../engine/response.ts';
import { type Context, createContext, type SharedContext } from '../graphql/context.ts';
import type { RateLimits } from '../limits/rate-limits.ts';
import { Cancellation } from '../rest/call-context.ts';
import { batchPerTurn } from '../turns.ts';
import { CLIENT_GONE, checkContent, hasBody, parseBodies, readBody, responseType } from './body.ts';
import { GRAPHQL_PATH } from './error-responses.ts';
import { OVERLOADED, oncePerMinute, type Slot, type Slots } from './overload.ts';

const afterSockets = batchPerTurn(setImmediate);

/** The headers that Apollo Server reads to prevent forged requests, and those of our plugin. */
const FOR_APOLLO = ['content-type', 'authorization', 'apollo-require-preflight', 'x-apollo-operation-name', SHOW_COST];

/** A response of more characters is encoded in a turn of the event loop of its own, and once: 4 MB take 10 to 20 ms. */
const LONG_TEXT = 65_536;

/** A response consumes one more unit for each so many characters. */
const CHARACTERS_PER_UNIT = 250_000;

interface GraphQLRoute {
  config: Config;
  authentication: Pick<Authentication, 'authenticate'>;
  slots: Slots;
  rates: Pick<RateLimits, 'consume' | 'consumeLate' | 'headersOf'>;
  sharedContext: SharedContext;
  prepareText: ReturnType<typeof createPrepareText>;
  apollo: ApolloServer<Context>;
  /** Sends the page for browsers that open the address; undefined in production. */
  sendPage: ((reply: FastifyReply) => FastifyReply) | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Its caller and slot, what cancels it. Null until it is admitted, and for the page of the Sandbox. */
    admitted: { caller: Caller; slot: Slot; cancellation?: Cancellation } | null;
  }
}

/**
 * The route of GraphQL. Fastify's order for a request: `onRequest` of app.ts, then the one below, which admits it; the parser of
 * body.ts; the handler; `onSend` of app.ts, then the one below.
 */
export function routeGraphQL(app: FastifyInstance, route: GraphQLRoute) {
  app.decorateRequest('admitted', null);
  const refusals = oncePerMinute();
  app.register(async (scope) => {
    parseBodies(scope, route.config.MAX_BODY_BYTES);
    scope.addHook('onSend', ({ record, admitted }, reply, payload, done) => {
      if (admitted && record?.bodyUnits) route.rates.consumeLate(admitted.caller, record.bodyUnits);
      // Also for a request that was refused before it was admitted.
      if (record?.caller) void reply.headers(route.rates.headersOf(record.caller));
      done(null, payload);
    });
    scope.route({
      method: ['GET', 'POST'],
      url: GRAPHQL_PATH,
      exposeHeadRoute: false,
      onRequest: async (request, reply) => {
        if (route.sendPage && isForPage(request)) return;
        const caller = await route.authentication.authenticate(request.headers.authorization, request.ip);
        if (request.record) request.record.caller = caller;
        // Authentication takes time, and a connection that is closed emits no `close` any more.
        if (request.raw.socket.destroyed) throw CLIENT_GONE;
        checkContent(request);
        const slot = route.slots.admit(caller);
        if (typeof slot === 'string') {
          refusals(slot, () => app.log.warn({ caller: caller.name, reason: slot }, 'operations are refused'));
          throw OVERLOADED;
        }
        request.admitted = { caller, slot };
        holdUntilSent(request.admitted, request, reply);
        await route.rates.consume('operations', caller);
        // Some proxies send a GET without a body as chunked, with the last chunk alone.
        if (request.method === 'GET' && hasBody(request.raw)) await readBody(request, request.raw, 0);
        if (request.raw.socket.destroyed) throw CLIENT_GONE;
      },
      handler: async ({ admitted }, reply) => {
        if (!admitted) return route.sendPage?.(reply);
        admitted.slot.hold();
        try {
          return await respondTo(route, admitted, reply);
        } finally {
          admitted.slot.release();
        }
      },
    });
  });
}

function isForPage({ method, headers: { accept = '' } }: FastifyRequest): boolean {
  return method === 'GET' && accept.includes('text/html') && !accept.includes('json');
}

type Admitted = NonNullable<FastifyRequest['admitted']>;

/** Holds the slot until the response is sent or the client disconnects, which also cancels the REST calls. */
function holdUntilSent(admitted: Admitted, { raw: { socket } }: FastifyRequest, { raw: response }: FastifyReply): void {
  admitted.slot.hold();
  // A pipelined response emits no `close` when its connection closes before its turn, so the socket is watched too. Others emit
  // `close` while the socket does, so `end` runs twice.
  let isOver = false;
  const end = () => {
    if (isOver) return;
    isOver = true;
    socket.off('close', end);
    admitted.slot.release();
    if (!response.writableFinished) admitted.cancellation?.cancel('the client disconnected');
  };
  socket.setMaxListeners(0).once('close', end);
  response.once('close', end);
}

async function respondTo(route: GraphQLRoute, admitted: Admitted, reply: FastifyReply) {
  const { id: requestId, method, headers: all, url, body, record } = reply.request;
  if (!record) throw new Error('A hook of app.ts creates the record of each request.');
  const headers = new HeaderMap();
  for (const name of FOR_APOLLO) if (typeof all[name] === 'string') headers.set(name, all[name]);
  const mediaType = responseType(all);
  // Of any other type, Apollo Server would answer its errors with 406, and not say what is wrong.
  headers.set('accept', mediaType);
  const httpGraphQLRequest = { method, headers, search: /\?.*/s.exec(url)?.[0] ?? '', body };
  // Requests that arrive together are begun together; see batchPerTurn.
  await new Promise<void>((resolve) => afterSockets(resolve));
  // Puts the text of an operation in the place of its id or hash.
  await route.prepareText(httpGraphQLRequest, admitted.caller, record);
  const cancellation = new Cancellation(performance.now() + route.config.OPERATION_TIMEOUT_MS);
  admitted.cancellation = cancellation;
  // The response of a pipelined request has no socket yet, so it is not destroyed with it.
  if (reply.request.raw.socket.destroyed) cancellation.cancel('the client disconnected');
  const context = createContext(route.sharedContext, { requestId, caller: admitted.caller, record, cancellation });
  const executed = route.apollo.executeHTTPGraphQLRequest({ httpGraphQLRequest, context: async () => context });
  const whole = applyResponse(await executed.finally(() => cancellation.end()), mediaType, reply);
  return payloadOf(whole, context, route, admitted.slot, reply);
}

/** What is sent of a response: all of it, or the error of one that is too long or has no place in memory. */
async function payloadOf(whole: string, context: Context, { rates }: GraphQLRoute, slot: Slot, reply: FastifyReply) {
  const { record, loaders, caller } = context;
  // A character takes at most three bytes.
  const isTooLong = whole.length > MAX_RESPONSE / 3 && Buffer.byteLength(whole) > MAX_RESPONSE;
  const text = isTooLong ? JSON.stringify(refuseLength(context)) : whole;
  // Long texts and aliases are not in the complexity.
  const more = Math.floor(whole.length / CHARACTERS_PER_UNIT);
  if (more > 0) rates.consumeLate(caller, more);
  if (text.length > LONG_TEXT) await nextTurn();
  // Encoded once for its length and for the socket, unless it is short: Node sends a short text in one piece with its headers.
  const payload = text.length > LONG_TEXT ? Buffer.from(text) : text;
  // Clients that do not read must not fill the memory.
  if (slot.addBytes(Buffer.byteLength(payload))) return payload;
  if (record.type !== 'mutation') throw OVERLOADED;
  record.codes = [OVERLOADED.code];
  void reply.code(503).header('retry-after', '1');
  const message = 'The gateway cannot send the response of this write; its outcome is known.';
  const errors = loaders.writes.errorOfEach({ ...formatError(OVERLOADED.toJSON(), OVERLOADED), message });
  return JSON.stringify({ errors, extensions: { requestId: reply.request.id } });
}

/** Takes over status and headers of Apollo Server's response. Returns its body, with the request id if it is an error's. */
function applyResponse({ status = 200, headers, body }: HTTPGraphQLResponse, mediaType: string, reply: FastifyReply) {
  if (body.kind === 'chunked') throw new Error('The schema has no incremental delivery.');
  void reply.code(status);
  for (const [name, value] of headers) void reply.header(name, value);
  void reply.type(`${mediaType}; charset=utf-8`);
  if (status < 400) return body.string;
  const { extensions = { requestId: reply.request.id }, ...response } = JSON.parse(body.string);
  return JSON.stringify({ ...response, extensions });
}
