import type { Dispatcher } from 'undici';
// The pool alone: undici's index loads fetch, WebSockets, mocks and more with it, which takes 55 ms and 9 MB.
import Pool from 'undici/lib/dispatcher/pool.js';
import { batchPerTick } from './batch-per-tick.ts';
import type { Method } from './call-context.ts';

export interface TransportOptions {
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

export interface Reply {
  status: number;
  /** By lower-case name. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
}

/** A request on its way. */
export interface Sending {
  /** A `NoReply`, or the reason it was aborted for, in place of a reply that did not come. Never rejects. */
  reply: Promise<Reply | Error>;
  /** Ends the request at once, wherever it is. */
  abort(reason: Error): void;
}

export interface Transport {
  send(request: Request): Sending;
  /** Cuts every connection. */
  close(): Promise<void>;
}

/** The service gave no reply that can be read to its end. */
export class NoReply extends Error {
  override readonly name = 'NoReply';
  readonly reason: 'connection' | 'too-large' | 'bad-request';
  /** Whether the request may have reached the service; false only when not a byte of it was written. */
  readonly sent: boolean;

  constructor(reason: NoReply['reason'], sent: boolean, cause?: unknown) {
    super(`No reply: ${reason}`, { cause });
    this.reason = reason;
    this.sent = sent;
  }
}

/**
 * The only place that speaks HTTP to the REST service.
 *
 * One request at a time on each connection, so that no reply can be taken for another's; redirects are not followed, since
 * the keys would follow them; no interceptor caches, retries or merges. Time is the caller's to keep: undici's own body
 * timeout starts anew with every byte.
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
  const sendTogether = batchPerTick((exchange: Exchange) => {
    pool.dispatch(exchange.request, exchange);
  }, process.nextTick);
  return {
    send(request) {
      const exchange = new Exchange(request, maxResponseBytes);
      sendTogether(exchange);
      return exchange;
    },
    close: () => pool.destroy(),
  };
}

/**
 * Collects one reply. undici calls it directly, which spares the stream, the promises and the abort signal that its
 * `request` makes for every call, and tells exactly when a request begins to be written.
 */
class Exchange implements Dispatcher.DispatchHandler, Sending {
  readonly request: Request;
  readonly reply: Promise<Reply | Error>;
  readonly #maxBytes: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #status = 0;
  #headers: Reply['headers'] = {};
  #controller: Dispatcher.DispatchController | undefined;
  #aborted: Error | undefined;
  #resolve: (reply: Reply | Error) => void = () => {};

  constructor(request: Request, maxBytes: number) {
    this.request = request;
    this.#maxBytes = maxBytes;
    this.reply = new Promise((resolve) => {
      this.#resolve = resolve;
    });
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
    if (Number(headers['content-length']) > this.#maxBytes) this.abort(new NoReply('too-large', true));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxBytes) this.abort(new NoReply('too-large', true));
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    takeTogether(this);
  }

  /** The reply is whole. */
  take(): void {
    const [first, second] = this.#chunks;
    const body = first && !second ? first : Buffer.concat(this.#chunks, this.#bytes);
    this.#resolve({ status: this.#status, headers: this.#headers, body });
  }

  onResponseError(_controller: unknown, error: Error): void {
    const refused = 'code' in error && error.code === 'UND_ERR_INVALID_ARG';
    this.#resolve(new NoReply(refused ? 'bad-request' : 'connection', this.#controller !== undefined, error));
  }
}

const takeTogether = batchPerTick((exchange: Exchange) => exchange.take(), setImmediate);
