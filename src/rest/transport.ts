import { type Dispatcher, Pool } from 'undici';
import { batchPerTick } from '../batch-per-tick.ts';
import type { Endpoint } from './endpoints.ts';
import { noConnection, timedOut, UpstreamError } from './upstream-error.ts';

/** How many requests of one endpoint may wait for a connection. */
const MAX_QUEUED = 10_000;
/** Larger responses, in bytes, would block the event loop while they are parsed and decoded. */
const MAX_RESPONSE_BYTES = 2 * 1024 * 1024;

export type Request = Dispatcher.DispatchOptions;

export interface Response {
  status: number;
  /** By lower-case name. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
}

export type Transport = ReturnType<typeof createTransport>;

/**
 * The only code that speaks HTTP to the REST service. Each endpoint has a Pool of its own, so that a slow one does not use the
 * connections of the others; the Pool has the queue for them. Each connection has one request at a time, so that a response
 * cannot be assigned to another request. Redirects are not followed, because the keys would be sent to the new address. The
 * caller must set timeouts: undici's own body timeout starts again with every byte.
 */
export function createTransport(origin: string, connections: number, connectTimeoutMs: number) {
  const connect = { timeout: connectTimeoutMs };
  const options = { connections, connect, pipelining: 1, allowH2: false, headersTimeout: 0, bodyTimeout: 0 };
  const queues = new Map<Endpoint, Queue>();
  let closed = false;

  function queueOf(endpoint: Endpoint): Queue {
    const queue = queues.get(endpoint) ?? new Queue(keepingClients(new Pool(origin, options)), connections);
    if (closed) void queue.pool.destroy();
    queues.set(endpoint, queue);
    return queue;
  }

  return {
    /** Calls `onStart` when the request leaves the queue, before it is written; if it throws, that is the response. */
    send(endpoint: Endpoint, request: Request, fairCaller: object | undefined, onStart: () => void): Exchange {
      const exchange = new Exchange(endpoint, request, onStart);
      atEndOfCallback(() => {
        const queue = queueOf(endpoint);
        if (queue.waiting >= MAX_QUEUED) exchange.abort(noConnection(endpoint));
        if (!exchange.aborted) queue.send(exchange, fairCaller);
      });
      return exchange;
    },
    /** Whether requests of an endpoint wait because others use the connections, not because none can be opened. */
    isBusy(endpoint: Endpoint): boolean {
      const { pool, waiting } = queueOf(endpoint);
      return waiting > 0 && pool.stats.connected > 0;
    },
    /** How many requests are in flight, and how many wait for a connection. */
    load: () => ({
      active: [...queues.values()].reduce((sum, { pool }) => sum + pool.stats.running, 0),
      queued: [...queues.values()].reduce((sum, { waiting }) => sum + waiting, 0),
    }),
    /** Closes every connection; requests in flight fail. */
    async close(): Promise<void> {
      closed = true;
      await Promise.all([...queues.values()].map(({ pool }) => pool.destroy()));
    },
  };
}

/** The part of an endpoint's connections that one fair caller has at most while others wait. */
const FAIR_SHARE = 1 / 4;

/** The requests of one fair caller to one endpoint: how many the Pool has, and those that wait for the caller's turn. */
interface Line {
  inPool: number;
  readonly waiting: Exchange[];
}

/**
 * The requests of one endpoint. The Pool sends them in their order. So when all connections are used, it gets no more of a
 * caller that has its share of them: those wait here, and the callers take turns for connections that nobody else wants.
 */
class Queue {
  readonly pool: Pool;
  readonly #connections: number;
  readonly #share: number;
  /** How many have not begun. Counted, because `pool.stats` visits every connection, 3 µs for each call. */
  waiting = 0;
  #inPool = 0;
  readonly #lines = new WeakMap<object, Line>();
  /** The lines with requests that wait, the next one first. */
  readonly #turns = new Set<Line>();

  constructor(pool: Pool, connections: number) {
    this.pool = pool;
    this.#connections = connections;
    this.#share = Math.max(1, Math.floor(connections * FAIR_SHARE));
  }

  send(exchange: Exchange, fairCaller: object | undefined): void {
    this.waiting += 1;
    exchange.queue = this;
    if (fairCaller) exchange.line = this.#lineOf(fairCaller);
    const { line } = exchange;
    if (line && this.#inPool >= this.#connections && line.inPool >= this.#share) {
      line.waiting.push(exchange);
      this.#turns.add(line);
    } else this.#dispatch(exchange);
  }

  #lineOf(caller: object): Line {
    const line = this.#lines.get(caller) ?? { inPool: 0, waiting: [] };
    this.#lines.set(caller, line);
    return line;
  }

