import { type ApolloServer, HeaderMap, type HTTPGraphQLRequest, type HTTPGraphQLResponse } from '@apollo/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { type Authentication, unauthenticated } from '../access/authenticate.ts';
import type { Caller } from '../access/caller.ts';
import { type Context, type ContextOptions, createContext } from '../graphql/context.ts';
import { ClientError } from '../graphql/errors.ts';
import { executeFast, type FastPathOptions, isFast } from '../graphql/fast-path.ts';
import { checkVariables, type KnownOperation, type Operations } from '../graphql/operations.ts';
import { type GraphQLRequest, ID_MEMBERS, isHealthCheck, readGraphQLRequest, searchOf } from '../graphql/request.ts';
import type { Measured, OperationLimiter } from '../limits/operation-limits.ts';
import type { RateLimits } from '../limits/rate-limits.ts';
import type { Admission, ResolvedOperation } from '../persisted-operations/admission.ts';
import { batchPerTick } from '../rest/batch-per-tick.ts';
import { abortAt } from '../rest/call-context.ts';
import type { Permit, Semaphore } from '../rest/semaphore.ts';
import type { Observation } from '../telemetry/observe.ts';
import type { BodyReader } from './body.ts';
import { addressOf, cancellationOf, clientGone } from './connections.ts';
import { JSON_TYPE } from './headers.ts';
import { overloaded } from './overload.ts';

/** Where operations are sent. */
export const GRAPHQL_PATH = '/graphql';

/** The largest body of a request without a token: enough for `{"query":"{ __typename }"}`. */
const MAX_ANONYMOUS_BODY_BYTES = 200;

export interface GraphQLRoute extends FastPathOptions {
  schema: GraphQLSchema;
  authentication: Pick<Authentication, 'authenticate' | 'refuse'>;
  rates: RateLimits;
  bodies: BodyReader;
  maxBodyBytes: number;
  admission: Admission;
  operations: Operations;
  limiter: OperationLimiter;
  /** Limits the operations that are executed at once. */
  concurrency: Semaphore;
  observation: Observation;
  operationTimeoutMs: number;
  context: ContextOptions;
  /** Unless in production, it has a landing page for browsers. */
  apollo: ApolloServer<Context>;
}

/** The steps of a request from its caller to its response, in order. The hooks that run before it are in hooks.ts. */
export function routeGraphQL(app: FastifyInstance, route: GraphQLRoute): void {
  app.route({
    method: ['GET', 'POST'],
    url: GRAPHQL_PATH,
    async handler(request, reply) {
      if (!route.production && prefersHtml(request)) return await answerWithPage(route, request, reply);
      const cancellation = cancellationOf(reply);
      const { authorization } = request.headers;
      const caller = await route.authentication.authenticate(authorization, addressOf(request));
      if (request.record) request.record.caller = caller;
      route.rates.refuseIfEmpty(caller);
      const { body, graphql } = await readRequest(route, request, caller);
      const resolved = await route.admission.resolve(graphql, caller);
      const known = findOperation(route, resolved, graphql, caller);
      const measured = known && route.limiter.measure(known.document, known.operation, graphql.variables);
      await route.rates.charge(caller, measured?.cost ?? 1);
      if (known && measured) check(route, known, measured, graphql, caller);
      const permit = await acquire(route.concurrency);
      const deadline = performance.now() + route.operationTimeoutMs;
      const clearTimer = abortAt(cancellation, deadline);
      let response = '';
      try {
        if (cancellation.signal.aborted) throw clientGone();
        const record = route.observation.begin(request, known, caller);
        const operation = { requestId: request.id, caller, known, record, signal: cancellation.signal, deadline };
        const context = createContext(route.context, operation);
        if (!route.production && measured) context.extensions['cost'] = costOf(measured);
        response = await respond(route, request, reply, { graphql, body, resolved, context });
      } finally {
        clearTimer();
        route.concurrency.release(permit);
        route.rates.settle(caller, request.record?.calls.length ?? 0, response.length);
      }
      return response;
    },
  });
}

/** Reads the body once. Without a token, all but a health check is UNAUTHENTICATED, whatever else is wrong with it. */
async function readRequest(
  { bodies, rates, maxBodyBytes, authentication }: GraphQLRoute,
  request: FastifyRequest,
  caller: Caller,
): Promise<{ body: unknown; graphql: GraphQLRequest }> {
  const maxBytes = caller.isAnonymous ? MAX_ANONYMOUS_BODY_BYTES : maxBodyBytes;
  try {
    const body = await bodies.read(request, maxBytes, (bytes) => rates.chargeBody(caller, bytes));
    const graphql = readGraphQLRequest(request, body);
    if (!caller.isAnonymous || isHealthCheck(graphql)) return { body, graphql };
  } catch (error) {
    if (!caller.isAnonymous || !(error instanceof ClientError) || error.code !== 'BAD_REQUEST') throw error;
  }
  return await authentication.refuse(addressOf(request), 'missing');
}

