import type { Socket } from 'node:net';
import fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import type { Config } from '../config/config.ts';
import { frameworkErrors, sendParserError } from './errors.ts';
import { requestIdOf } from './headers.ts';

/** How often the server checks for timeouts, in milliseconds. */
const CHECK_MS = 500;
/** How long the head of a request may take, and the whole request, in milliseconds. */
const HEAD_MS = 5_000;
const REQUEST_MS = 15_000;
/** The largest head of a request, in bytes: more than any browser or balancer sends. */
const MAX_HEADER_BYTES = 16_384;

/**
 * The application of the gateway, without hooks and routes. Slow senders, connection counts and tiny chunks are the work of
 * the ingress; Node's own timeouts bound what a direct client can hold.
 */
export function createApp(config: Config, log: FastifyBaseLogger): FastifyInstance {
  return fastify({
    loggerInstance: log,
    // A logger for each request costs more than the one line that it writes. The lines contain the request id.
    childLoggerFactory: (logger) => logger,
    logController: new fastify.LogController({ disableRequestLogging: true }),
    trustProxy: config.trustProxy,
    genReqId: requestIdOf,
    frameworkErrors,
    clientErrorHandler: sendParserError,
    bodyLimit: config.limits.bodyBytes,
    requestTimeout: REQUEST_MS,
    keepAliveTimeout: config.keepAliveTimeoutMs,
    // The time without traffic after which a connection is closed. One request and its response never need longer.
    connectionTimeout: config.operationTimeoutMs + REQUEST_MS,
    // While the gateway drains, it still answers requests that arrive on open connections.
    return503OnClosing: false,
    http: { headersTimeout: HEAD_MS, maxHeaderSize: MAX_HEADER_BYTES, connectionsCheckingInterval: CHECK_MS },
  });
}

/**
 * Responses close their connection after the gateway began to close, or after `draining` aborted. Connections on which the
 * client has sent nothing are closed too: Node's server would wait for them.
 */
export function closeWhileDraining(app: FastifyInstance, draining?: AbortSignal): void {
  const silent = new Set<Socket>();
  let closing = false;
  app.server.on('connection', (socket) => {
    silent.add(socket);
    socket.once('data', () => silent.delete(socket)).once('close', () => silent.delete(socket));
  });
  app.addHook('preClose', (done) => {
    closing = true;
    // First read what has arrived.
    setImmediate(() => {
      for (const socket of silent) if (socket.bytesRead === 0) socket.destroy();
    });
    done();
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (closing || draining?.aborted) void reply.header('connection', 'close');
    done(null, payload);
  });
}
