import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify';
import type { Config } from '../config/config.ts';
import { type ClientError, requestError } from '../graphql/errors.ts';
import { withoutSchemas } from '../process/without-schemas.ts';
import { DISCONNECTED } from '../rest/call-context.ts';
import { requestIdOf } from './headers.ts';

/** What answers failures before routing. */
type EarlyErrors = Pick<FastifyServerOptions, 'frameworkErrors' | 'clientErrorHandler'>;

/** How often the server checks for timeouts, in milliseconds. */
const CHECK_MS = 500;
/** The largest head of a request, in bytes: more than any browser or balancer sends. */
const MAX_HEADER_BYTES = 16_384;
/** How many chunks any body may have, and the number of bytes that allows one more chunk. */
const MAX_CHUNKS = 1_024;
const BYTES_PER_CHUNK = 16;

/** The application of the gateway, without hooks and routes. Its limits end requests of slow, idle or hostile clients. */
export function createApp(config: Config, log: FastifyBaseLogger, earlyErrors: EarlyErrors): FastifyInstance {
  const { headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs } = config.connections;
  return fastify({
    loggerInstance: log,
    // A logger for each request costs more than the one line that it writes. The lines contain the request id.
    childLoggerFactory: (logger) => logger,
    logController: new fastify.LogController({ disableRequestLogging: true }),
    schemaController: withoutSchemas,
    trustProxy: config.trustProxy,
    genReqId: requestIdOf,
    ...earlyErrors,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    // The time without traffic after which a connection is closed. One request and its response never need longer.
    connectionTimeout: config.operationTimeoutMs + requestTimeoutMs,
    // While the gateway drains, it still answers requests that arrive on open connections.
    return503OnClosing: false,
    http: {
      headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
      maxHeaderSize: MAX_HEADER_BYTES,
      connectionsCheckingInterval: CHECK_MS,
    },
  });
}

/**
 * Limits the number of open connections to `max`, and closes them when the gateway closes.
 *
 * Responses close their connection after the gateway began to close, or after `draining` aborted. Connections on which the
 * client has sent nothing are closed too: Node's server would wait for them.
 *
 * A connection over the limit closes the oldest one without a request, so that connections without requests cannot block
 * clients. When every other connection has had a request, the new one is closed.
 */
export function keepConnections(app: FastifyInstance, max: number, draining?: AbortSignal): void {
  const open = new Set<Socket>();
  const withoutRequest = new Set<Socket>();
  let closing = false;
  app.server.on('connection', (socket) => {
    open.add(socket);
    withoutRequest.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      withoutRequest.delete(socket);
    });
    if (open.size <= max) return;
    const [oldest = socket] = withoutRequest;
    // Removed here, because its `close` event comes in a later turn of the event loop.
    open.delete(oldest);
    withoutRequest.delete(oldest);
    oldest.destroy();
  });
  app.server.prependListener('request', ({ socket }) => withoutRequest.delete(socket));
  app.server.prependListener('request', closeWithConnection);
  app.addHook('preClose', (done) => {
    closing = true;
    // First read what has arrived.
    setImmediate(() => {
      for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
    });
    done();
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (closing || draining?.aborted) void reply.header('connection', 'close');
    done(null, payload);
  });
}

/**
 * Node emits `close` only on the response that is next to be sent. Without this function, pipelined responses would never be
 * cancelled and would keep their REST calls and permits.
 */
function closeWithConnection({ socket }: IncomingMessage, response: ServerResponse): void {
  if (response.socket) return;
  const close = () => {
    response.destroyed = true;
    response.emit('close');
  };
  socket.setMaxListeners(0).once('close', close);
  response.once('close', () => socket.off('close', close));
}

/**
 * Answers 400 to a body with too many chunks for its length, and closes its connection. For each chunk, Node's parser
 * allocates a buffer and calls a function, which takes 2 µs for any length, and a stream takes 2 µs more. One connection with
 * chunks of one byte took 140 ms of CPU time before its request was refused. Normal clients send chunks of kilobytes.
 */
export function limitChunks(server: Server): void {
  // Node emits `request` before it reads the body, in the same turn.
  server.prependListener('request', (request: IncomingMessage) => {
    if (request.headers['transfer-encoding'] === undefined) return;
    let chunks = 0;
    let bytes = 0;
    const push = request.push.bind(request);
    request.push = (chunk, encoding) => {
      chunks += 1;
      bytes += chunk?.length ?? 0;
      if (chunks <= MAX_CHUNKS + bytes / BYTES_PER_CHUNK) return push(chunk, encoding);
      request.push = drop;
      refuse(server, request);
      return false;
    };
  });
}

/** Drops the chunk; false stops the parser from reading more. */
const drop = () => false;

function refuse(server: Server, { socket }: IncomingMessage): void {
  socket.once('finish', () => socket.destroy());
  server.emit('clientError', new Error('The body comes in chunks that are too small.'), socket);
}

/** The address of the client. Throws for a connection that was reset: it has none, although the type says string. */
export function addressOf(request: FastifyRequest): string {
  const address: string | undefined = request.ip;
  if (address === undefined || request.raw.socket.destroyed) throw clientGone();
  return address;
}

/** This error is not sent to anyone; log and metrics count the request under its code. */
export function clientGone(): ClientError {
  return requestError('CANCELLED', 499, 'The client disconnected.');
}

/** Aborts when the client closes the connection before its response is sent. */
export function cancellationOf({ raw }: FastifyReply): AbortController {
  const controller = new AbortController();
  raw.on('close', () => {
    if (!raw.writableFinished) controller.abort(DISCONNECTED);
  });
  return controller;
}
