import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { finished } from 'node:stream';
import fastifyCompress from '@fastify/compress';
import fastifyCors from '@fastify/cors';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import { LOOPBACK } from '../config/forms.ts';
import { badRequest } from '../errors.ts';
import { ENDPOINTS } from '../rest/endpoints.ts';
import { createOperationRecord, finish, type Observation } from '../telemetry/observe.ts';
import { hasUnreadBody } from './body.ts';
import { GRAPHQL_PATH, handleErrors, sendError } from './error-responses.ts';
import { boundConnections } from './overload.ts';

/** How long the head of a request, and all of it, may take to arrive, in milliseconds. */
const HEAD_MS = 5_000;
const REQUEST_MS = 15_000;
/** How many headers a request may have. Node silently drops those after the 2,000th. */
const MAX_HEADERS = 200;
/**
 * How many bytes of a refused request are read and dropped: as many as nginx accepts by default. A socket that closes before all
 * was read resets its connection, and the response can be lost. For nginx this server is then broken: by default it sends nothing
 * there for 10 s.
 */
const MAX_DROPPED_BYTES = 1_048_576;
/** How long these bytes may take to arrive, in milliseconds. */
const DROP_MS = 2_000;
/** Smaller responses fit in one or two packets. */
const COMPRESS_FROM_BYTES = 2_048;

/** A response must not be cached, and browsers must not guess its type. */
const ALWAYS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** What a page of another origin may read beside the body. */
const EXPOSED = ['x-request-id', 'retry-after', 'ratelimit', 'ratelimit-policy'];

const UNDECODABLE = badRequest('The path has a percent sign that encodes no character.');

const addHeaders = (reply: FastifyReply) => reply.headers(ALWAYS).header('x-request-id', reply.request.id);

/**
 * The application with the hooks that every request passes: record, request id, headers, CORS. Its only route is `/healthz`. Slow
 * senders are the work of the edge; Node's timeouts and the number of open files bound what a direct client can hold.
 * @param draining Aborts when the process drains; responses then close their connections.
 */