  #dispatch(exchange: Exchange): void {
    this.#inPool += 1;
    if (exchange.line) exchange.line.inPool += 1;
    this.pool.dispatch(exchange.request, exchange);
  }

  /** Called once for each request that the Pool got. */
  ended({ line }: Exchange): void {
    this.#inPool -= 1;
    if (line) {
      line.inPool -= 1;
      if (line.inPool < this.#share) this.#dispatchNext(line);
    }
    for (const next of this.#turns) {
      if (this.#inPool >= this.#connections) return;
      this.#turns.delete(next);
      this.#dispatchNext(next);
      if (next.waiting.length > 0) this.#turns.add(next);
    }
  }

  #dispatchNext(line: Line): void {
    const exchange = line.waiting.shift();
    if (exchange) this.#dispatch(exchange);
    else this.#turns.delete(line);
  }
}

/**
 * Keeps a client that cannot connect in the Pool. By default undici removes it, but it still takes requests from the Pool's
 * queue: beside its replacement, there would be more connections than allowed, which are not counted and not closed. A client
 * that got the certificate of another host stays busy, so that one is removed.
 */
function keepingClients(pool: Pool): Pool {
  const [remove] = pool.listeners('connectionError');
  pool.removeAllListeners('connectionError');
  return pool.on('connectionError', (origin, clients, error) => {
    if ('code' in error && error.code === 'ERR_TLS_CERT_ALTNAME_INVALID') remove?.(origin, clients, error);
  });
}

const NO_HEADERS = {};

/** A request that waits or is in flight. Unlike undici's `request`, it needs no stream and knows when writing begins. */
export class Exchange implements Dispatcher.DispatchHandler {
  #resolve: (response: Response | UpstreamError) => void = () => {};
  /** Resolves to the response, or to the error of the request. Never rejects. */
  readonly response = new Promise<Response | UpstreamError>((resolve) => {
    this.#resolve = resolve;
  });
  /** Whether the service may have received a part of the request. */
  sent = false;
  aborted: UpstreamError | undefined;
  readonly request: Request;
  readonly #endpoint: Endpoint;
  readonly #onStart: () => void;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  /** Whether the whole response has arrived; it is read a little later. */
  #received = false;
  #status = 0;
  #headers: Response['headers'] = NO_HEADERS;
  #controller: Dispatcher.DispatchController | undefined;
  /** Set when it is sent; `queue` until it has ended. */
  queue: Queue | undefined;
  line: Line | undefined;
  /** Whether it has left the queue. */
  #begun = false;

  constructor(endpoint: Endpoint, request: Request, onStart: () => void) {
    this.#endpoint = endpoint;
    this.request = request;
    this.#onStart = onStart;
  }

  #begin(): void {
    if (!this.#begun && this.queue) this.queue.waiting -= 1;
    this.#begun = true;
  }

  #end(): void {
    this.queue?.ended(this);
    this.queue = undefined;
  }

  /** Ends the request at once, unless its response has arrived. One that still waits stays in the queue, and counts there, until its turn comes. */
  abort(reason: UpstreamError): void {
    if (this.#received) return;
    this.aborted ??= reason;
    this.#resolve(reason);
    this.#controller?.abort(reason);
  }

  /** An error thrown here fails the request before it is written and keeps the connection. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#begin();
    if (this.aborted) throw this.aborted;
    this.#onStart();
    this.#controller = controller;
    this.sent = true;
  }

  onResponseStart(_controller: unknown, status: number, headers: Response['headers']): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes <= MAX_RESPONSE_BYTES) return;
    this.abort(new UpstreamError('UPSTREAM_INVALID_RESPONSE', `${this.#endpoint.name}: the body is too large`));
  }

  onResponseEnd(): void {
    this.#received = true;
    this.#end();
    const [first, ...others] = this.#chunks;
    const body = first && others.length === 0 ? first : Buffer.concat(this.#chunks);
    afterSockets(() => this.#resolve({ status: this.#status, headers: this.#headers, body }));
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#begin();
    this.#end();
    this.#resolve(this.aborted ?? errorOf(this.#endpoint, error));
  }
}

/** What an error of undici means; an error of ours is thrown before the request is written. */
function errorOf(endpoint: Endpoint, cause: Error): UpstreamError {
  if (cause instanceof UpstreamError) return cause;
  const code = 'code' in cause && cause.code;
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return timedOut(endpoint, cause);
  return code === 'UND_ERR_INVALID_ARG'
    ? new UpstreamError('UPSTREAM_MISCONFIGURED', `${endpoint.name}: the request cannot be written`, { cause })
    : new UpstreamError('UPSTREAM_UNAVAILABLE', `${endpoint.name}: the connection failed`, { cause, retryable: true });
}

const atEndOfCallback = batchPerTick(process.nextTick);
const afterSockets = batchPerTick(setImmediate);
