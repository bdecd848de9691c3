import { isUtf8 } from 'node:buffer';
import type { Dispatcher } from 'undici';
import { batchPerTick } from '../batch-per-tick.ts';
import { decodeContent } from '../content-encoding.ts';
import type { Endpoint } from './endpoints.ts';
import { type Line, Queue } from './queue.ts';
import { noConnection, timedOut, UpstreamError } from './upstream-error.ts';

/** How many requests of one endpoint may wait for a connection. */
const MAX_QUEUED = 10_000;
/** Larger responses, in bytes, would block the event loop while they are parsed and decoded. */
const MAX_RESPONSE_BYTES = 2 * 1024 * 1024;

export type UpstreamRequest = Dispatcher.DispatchOptions;

export interface UpstreamResponse {
  status: number;
  /** By lower-case name. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
}

export type Transport = ReturnType<typeof createTransport>;

/**
 * The only code that speaks HTTP to the REST service. Each endpoint has connections of its own, so that a slow one does not use
 * those of the others. Redirects are not followed, because the keys would be sent to the new address.
 * @param connect Creates the connections of an endpoint, `connections` at most.
 */
export function createTransport(connect: () => Dispatcher, connections: number) {
  const queues = new Map<Endpoint, Queue>();
  let closed = false;

  function queueOf(endpoint: Endpoint): Queue {
    const queue = queues.get(endpoint) ?? new Queue(connect, connections);
    if (closed) void queue.destroy();
    queues.set(endpoint, queue);
    return queue;
  }

  return {
    /** Calls `onStart` when the request leaves the queue, before it is written; if it throws, that is the response. */
    send(endpoint: Endpoint, request: UpstreamRequest, fairCaller: object | undefined, onStart: () => void): Exchange {
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
      const { waiting, active } = queueOf(endpoint);
      return waiting > 0 && active > 0;
    },
    /** How many requests are in flight, and how many wait for a connection. */
    load: () => ({
      active: [...queues.values()].reduce((sum, { active }) => sum + active, 0),
      queued: [...queues.values()].reduce((sum, { waiting }) => sum + waiting, 0),
    }),
    /** Closes every connection; requests in flight fail. */
    async close(): Promise<void> {
      closed = true;
      await Promise.all([...queues.values()].map((queue) => queue.destroy()));
    },
  };
}

const NO_HEADERS = {};
const NO_BODY = Buffer.alloc(0);

/** A request that waits or is in flight. Unlike undici's `request`, it needs no stream and knows when writing begins. */
export class Exchange implements Dispatcher.DispatchHandler {
  #resolve: (response: UpstreamResponse | UpstreamError) => void = () => {};
  /** Resolves to the response, or to the error of the request. Never rejects. */
  readonly response = new Promise<UpstreamResponse | UpstreamError>((resolve) => {
    this.#resolve = resolve;
  });
  /** Whether the service may have received a part of the request. */
  sent = false;
  aborted: UpstreamError | undefined;
  readonly request: UpstreamRequest;
  readonly #endpoint: Endpoint;
  readonly #onStart: () => void;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  /** Whether the whole response has arrived; it is read a little later. */
  #received = false;
  #status = 0;
  #headers: UpstreamResponse['headers'] = NO_HEADERS;
  #controller: Dispatcher.DispatchController | undefined;
  /** Set when it is sent; `queue` until it has ended. */
  queue: Queue | undefined;
  line: Line | undefined;
  /** Whether it has left the queue. */
  #begun = false;

  constructor(endpoint: Endpoint, request: UpstreamRequest, onStart: () => void) {
    this.#endpoint = endpoint;
    this.request = request;
    this.#onStart = onStart;
  }

  #begin(): void {
    if (!this.#begun) this.queue?.began();
    this.#begun = true;
  }

  /** @param status Undefined when there is no response. */
  #end(status: number | undefined): void {
    this.queue?.ended(this, status);
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

  onResponseStart(_controller: unknown, status: number, headers: UpstreamResponse['headers']): void {
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
    this.#end(this.#status);
    const [first, ...others] = this.#chunks;
    const body = first && others.length === 0 ? first : Buffer.concat(this.#chunks);
    if (this.#headers['content-encoding'] === undefined) afterSockets(() => this.#respond(body));
    else void this.#decode(body, String(this.#headers['content-encoding']));
  }

  #respond(body: Buffer): void {
    this.#resolve({ status: this.#status, headers: this.#headers, body: inUtf8(body, this.#headers['content-type']) });
  }

  /** For servers, and what is in front of them, that compress although they were asked not to. */
  async #decode(body: Buffer, encoding: string): Promise<void> {
    const decoded = await decodeContent(body, encoding, MAX_RESPONSE_BYTES);
    if (typeof decoded !== 'string') return this.#respond(decoded);
    // `Content-Encoding: UTF-8` is a frequent mistake, and a proxy may decode a body and leave the header.
    if (decoded !== 'too large' && isUtf8(body)) return this.#respond(body);
    // The status of an error says enough.
    if (this.#status >= 300) return this.#respond(NO_BODY);
    const message = `${this.#endpoint.name}: the body (content-encoding: ${encoding.slice(0, 50)}) is ${decoded}`;
    this.#resolve(new UpstreamError('UPSTREAM_INVALID_RESPONSE', message, { status: this.#status }));
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#begin();
    this.#end(undefined);
    this.#resolve(this.aborted ?? errorOf(this.#endpoint, error));
  }
}

/** A text in the character set that its type names. Some services name one and send UTF-8 all the same. */
function inUtf8(body: Buffer, type: unknown): Buffer {
  const [, charset] = /;\s*charset\s*=\s*"?(?!utf-?8\b)([\w-]+)/i.exec(String(type)) ?? [];
  if (charset === undefined || isUtf8(body)) return body;
  try {
    return Buffer.from(new TextDecoder(charset).decode(body));
  } catch {
    return body;
  }
}

/** What an error of undici means; an error of ours is thrown before the request is written. */
function errorOf(endpoint: Endpoint, cause: Error): UpstreamError {
  if (cause instanceof UpstreamError) return cause;
  const code = 'code' in cause && cause.code;
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return timedOut(endpoint, cause);
  const [, refusal] = /^Proxy response \((\d+)\)/.exec(cause.message) ?? [];
  const problem = refusal ? `the egress proxy responded ${refusal}` : 'the connection failed';
  return code === 'UND_ERR_INVALID_ARG'
    ? new UpstreamError('UPSTREAM_MISCONFIGURED', `${endpoint.name}: the request cannot be written`, { cause })
    : new UpstreamError('UPSTREAM_UNAVAILABLE', `${endpoint.name}: ${problem}`, { cause, retryable: true });
}

const atEndOfCallback = batchPerTick(process.nextTick);
const afterSockets = batchPerTick(setImmediate);