export async function createApp(config: Config, observation: Observation, draining: AbortSignal | undefined) {
  const app = fastify({
    loggerInstance: observation.log,
    // A logger for each request costs more than the one line that it writes. The lines contain the request id.
    childLoggerFactory: (logger) => logger,
    logController: new fastify.LogController({ disableRequestLogging: true }),
    trustProxy: config.TRUST_PROXY,
    // `/graphql/` is `/graphql`: some proxies and clients add the slash.
    routerOptions: { ignoreTrailingSlash: true },
    genReqId: requestIdOf,
    // For these requests Fastify runs no hook.
    frameworkErrors: (_error, request, reply) =>
      dropBody(request.raw, draining, () =>
        sendError(UNDECODABLE, request, addHeaders(reply).header('connection', 'close')),
      ),
    requestTimeout: REQUEST_MS,
    keepAliveTimeout: config.KEEP_ALIVE_TIMEOUT_MS,
    // The time without traffic after which a connection is closed. One request and its response never need longer.
    connectionTimeout: config.OPERATION_TIMEOUT_MS + REQUEST_MS,
    clientErrorHandler: respondToInvalid,
    // While the gateway drains, it still answers requests that arrive on open connections.
    return503OnClosing: false,
    http: {
      // The time for the head of a request, and how often both times are checked, in milliseconds.
      headersTimeout: HEAD_MS,
      connectionsCheckingInterval: 500,
      maxHeaderSize: config.MAX_HEAD_BYTES,
      // Also with NODE_OPTIONS=--insecure-http-parser, which accepts requests that have two lengths.
      insecureHTTPParser: false,
      // As in RFC 9110; otherwise Node silently keeps the first.
      joinDuplicateHeaders: true,
    },
  });
  app.removeAllContentTypeParsers();
  // Before the plugins, whose routes would otherwise send errors in another format.
  handleErrors(app);
  watchConnections(app);
  addHooks(app, config.auth.kind === 'open', observation, draining);
  // In development also Apollo's hosted Sandbox and every website on this machine.
  const local = ['https://studio.apollographql.com', /^https?:\/\/(([\w-]+\.)*localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/];
  const origins = [...config.CORS_ORIGINS, ...(config.production ? [] : local)];
  if (origins.length > 0) {
    const origin = config.CORS_ORIGINS.includes('*') || origins;
    // OPTIONS without a preflight's headers is answered like a preflight; the plugin would refuse it in another format.
    const cors = { credentials: false, maxAge: 600, strictPreflight: false };
    await app.register(fastifyCors, { ...cors, origin, exposedHeaders: EXPOSED });
  }
  const encodings: ('gzip' | 'identity')[] = ['gzip', 'identity'];
  await app.register(fastifyCompress, { threshold: COMPRESS_FROM_BYTES, encodings, globalDecompression: false });
  // For platforms that check nothing but this port; `/readyz` on the management port says more.
  app.get('/healthz', (_request, reply) => reply.code(draining?.aborted ? 503 : 200).send());
  boundConnections(app, config.rest.connections * ENDPOINTS.length);
  return app;
}

function addHooks(app: FastifyInstance, open: boolean, observation: Observation, draining?: AbortSignal): void {
  const noteProxy = createProxyNote(observation.log);
  app.decorateRequest('record', null);
  app.addHook('onRequest', (request, reply, done) => {
    const isOperation = request.routeOptions.url === GRAPHQL_PATH;
    if (isOperation) request.record = createOperationRecord(request.headers, observation.tracing?.begin);
    void addHeaders(reply);
    checkHead(request.raw, open);
    noteProxy(request);
    done();
  });
  app.addHook('onSend', ({ raw, record }, reply, payload, done) =>
    dropBody(raw, draining, () => {
      if (record) record.ms = performance.now() - record.started;
      // After the response is handed to the socket.
      if (record) process.nextTick(finish, observation, record, reply, payload);
      // What is left of a body that was not read must not be taken for the next request.
      if (draining?.aborted || hasUnreadBody(raw)) void reply.header('connection', 'close');
      done(null, payload);
    }),
  );
}

/** Reads and drops a short body that nobody reads; then, after `DROP_MS`, or when the process drains, calls `next`. */
function dropBody(raw: IncomingMessage, draining: AbortSignal | undefined, next: () => void): void {
  const isShort = () => Number(raw.headers['content-length']) <= MAX_DROPPED_BYTES;
  // `readBody` began to read it, then refused it.
  const isStopped = raw.readableFlowing !== null;
  if (!hasUnreadBody(raw) || isStopped || !isShort()) return void next();
  let isOver = false;
  const end = () => {
    if (!isOver) next();
    isOver = true;
    clearTimeout(timer);
  };
  const timer = setTimeout(end, DROP_MS);
  finished(raw.resume(), { signal: draining }, end);
}

/** The response to the last request of a connection, until it is sent. In a WeakMap, V8 would keep young objects for long. */
const LAST = Symbol('last response');
type Connection = Socket & { [LAST]?: ServerResponse | undefined };

/** Status and text by the code of Node's error; for any other code it is 400. */
const INVALID: Record<string, [number, string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time.'],
  HPE_HEADER_OVERFLOW: [431, 'The head of the request is too long.'],
};

/**
 * Responds to what is not HTTP, too long or too slow: a proxy stops using a server that closes connections without a response.
 * None is sent where the client would take it for the response to another request: while a complete request is pending, when a
 * response has begun or waits for an earlier one, and before the first byte.
 */
function respondToInvalid({ code = '' }: NodeJS.ErrnoException, socket: Connection): void {
  const last = socket[LAST];
  // The response was sent, and the connection is closing.
  if (socket.writableEnded && !last) return;
  // Bytes after a request with `Connection: close`; its response is still sent.
  if (code === 'HPE_CLOSED_CONNECTION' && last) return void dropRest(socket);
  const isOfAnother = last && (last.req.complete || last.headersSent || last.socket === null);
  if (isOfAnother || socket.bytesRead === 0 || !socket.writable) return void socket.destroy();
  const [status, text] = INVALID[code] ?? [400, 'The request is not valid HTTP.'];
  const headers = `Content-Type: text/plain\r\nContent-Length: ${text.length}\r\nConnection: close`;
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}\r\n\r\n${text}`);
  // A slow request could still become complete, and must not be executed after its 408.
  if (last || status === 408) return void socket.destroySoon();
  dropRest(socket);
  const timer = setTimeout(() => socket.destroy(), DROP_MS);
  socket.once('close', () => clearTimeout(timer));
}

/** Takes the connection from Node's parser, and reads and drops what arrives. */
function dropRest(socket: Socket): void {
  const end = socket.bytesRead + MAX_DROPPED_BYTES;
  socket.removeAllListeners('data').on('data', () => socket.bytesRead > end && socket.destroy());
}

/** Keeps the last response of each connection; when the server closes, ends those without a request. */
function watchConnections(app: FastifyInstance): void {
  app.server.prependListener('request', (request: { socket: Connection }, response: ServerResponse) => {
    request.socket[LAST] = response;
  });
  app.addHook('onResponse', ({ raw }, reply, done) => {
    const socket: Connection = raw.socket;
    if (socket[LAST] === reply.raw) socket[LAST] = undefined;
    done();
  });
  // A closing server waits for connections without a request, and Node no longer limits how long their heads take.
  const sockets = new Set<Connection>();
  app.server.on('connection', (socket: Connection) => sockets.add(socket.once('close', () => sockets.delete(socket))));
  app.addHook('preClose', async () => {
    const destroyUnused = () => {
      for (const socket of sockets) if (!socket[LAST]) socket.destroy();
    };
    setTimeout(destroyUnused, HEAD_MS).unref();
  });
}

/** Warns once when a proxy that is not trusted says whose request it is: all its clients then have one limit for bad tokens. */
function createProxyNote(log: Observation['log']) {
  let isNoted = false;
  return ({ headers, ip }: FastifyRequest): void => {
    const forwarded = String(headers['x-forwarded-for'] || ip).split(/[\s,]+/);
    if (isNoted || forwarded.includes(ip)) return;
    isNoted = true;
    log.warn(
      'X-Forwarded-For arrives from a proxy that is not trusted, so all clients behind it count as one address: set TRUST_PROXY to the number of proxies in front of the gateway, or to their addresses',
    );
  };
}

/**
 * Throws BAD_REQUEST for headers that can be interpreted in two ways, or that a gateway without tokens must not serve. Node
 * joins repeated headers with a comma, so a repeated `authorization`, `content-type` or `content-encoding` is not valid.
 * @param open Whether the gateway has no token setting, and trusts every client that can reach it. With DNS rebinding, a
 * website can reach it through a visitor's browser: any domain can resolve to 127.0.0.1. The Host header still has that domain.
 */
function checkHead({ headers, rawHeaders }: IncomingMessage, open: boolean): void {
  const { host = '', 'transfer-encoding': coding = 'chunked' } = headers;
  if (rawHeaders.length > 2 * MAX_HEADERS) throw badRequest('The request has too many headers.', 431);
  if (host.includes(',')) throw badRequest('The header "host" must not be repeated.');
  // Node accepts `identity, chunked`; a proxy may take such a body for a length or for none.
  if (!/^chunked$/i.test(coding)) throw badRequest('The only transfer coding that is accepted is "chunked".');
  if (open && !LOOPBACK.test(host.replace(/:\d+$/, ''))) {
    throw badRequest('Without a token setting this gateway answers to localhost and 127.0.0.1 only.', 421);
  }
}

/** The client's `x-request-id`, if it is safe in logs, headers and file names; else a new id. */
function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[\w.:-]{8,128}$/.test(given) ? given : randomUUID();
}
