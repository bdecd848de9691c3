import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import fastifyCompress from '@fastify/compress';
import fastifyCors from '@fastify/cors';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import { LOOPBACK } from '../config/forms.ts';
import { type ClientError, requestError } from '../errors.ts';
import { type ObservationOptions, observeOperations } from '../telemetry/observe.ts';
import { hasBody } from './body.ts';
import { answerError, answerErrors } from './errors.ts';
import { GRAPHQL_PATH } from './graphql-route.ts';

/** How long a request may take to arrive, in milliseconds. */
const REQUEST_MS = 15_000;
const HTTP_OPTIONS = {
  /** How long the head of a request may take, and how often both times are checked, in milliseconds. */
  headersTimeout: 5_000,
  connectionsCheckingInterval: 500,
  /** The largest head of a request, in bytes: more than any browser or balancer sends. */
  maxHeaderSize: 16_384,
  /** As in RFC 9110; otherwise Node silently keeps the first. */
  joinDuplicateHeaders: true,
};
/** Smaller responses fit in one or two packets; larger ones are compressed for clients that accept gzip. */
const COMPRESS_FROM_BYTES = 2_048;

/** How many headers a request may have. Node silently drops those after the 2,000th. */
const MAX_HEADERS = 200;

/**
 * The application without routes, with the hooks that every request passes, in their order: record, request id, headers,
 * CORS. graphql-route.ts has the next ones. Slow senders, connection counts and tiny chunks are the work of the ingress;
 * Node's own timeouts bound what a direct client can hold.
 * @param draining Aborts when the process drains.
 */
export async function createApp(config: Config, observation: ObservationOptions, draining?: AbortSignal) {
  const app = fastify({
    loggerInstance: observation.log,
    // A logger for each request costs more than the one line that it writes. The lines contain the request id.
    childLoggerFactory: (logger) => logger,
    logController: new fastify.LogController({ disableRequestLogging: true }),
    trustProxy: config.trustProxy,
    genReqId: requestIdOf,
    frameworkErrors: answerError,
    requestTimeout: REQUEST_MS,
    keepAliveTimeout: config.keepAliveTimeoutMs,
    // The time without traffic after which a connection is closed. One request and its response never need longer.
    connectionTimeout: config.operationTimeoutMs + REQUEST_MS,
    // While the gateway drains, it still answers requests that arrive on open connections.
    return503OnClosing: false,
    http: HTTP_OPTIONS,
  });
  app.removeAllContentTypeParsers();
  // Before the plugins, whose routes would otherwise send errors in another format.
  answerErrors(app);
  observeOperations(app, GRAPHQL_PATH, observation);
  const open = config.auth.kind === 'open';
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id);
    // A response must not be cached, and browsers must not guess its type.
    void reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
    done(headerProblem(request, open));
  });
  closeConnections(app, draining);
  await allowOrigins(app, config);
  const encodings: ('gzip' | 'identity')[] = ['gzip', 'identity'];
  await app.register(fastifyCompress, { threshold: COMPRESS_FROM_BYTES, encodings, globalDecompression: false });
  return app;
}

/** CORS. Registered only if websites may call: its hook runs on every request. */
async function allowOrigins(app: FastifyInstance, { production, corsOrigins }: Config): Promise<void> {
  // In development also Apollo's hosted Sandbox and every website on this machine.
  const others = ['https://studio.apollographql.com', /^https?:\/\/(?:localhost|127\.0\.0\.1)(?::\d+)?$/];
  const origin = corsOrigins.includes('*') || (production ? [...corsOrigins] : [...corsOrigins, ...others]);
  if (origin !== true && origin.length === 0) return;
  const exposedHeaders = ['x-request-id', 'retry-after'];
  // OPTIONS without a preflight's headers is answered like a preflight; the plugin would refuse it in another format.
  await app.register(fastifyCors, { origin, credentials: false, exposedHeaders, maxAge: 600, strictPreflight: false });
}

/**
 * A response closes its connection while the gateway drains or closes, and when the body of its request was not read: the
 * rest of the body must not be taken for the next request. Node's server would wait for connections on which the client has
 * sent nothing, so they are closed too.
 */
function closeConnections(app: FastifyInstance, draining?: AbortSignal): void {
  const sockets = new Set<Socket>();
  /** Connections that their last response closes. */
  const ending = new WeakSet<object>();
  let closing = false;
  app.server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  app.addHook('preClose', (done) => {
    closing = true;
    // First read what has arrived.
    setImmediate(() => {
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    });
    done();
  });
  app.addHook('onSend', ({ raw }, reply, payload, done) => {
    if (closing || draining?.aborted || (!raw.complete && hasBody(raw))) {
      void reply.header('connection', 'close');
      ending.add(raw.socket);
    }
    done(null, payload);
  });
  // What follows a response that closes its connection may be no HTTP. Fastify would send a second response to it.
  app.server.prependListener('clientError', (_error, socket) => {
    if (ending.has(socket)) socket.end();
  });
}

/**
 * The refusal of a request whose headers can be interpreted in two ways, or that a gateway without tokens must not serve. Node
 * joins repeated headers with a comma, so a repeated `authorization`, `content-type` or `content-encoding` is not valid.
 * @param open Whether the gateway has no token setting. It then trusts every client that can reach it. With DNS rebinding, a
 * website can reach it through a visitor's browser: any domain can resolve to 127.0.0.1. The Host header still has that domain.
 */
function headerProblem({ hostname, raw }: FastifyRequest, open: boolean): ClientError | undefined {
  const { host = '', 'transfer-encoding': coding = 'chunked' } = raw.headers;
  const refuse = (status: number, message: string) => requestError('BAD_REQUEST', status, message);
  if (raw.rawHeaders.length > 2 * MAX_HEADERS) return refuse(431, 'The request has too many headers.');
  if (host.includes(',')) return refuse(400, 'The header "host" must not be repeated.');
  // Node accepts `identity, chunked`; a proxy may take such a body for a length or for none.
  if (coding.toLowerCase() !== 'chunked') return refuse(400, 'The only transfer coding that is accepted is "chunked".');
  // `hostname` can come from `X-Forwarded-Host`, which a website can send too.
  if (!open || (LOOPBACK.test(hostname) && LOOPBACK.test(host.replace(/:\d+$/, '')))) return undefined;
  return refuse(421, 'Without a token setting this gateway answers to localhost and 127.0.0.1 only.');
}

/** The form of a client's `x-request-id` that is used: safe in logs, headers and file names. */
const REQUEST_ID = /^[\w.:-]{8,128}$/;

/** The id of a request: its `x-request-id` if that is well-formed, else a new one. */
function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}
