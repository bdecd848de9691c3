import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyHttpOptions, FastifyInstance, FastifyReply, FastifyRequest, RawServerDefault } from 'fastify';
import { Cancellation } from '../../rest/cancellation.ts';
import { type ClientError, requestError } from '../graphql/errors.ts';

export interface ConnectionLimits {
  /** How long a request's head may take to arrive, from the opening of the connection or the end of the last answer. */
  headersTimeoutMs: number;
  /** How long a whole request may take to arrive. */
  requestTimeoutMs: number;
  /** How long a connection may stay open between two requests. */
  keepAliveTimeoutMs: number;
  /** How many connections are open at most; the next one is closed at once. */
  max: number;
}

type ServerOptions = Pick<
  FastifyHttpOptions<RawServerDefault>,
  'requestTimeout' | 'keepAliveTimeout' | 'connectionTimeout' | 'return503OnClosing' | 'http'
>;

/** How often the server looks for connections over their time, in milliseconds. */
const CHECK_MS = 500;
/** The largest head of a request, in bytes: more than any browser or balancer sends. */
const MAX_HEADER_BYTES = 16_384;

/**
 * The server's limits against clients that are slow, idle or hostile.
 * @param workMs How long an answer may take; a connection where nothing moves for that and a request's time is cut.
 */
export function serverOptions(
  { headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs }: ConnectionLimits,
  workMs: number,
): ServerOptions {
  return {
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    connectionTimeout: workMs + requestTimeoutMs,
    // A request that arrives on an open connection while the gateway drains is answered like those before it.
    return503OnClosing: false,
    http: {
      headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
      maxHeaderSize: MAX_HEADER_BYTES,
      connectionsCheckingInterval: CHECK_MS,
    },
  };
}

/**
 * Bounds the connections, and closes them when the gateway does: answers from then on, or since `draining` aborted, end their
 * connection, and connections on which nothing was ever sent are closed, which Node's server would wait for.
 *
 * One connection too many closes the oldest on which no request has come yet, so that connections without requests cannot
 * keep clients out; when there is none, the new one is closed.
 */
export function keepConnections(app: FastifyInstance, { max }: ConnectionLimits, draining?: AbortSignal): void {
  const open = new Set<Socket>();
  const silent = new Set<Socket>();
  let closing = false;
  app.server.on('connection', (socket) => {
    open.add(socket);
    silent.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      silent.delete(socket);
    });
    if (open.size <= max) return;
    const [oldest = socket] = silent;
    // Its place is free at once, though its closing takes a turn.
    open.delete(oldest);
    silent.delete(oldest);
    oldest.destroy();
  });
  app.server.prependListener('request', ({ socket }) => silent.delete(socket));
  app.server.prependListener('request', closeWithConnection);
  app.addHook('preClose', (done) => {
    closing = true;
    // What has arrived by now is read first.
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
 * Node tells a response that its connection is closed only when it is the one to be sent next. Others that a client asked
 * for in advance would never hear of it, and keep their calls and places for ever.
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

/** The address of the client. Throws for a connection that was reset: it has none any more, whatever the type says. */
export function addressOf(request: FastifyRequest): string {
  const address: string | undefined = request.ip;
  if (address === undefined || request.raw.socket.destroyed) throw clientGone();
  return address;
}

/** Nobody will read this error; log and metrics count the request under its code. */
export function clientGone(): ClientError {
  return requestError('CANCELLED', 499, 'The client went away.');
}

/** Happens when the client closes the connection before it has its response. `close` can come twice. */
export function cancellationOf({ raw }: FastifyReply): Cancellation {
  const cancellation = new Cancellation();
  raw.on('close', () => {
    if (!raw.writableFinished) cancellation.cancel();
  });
  return cancellation;
}