/** An unknown text is charged to the budget for new operations; a listed one is not. */
function findOperation(
  { operations, rates }: GraphQLRoute,
  { text, trusted }: ResolvedOperation,
  { operationName }: GraphQLRequest,
  caller: Caller,
): KnownOperation | undefined {
  if (text === undefined) return undefined;
  if (trusted || operations.has(text)) return operations.find(text, operationName);
  rates.chargeNewOperation(caller);
  const began = performance.now();
  try {
    return operations.find(text, operationName);
  } finally {
    rates.settleNewOperation(caller, performance.now() - began);
  }
}

/** Checks the limits and the variables. A refused operation stays charged. */
function check(
  { limiter, schema, production }: GraphQLRoute,
  { operation }: KnownOperation,
  measured: Measured,
  { variables }: GraphQLRequest,
  caller: Caller,
): void {
  limiter.check(measured, caller);
  checkVariables(schema, operation, variables, !production);
}

/** Returns a permit, now or within the maximum wait; throws or rejects with OVERLOADED. */
function acquire(concurrency: Semaphore): Permit<undefined> | Promise<Permit<undefined>> {
  const permit = concurrency.acquire(undefined);
  const held = () => {
    if (permit.state !== 'held') throw overloaded();
    return permit;
  };
  return permit.state === 'waiting' ? concurrency.wait(permit).then(held) : held();
}

interface PreparedOperation {
  graphql: GraphQLRequest;
  body: unknown;
  resolved: ResolvedOperation;
  context: Context;
}

/** Executes the operation; returns the body of the response. */
async function respond(
  route: GraphQLRoute,
  request: FastifyRequest,
  reply: FastifyReply,
  { graphql, body, resolved, context }: PreparedOperation,
): Promise<string> {
  const { known } = context;
  if (known && isFast(graphql, known)) {
    const text = await executeFast(known, graphql.variables, context, route);
    if (text !== undefined) {
      void reply.header('content-type', JSON_TYPE);
      await new Promise<void>(respondTogether);
      return text;
    }
  }
  const httpGraphQLRequest = toApolloRequest(request, body, graphql, resolved.textOfId);
  const answer = await route.apollo.executeHTTPGraphQLRequest({ httpGraphQLRequest, context: async () => context });
  return applyResponse(answer, reply);
}

/** Responses that are ready at the same time are sent together; see batch-per-tick.ts. */
const respondTogether = batchPerTick((respond: () => void) => respond(), process.nextTick);

function costOf({ complexity, depth, cost }: Measured) {
  return { complexity, depth, operations: cost };
}

function prefersHtml({ method, headers }: FastifyRequest): boolean {
  return method === 'GET' && headers.accept?.includes('text/html') === true && !headers.accept.includes('json');
}

/** Sends Apollo Server's landing page. */
async function answerWithPage({ apollo }: GraphQLRoute, request: FastifyRequest, reply: FastifyReply) {
  const httpGraphQLRequest = toApolloRequest(request, undefined, readGraphQLRequest(request, undefined), undefined);
  const context = async () => {
    throw unauthenticated();
  };
  return applyResponse(await apollo.executeHTTPGraphQLRequest({ httpGraphQLRequest, context }), reply);
}

/** The request for Apollo Server: unchanged, or with the text of a persisted operation in place of its id. */
function toApolloRequest(
  { method, headers, url }: FastifyRequest,
  body: unknown,
  { operationName, variables, extensions }: GraphQLRequest,
  textOfId: string | undefined,
): HTTPGraphQLRequest {
  const apolloHeaders = new HeaderMap();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) apolloHeaders.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  const request = { method, headers: apolloHeaders, search: searchOf(url), body };
  if (textOfId === undefined) return request;
  const { persistedQuery: _, ...others } = extensions ?? {};
  if (method === 'POST') {
    const members = { operationName: operationName ?? null, variables: variables ?? null };
    return { ...request, body: { query: textOfId, ...members, extensions: others } };
  }
  const parameters = new URLSearchParams(request.search);
  parameters.set('query', textOfId);
  for (const member of ID_MEMBERS) parameters.delete(member);
  parameters.delete('extensions');
  return { ...request, search: `?${parameters}` };
}

/** Takes over status and headers of Apollo Server's response; returns its body. */
function applyResponse({ status = 200, headers, body }: HTTPGraphQLResponse, reply: FastifyReply): string {
  if (body.kind === 'chunked') throw new Error('The schema has no incremental delivery.');
  void reply.code(status);
  for (const [name, value] of headers) void reply.header(name, value);
  return status >= 400 ? withRequestId(body.string, reply.request.id) : body.string;
}

/** Adds `requestId` to Apollo's own error responses. */
function withRequestId(body: string, requestId: string): string {
  const response: unknown = JSON.parse(body);
  if (typeof response !== 'object' || response === null || 'extensions' in response) return body;
  return `${JSON.stringify({ ...response, extensions: { requestId } })}\n`;
}
