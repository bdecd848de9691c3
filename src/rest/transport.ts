import { type Dispatcher, Pool } from 'undici';
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
    const queue = queues.get(endpoint) ?? { pool: keepingClients(new Pool(origin, options)), waiting: 0 };
    if (closed) void queue.pool.destroy();
    queues.set(endpoint, queue);
    return queue;
  }

  return {
    /** Calls `onStart` when the request leaves the queue, before it is written; if it throws, that is the response. */
    send(endpoint: Endpoint, request: Request, onStart: () => void): Exchange {
      const exchange = new Exchange(endpoint, onStart);
      atEndOfCallback(() => {
        const queue = queueOf(endpoint);
        if (queue.waiting >= MAX_QUEUED) exchange.abort(noConnection(endpoint));
        if (!exchange.aborted) exchange.dispatch(queue, request);
      });
      return exchange;
    },
    /** Whether requests of an endpoint wait because others use the connections, not because none can be opened. */
    isBusy(endpoint: Endpoint): boolean {
      const { queued, connected } = queueOf(endpoint).pool.stats;
      return queued > 0 && connected > 0;
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

/** The requests of one endpoint. Those that wait are counted here: `pool.stats` visits every connection, 3 µs for each call. */
interface Queue {
  readonly pool: Pool;
  /** How many were given to the Pool and have not begun. */
  waiting: number;
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
  readonly #endpoint: Endpoint;
  readonly #onStart: () => void;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  /** Whether the whole response has arrived; it is read a little later. */
  #received = false;
  #status = 0;
  #headers: Response['headers'] = NO_HEADERS;
  #controller: Dispatcher.DispatchController | undefined;
  /** Until it leaves the queue. */
  #queue: Queue | undefined;

  constructor(endpoint: Endpoint, onStart: () => void) {
    this.#endpoint = endpoint;
    this.#onStart = onStart;
  }

  dispatch(queue: Queue, request: Request): void {
    queue.waiting += 1;
    this.#queue = queue;
    queue.pool.dispatch(request, this);
  }

  #leaveQueue(): void {
    if (this.#queue) this.#queue.waiting -= 1;
    this.#queue = undefined;
  }

  /** Ends the request at once, unless its response has arrived. One that still waits stays in the Pool's queue, and counts there, until its turn comes. */
  abort(reason: UpstreamError): void {
    if (this.#received) return;
    this.aborted ??= reason;
    this.#resolve(reason);
    this.#controller?.abort(reason);
  }

  /** An error thrown here fails the request before it is written and keeps the connection. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#leaveQueue();
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
    const [first, ...others] = this.#chunks;
    const body = first && others.length === 0 ? first : Buffer.concat(this.#chunks);
    afterSockets(() => this.#resolve({ status: this.#status, headers: this.#headers, body }));
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#leaveQueue();
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

/** How many functions run in one callback, and how many such callbacks in one turn of the event loop; the rest waits. */
const PART = 16;
const MAX_PARTS = 4;

/**
 * Returns a function that runs the work of a tick in parts of 16, in its order; the work must not throw.
 *
 * Requests are begun, sent upstream and answered in such parts. Otherwise JavaScript and system calls alternate for each of
 * them, and the processor's caches contain other code each time. Measured with docs/benchmarks.md on 2 cores, 32 connections:
 * without this a profile (W1) takes 30 % more CPU, and the round trip (W2) 30 to 40 %. Between two parts Node runs the microtasks
 * of the first, so that the data of few operations is in memory at once: parts of 64 take a tenth more under W4. A request alone
 * does not wait: the event loop runs it as soon as it has read the sockets.
 */
export function batchPerTick(schedule: (run: () => void) => void): (work: () => void) => void {
  const waiting: (() => void)[] = [];
  let scheduled = 0;
  const scheduleBy = (when: typeof schedule) => {
    if (scheduled === MAX_PARTS || scheduled * PART >= waiting.length) return;
    scheduled += 1;
    when(run);
  };
  const run = () => {
    scheduled -= 1;
    for (const work of waiting.splice(0, PART)) work();
    scheduleBy(setImmediate);
  };
  return (work) => {
    waiting.push(work);
    scheduleBy(schedule);
  };
}

type Reason = 'the client disconnected' | 'the deadline passed' | 'the operation is over';

/**
 * Ends the REST calls of one operation: its client disconnected, its deadline passed, or it does not need them.
 * An AbortController with a timer would do the same, but creating its signal and listeners took 4 % of a small request.
 */
export class Cancellation {
  /** When the operation must be over, on the clock of `performance.now()`, in milliseconds. */
  readonly deadline: number;
  /** Undefined until it is cancelled. */
  reason: Reason | undefined;
  readonly #listeners = new Set<() => void>();
  readonly #timer: NodeJS.Timeout;

  constructor(deadline: number) {
    this.deadline = deadline;
    this.#timer = setTimeout(() => this.cancel('the deadline passed'), Math.max(0, deadline - performance.now()));
  }

  /** Calls each listener, the first time. */
  cancel(reason: Reason): void {
    if (this.reason) return;
    this.reason = reason;
    for (const listener of this.#listeners) listener();
  }

  /** Adds a listener; `delete` removes it. */
  add(listener: () => void): void {
    this.#listeners.add(listener);
  }

  delete(listener: () => void): void {
    this.#listeners.delete(listener);
  }

  /** Called when the operation is over. What still waits for a connection, such as the coupons of no player, is not sent. */
  end(): void {
    clearTimeout(this.#timer);
    this.cancel('the operation is over');
  }
}
