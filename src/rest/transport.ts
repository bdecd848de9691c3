import { type Dispatcher, Pool } from 'undici';
import type { Endpoint, Method } from './endpoints.ts';
import { noConnection, timedOut, UpstreamError } from './errors.ts';

/** For each endpoint: connections, requests that wait for one, and the time to open one in milliseconds; bytes of a body. */
type Limits = Record<'connections' | 'maxQueued' | 'connectTimeoutMs' | 'maxResponseBytes', number>;

export interface Request {
  method: Method;
  /** Path and query, encoded. */
  path: string;
  /** Names and values in turn. */
  headers: string[];
  body: string | null;
}

export interface Response {
  status: number;
  /** By lower-case name. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
}

export type Transport = ReturnType<typeof createTransport>;

/**
 * The only code that speaks HTTP to the REST service.
 *
 * Each endpoint has a Pool of its own, so that a slow one does not use the connections of the others; the Pool has the queue
 * for them. Each connection has one request at a time, so that a response cannot be assigned to another request. Redirects
 * are not followed, because the keys would be sent to the new address. The caller must set timeouts: undici's own body
 * timeout starts again with every byte.
 */
export function createTransport(origin: string, limits: Limits) {
  const { connections, connectTimeoutMs, maxResponseBytes, maxQueued } = limits;
  const connect = { timeout: connectTimeoutMs };
  const options = { connections, connect, pipelining: 1, allowH2: false, headersTimeout: 0, bodyTimeout: 0 };
  const pools = new Map<Endpoint, Pool>();
  let closed = false;

  function poolOf(endpoint: Endpoint): Pool {
    const pool = pools.get(endpoint) ?? new Pool(origin, options);
    if (closed) void pool.destroy();
    pools.set(endpoint, pool);
    return pool;
  }

  const dispatch = batchPerTick<{ request: Request; exchange: Exchange }>(({ request, exchange }) => {
    const pool = poolOf(exchange.endpoint);
    if (pool.stats.queued >= maxQueued) exchange.abort(noConnection(exchange.endpoint));
    if (!exchange.aborted) pool.dispatch(request, exchange);
  }, process.nextTick);

  return {
    /**
     * @param onStart Called when the request leaves the queue for connections, before it is written. If it throws, the
     * request is not written, and the response is what was thrown.
     */
    send(endpoint: Endpoint, request: Request, onStart: () => void): Exchange {
      const exchange = new Exchange(endpoint, onStart, maxResponseBytes);
      dispatch({ request, exchange });
      return exchange;
    },
    /** How many requests of an endpoint, or of all endpoints, are in flight, and how many wait for a connection. */
    load(endpoint?: Endpoint): { active: number; queued: number } {
      const stats = (endpoint ? [poolOf(endpoint)] : [...pools.values()]).map((pool) => pool.stats);
      const sum = (name: 'running' | 'queued') => stats.reduce((total, one) => total + one[name], 0);
      return { active: sum('running'), queued: sum('queued') };
    },
    /** Closes every connection; requests in flight fail. */
    async close(): Promise<void> {
      closed = true;
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
    },
  };
}

/**
 * A request that waits for a connection or is in flight. As a dispatch handler it needs no stream and no abort signal, which
 * undici's `request` creates for every call, and it knows when undici begins to write the request.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly endpoint: Endpoint;
  /** Resolves to the response, or to the error of the request. Never rejects. */
  readonly response: Promise<Response | UpstreamError>;
  /** Whether the service may have received a part of the request. */
  sent = false;
  aborted: UpstreamError | undefined;
  readonly #onStart: () => void;
  readonly #maxBytes: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #status = 0;
  #headers: Response['headers'] = {};
  #controller: Dispatcher.DispatchController | undefined;
  #resolve: (response: Response | UpstreamError) => void = () => {};

  constructor(endpoint: Endpoint, onStart: () => void, maxBytes: number) {
    this.endpoint = endpoint;
    this.#onStart = onStart;
    this.#maxBytes = maxBytes;
    this.response = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** Ends the request at once. One that still waits stays in the Pool's queue, and counts there, until its turn comes. */
  abort(reason: UpstreamError): void {
    this.aborted ??= reason;
    this.#resolve(reason);
    this.#controller?.abort(reason);
  }

  /** An error thrown here fails the request before it is written and keeps the connection. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.aborted) throw this.aborted;
    this.#onStart();
    this.#controller = controller;
    this.sent = true;
  }

  onResponseStart(_controller: unknown, status: number, headers: Response['headers']): void {
    this.#status = status;
    this.#headers = headers;
    if (Number(headers['content-length']) > this.#maxBytes) this.#refuseBody();
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxBytes) this.#refuseBody();
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    receiveBatched(this);
  }

  receive(): void {
    const [first, second] = this.#chunks;
    const body = first && !second ? first : Buffer.concat(this.#chunks, this.#bytes);
    this.#resolve({ status: this.#status, headers: this.#headers, body });
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#resolve(this.aborted ?? errorOf(this.endpoint, error));
  }

  #refuseBody(): void {
    this.abort(new UpstreamError('UPSTREAM_INVALID_RESPONSE', `${this.endpoint.name}: the body is too large`));
  }
}

/** What an error of undici means; an error of ours is thrown before the request is written. */
function errorOf(endpoint: Endpoint, cause: Error): UpstreamError {
  if (cause instanceof UpstreamError) return cause;
  const { name } = endpoint;
  switch ('code' in cause && cause.code) {
    case 'UND_ERR_INVALID_ARG':
      return new UpstreamError('UPSTREAM_MISCONFIGURED', `${name}: the request cannot be written`, { cause });
    case 'UND_ERR_CONNECT_TIMEOUT':
      return timedOut(endpoint, cause);
    default:
      return new UpstreamError('UPSTREAM_UNAVAILABLE', `${name}: the connection failed`, { cause, retryable: true });
  }
}

const receiveBatched = batchPerTick((exchange: Exchange) => exchange.receive(), setImmediate);

/** How many items one turn of the event loop works on; the rest waits for the next turns, between which sockets are read. */
const MAX_ITEMS = 64;

/**
 * A function that takes items and runs `work`, which must not throw, for all items of a tick in their order.
 *
 * A program that does all its work for one response before it reads the next socket alternates between JavaScript and system
 * calls: each time, the processor's caches contain other data, and each write wakes a peer process that has just begun to
 * sleep. So all requests of a tick are written together, and responses are handled after the sockets were read. Measured with
 * the benchmark of docs/benchmarks.md, 32 connections: 13 % less CPU for a profile (W1), 12 % less for the round trip (W2). A
 * single request does not wait: the loop runs these steps as soon as it has read the request's socket.
 *
 * @param schedule When `work` runs. With `setImmediate`: after the event loop has read its sockets. With `process.nextTick`:
 * after the current callback.
 */
function batchPerTick<Item>(work: (item: Item) => void, schedule: (runAll: () => void) => void): (item: Item) => void {
  let batch: Item[] = [];
  const runAll = () => {
    const items = batch;
    batch = items.length > MAX_ITEMS ? items.splice(MAX_ITEMS) : [];
    if (batch.length > 0) setImmediate(runAll);
    for (const item of items) work(item);
  };
  return (item) => {
    if (batch.push(item) === 1) schedule(runAll);
  };
}
