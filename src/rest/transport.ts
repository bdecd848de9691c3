import { type Dispatcher, Pool } from 'undici';
import { batchPerTick } from './batch-per-tick.ts';
import type { Method } from './endpoints.ts';

interface TransportOptions {
  /** Scheme, host and port of the REST service. */
  origin: string;
  /** How many connections are opened at most. */
  connections: number;
  /** How long opening a connection may take, in milliseconds. */
  connectTimeoutMs: number;
  /** The largest body that is accepted, in bytes. */
  maxResponseBytes: number;
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

/** A request in flight. */
export interface Exchange {
  /** Resolves to the response, to a `NoResponse`, or to the reason of the abort. Never rejects. */
  readonly response: Promise<Response | Error>;
  /** Whether the service may have received a part of the request. */
  readonly sent: boolean;
  /** Ends the request at once, in any state. */
  abort(reason: Error): void;
}

export interface Transport {
  send(request: Request): Exchange;
  /** Closes every connection; requests in flight fail. */
  close(): Promise<void>;
}

/** The service gave no complete response. */
export class NoResponse extends Error {
  override readonly name = 'NoResponse';
  readonly reason: 'connection' | 'too-large' | 'bad-request';
  /** Whether the service may have received the request; false only when not a byte of it was written. */
  readonly sent: boolean;

  constructor(reason: NoResponse['reason'], sent: boolean, cause?: unknown) {
    super(`No response: ${reason}`, { cause });
    this.reason = reason;
    this.sent = sent;
  }
}

/**
 * The only code that speaks HTTP to the REST service.
 *
 * Each connection has one request at a time, so that a response cannot be assigned to another request. Redirects are not
 * followed, because the keys would be sent to the new address. No interceptor caches, retries or merges requests. The caller
 * must set timeouts: undici's own body timeout starts again with every byte.
 */
export function createTransport({
  origin,
  connections,
  connectTimeoutMs,
  maxResponseBytes,
}: TransportOptions): Transport {
  const pool = new Pool(origin, {
    connections,
    pipelining: 1,
    allowH2: false,
    connect: { timeout: connectTimeoutMs },
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const sendBatched = batchPerTick((exchange: PoolExchange) => {
    pool.dispatch(exchange.request, exchange);
  }, process.nextTick);
  return {
    send(request) {
      const exchange = new PoolExchange(request, maxResponseBytes);
      sendBatched(exchange);
      return exchange;
    },
    close: () => pool.destroy(),
  };
}

/**
 * Collects one response. As a dispatch handler it needs no stream and no abort signal, which undici's `request` creates for
 * every call, and it knows when undici begins to write the request.
 */
class PoolExchange implements Dispatcher.DispatchHandler, Exchange {
  readonly request: Request;
  readonly response: Promise<Response | Error>;
  readonly #maxBytes: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #status = 0;
  #headers: Response['headers'] = {};
  #controller: Dispatcher.DispatchController | undefined;
  #aborted: Error | undefined;
  #resolve: (response: Response | Error) => void = () => {};

  constructor(request: Request, maxBytes: number) {
    this.request = request;
    this.#maxBytes = maxBytes;
    this.response = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get sent(): boolean {
    return this.#controller !== undefined;
  }

  abort(reason: Error): void {
    this.#aborted = reason;
    this.#resolve(reason);
    this.#controller?.abort(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#aborted) controller.abort(this.#aborted);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.#status = status;
    this.#headers = headers;
    if (Number(headers['content-length']) > this.#maxBytes) this.abort(new NoResponse('too-large', true));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxBytes) this.abort(new NoResponse('too-large', true));
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    receiveBatched(this);
  }

  onResponseError(_controller: unknown, error: Error): void {
    const isRefused = 'code' in error && error.code === 'UND_ERR_INVALID_ARG';
    this.#resolve(new NoResponse(isRefused ? 'bad-request' : 'connection', this.sent, error));
  }

  /** The response is complete. */
  receive(): void {
    const [first, second] = this.#chunks;
    const body = first && !second ? first : Buffer.concat(this.#chunks, this.#bytes);
    this.#resolve({ status: this.#status, headers: this.#headers, body });
  }
}

const receiveBatched = batchPerTick((exchange: PoolExchange) => exchange.receive(), setImmediate);
