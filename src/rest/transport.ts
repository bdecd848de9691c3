import { type Dispatcher, Pool } from 'undici';
import { batchPerTick } from './batch-per-tick.ts';
import type { Endpoint, Method } from './endpoints.ts';

interface TransportOptions {
  /** Scheme, host and port of the REST service. */
  origin: string;
  /** How many connections are opened at most for each endpoint. */
  connections: number;
  /** How long opening a connection may take, in milliseconds. */
  connectTimeoutMs: number;
  /** The largest body that is accepted, in bytes. */
  maxResponseBytes: number;
  /** How many requests of one endpoint may wait for a connection; the next one gets `queue-full`. */
  maxQueued: number;
}

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

/** A request that waits for a connection or is in flight. */
export interface Exchange {
  /** Resolves to the response, to a `NoResponse`, or to the reason of the abort. Never rejects. */
  readonly response: Promise<Response | Error>;
  /** Whether the service may have received a part of the request. */
  readonly sent: boolean;
  /** Ends the request at once, in any state. */
  abort(reason: Error): void;
}

export interface Transport {
  /**
   * @param onStart Called when the request leaves the queue for connections, before it is written. If it throws, the request
   * is not written, and the response is what was thrown.
   */
  send(endpoint: Endpoint, request: Request, onStart: () => void): Exchange;
  /** How many requests of an endpoint, or of all endpoints, are in flight, and how many wait for a connection. */
  load(endpoint?: Endpoint): { active: number; queued: number };
  /** Closes every connection; requests in flight fail. */
  close(): Promise<void>;
}

/** The service gave no complete response. */
export class NoResponse extends Error {
  override readonly name = 'NoResponse';
  readonly reason: 'connection' | 'connect-timeout' | 'too-large' | 'bad-request' | 'queue-full';

  constructor(reason: NoResponse['reason'], cause?: unknown) {
    super(`No response: ${reason}`, { cause });
    this.reason = reason;
  }
}

/**
 * The only code that speaks HTTP to the REST service.
 *
 * Each endpoint has a Pool of its own, so that a slow one does not use the connections of the others; the Pool has the queue
 * for them. Each connection has one request at a time, so that a response cannot be assigned to another request. Redirects
 * are not followed, because the keys would be sent to the new address. The caller must set timeouts: undici's own body
 * timeout starts again with every byte.
 */
export function createTransport({
  origin,
  connections,
  connectTimeoutMs,
  maxResponseBytes,
  maxQueued,
}: TransportOptions): Transport {
  const pools = new Map<Endpoint, Pool>();
  const connect = { timeout: connectTimeoutMs };
  const options = { connections, connect, pipelining: 1, allowH2: false, headersTimeout: 0, bodyTimeout: 0 };
  let closed = false;

  function poolOf(endpoint: Endpoint): Pool {
    let pool = pools.get(endpoint);
    if (!pool) {
      pool = new Pool(origin, options);
      if (closed) void pool.destroy();
      pools.set(endpoint, pool);
    }
    return pool;
  }

  const dispatch = batchPerTick<{ endpoint: Endpoint; request: Request; exchange: PoolExchange }>(
    ({ endpoint, request, exchange }) => {
      const pool = poolOf(endpoint);
      if (pool.stats.queued >= maxQueued) exchange.abort(new NoResponse('queue-full'));
      if (!exchange.aborted) pool.dispatch(request, exchange);
    },
    process.nextTick,
  );

  return {
    send(endpoint, request, onStart) {
      const exchange = new PoolExchange(onStart, maxResponseBytes);
      dispatch({ endpoint, request, exchange });
      return exchange;
    },
    load(endpoint) {
      const stats = (endpoint ? [poolOf(endpoint)] : [...pools.values()]).map((pool) => pool.stats);
      return {
        active: stats.reduce((sum, { running }) => sum + running, 0),
        queued: stats.reduce((sum, { queued }) => sum + queued, 0),
      };
    },
    async close() {
      closed = true;
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
    },
  };
}

/**
 * Collects one response. As a dispatch handler it needs no stream and no abort signal, which undici's `request` creates for
 * every call, and it knows when undici begins to write the request.
 */
class PoolExchange implements Dispatcher.DispatchHandler, Exchange {
  readonly response: Promise<Response | Error>;
  readonly #onStart: () => void;
  readonly #maxBytes: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #status = 0;
  #headers: Response['headers'] = {};
  #controller: Dispatcher.DispatchController | undefined;
  #aborted: Error | undefined;
  #resolve: (response: Response | Error) => void = () => {};

  constructor(onStart: () => void, maxBytes: number) {
    this.#onStart = onStart;
    this.#maxBytes = maxBytes;
    this.response = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get sent(): boolean {
    return this.#controller !== undefined;
  }

  get aborted(): boolean {
    return this.#aborted !== undefined;
  }

  /** A request that still waits stays in the Pool's queue, and counts there, until its turn comes. */
  abort(reason: Error): void {
    this.#aborted ??= reason;
    this.#resolve(reason);
    this.#controller?.abort(reason);
  }

  /** An error thrown here fails the request before it is written and keeps the connection. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#aborted) throw this.#aborted;
    try {
      this.#onStart();
    } catch (error) {
      this.#aborted = error instanceof Error ? error : new Error('The request was rejected.', { cause: error });
      throw this.#aborted;
    }
    this.#controller = controller;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.#status = status;
    this.#headers = headers;
    if (Number(headers['content-length']) > this.#maxBytes) this.abort(new NoResponse('too-large'));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxBytes) this.abort(new NoResponse('too-large'));
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    receiveBatched(this);
  }

  /** The response is complete. */
  receive(): void {
    const [first, second] = this.#chunks;
    const body = first && !second ? first : Buffer.concat(this.#chunks, this.#bytes);
    this.#resolve({ status: this.#status, headers: this.#headers, body });
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#resolve(this.#aborted ?? new NoResponse(reasonOf(error), error));
  }
}

const receiveBatched = batchPerTick((exchange: PoolExchange) => exchange.receive(), setImmediate);

function reasonOf(error: Error): NoResponse['reason'] {
  switch ('code' in error ? error.code : undefined) {
    case 'UND_ERR_INVALID_ARG':
      return 'bad-request';
    case 'UND_ERR_CONNECT_TIMEOUT':
      return 'connect-timeout';
    default:
      return 'connection';
  }
}
