/*
 * One request to the REST service, from the queue to its response, as undici's handler. Redirects are not followed, because the keys
 * would be sent to the new address. The order of calls, with send.ts and queue.ts:
 *
 *   Call.send → new Exchange → Queue.lease → granted → Connections.dispatch → onRequestStart → Call.beforeSending → onResponseStart
 *   → onResponseData … → onResponseEnd → Queue.release → `response` resolves → Call.send goes on: a result, an error or a retry
 */
import { isUtf8 } from 'node:buffer';
import type { Dispatcher } from 'undici';
import { decodeContent } from '../content-encoding.ts';
import { isJson, parseJson } from '../json.ts';
import { createByteCount, isMemoryShort } from '../memory.ts';
import { batchPerTurn, takeTurn } from '../turns.ts';
import type { CallContext } from './call-context.ts';
import { type Connections, mayBeOtherHost } from './connect.ts';
import type { Endpoint } from './endpoints.ts';
import type { Lease, Queue } from './queue.ts';
import { errorOf, isTlsRefusal, noConnection, notRead, UpstreamError } from './upstream-error.ts';

/** A larger body, in bytes, is an error: it would block the event loop while it is parsed and decoded. */
const MAX_RESPONSE_BYTES = 2 * 1024 * 1024;
/** Larger ones, in bytes, are read in a turn of their own: of 50 with 10,000 coupons, each takes 20 to 40 ms. */
const LARGE_RESPONSE_BYTES = 65_536;

/** Requests are dispatched, and responses read, in parts; see batchPerTurn. */
const atEndOfCallback = batchPerTurn(process.nextTick);
const afterSockets = batchPerTurn(setImmediate);

export type UpstreamRequest = Dispatcher.DispatchOptions;

export interface UpstreamResponse {
  status: number;
  /** By lower-case name. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
}

interface ExchangeCall {
  readonly state: { endpoint: Endpoint; queue: Queue; connections: Connections };
  readonly callContext: Pick<CallContext, 'caller' | 'cancellation'>;
  readonly content: { playerUniqueId: string };
  /** Called when a connection is open and nothing is written yet. If it throws an `UpstreamError`, that is the response. */
  beforeSending(now: number, queuedAt: number): void;
}

const NO_BODY = Buffer.alloc(0);

/**
 * Begins at once: it waits for a lease, and is dispatched at the end of the callback in which it gets it. Unlike undici's `request`,
 * it needs no stream and knows when writing begins.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  #resolve: (response: UpstreamResponse | UpstreamError) => void = () => {};
  /** Resolves to the response, or to the error of the request. Never rejects. */
  readonly response = new Promise<UpstreamResponse | UpstreamError>((resolve) => {
    this.#resolve = resolve;
  });
  /** Whether the service may have received a part of the request. */
  sent = false;
  aborted: UpstreamError | undefined;
  /** When it was created, had a lease, and had an open connection, by `performance.now()`. */
  readonly queuedAt = performance.now();
  grantedAt: number | undefined;
  connectedAt: number | undefined;
  readonly #call: ExchangeCall;
  readonly #request: UpstreamRequest;
  /**
   * It is released when the response has arrived, before it is read, or when undici reports an error. undici cannot remove a request
   * that waits for its connection: one that is aborted keeps its lease until undici reports its error.
   */
  readonly #lease: Lease | undefined;
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Counts the bytes of a large body for its caller; undefined while the body is small. */
  #countBytes: ReturnType<typeof createByteCount> | undefined;
  /** Whether the response is not read, because memory is short. */
  #isRefused = false;
  /** Whether the whole response has arrived; it is read a little later. */
  #received = false;
  #status = 0;
  #headers: UpstreamResponse['headers'] = {};
  #controller: Dispatcher.DispatchController | undefined;

  constructor(request: UpstreamRequest, call: ExchangeCall) {
    this.#request = request;
    this.#call = call;
    const { state, callContext, content } = call;
    this.#lease = state.queue.lease(callContext.caller, content.playerUniqueId, this);
    if (!this.#lease) this.#resolve(noConnection(state.endpoint));
  }

  /** Called by the queue, when the request has its lease. */
  granted(): void {
    this.grantedAt = performance.now();
    atEndOfCallback(() => {
      if (this.aborted) this.#release();
      else this.#call.state.connections.dispatch(this.#request, this);
    });
  }

  /** Ends the request at once, unless the whole response has arrived. */
  abort(reason: UpstreamError): void {
    if (this.#received) return;
    this.aborted ??= reason;
    // undici calls onResponseError.
    if (this.#controller) this.#controller.abort(reason);
    else {
      if (this.#lease?.state === 'pending') this.#release();
      this.#resolve(reason);
    }
  }

  /** An error thrown here keeps the connection. undici passes it to `onResponseError`, which resolves `response` to it. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.aborted) throw this.aborted;
    const now = performance.now();
    this.#call.beforeSending(now, this.queuedAt);
    this.connectedAt = now;
    this.#controller = controller;
    this.sent = true;
  }

  onResponseStart(_controller: unknown, status: number, headers: UpstreamResponse['headers']): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.#bytes += chunk.length;
    const { endpoint } = this.#call.state;
    if (this.#bytes > MAX_RESPONSE_BYTES)
      this.abort(new UpstreamError('UPSTREAM_INVALID_RESPONSE', `${endpoint.name}: the body is too large`));
    else if (this.#mayRead(this.#bytes)) this.#chunks.push(chunk);
    // The rest is received and dropped: aborting would close the connection.
    else this.#chunks = [];
  }

  /** Whether a response of so many bytes is read: a large one is not while memory is short. Counts the bytes of those that are. */
  #mayRead(bytes: number): boolean {
    const { state, callContext } = this.#call;
    const { caller, cancellation } = callContext;
    if (this.#isRefused || bytes <= LARGE_RESPONSE_BYTES) return !this.#isRefused;
    if (!cancellation.reason) {
      this.#countBytes ??= createByteCount(caller.key);
      // Not a function that refers to the exchange: it would keep the body until the operation is over.
      cancellation.listeners.add(this.#countBytes);
      this.#countBytes(bytes);
    }
    this.#isRefused = state.endpoint.method === 'GET' && this.#status < 300 && isMemoryShort(caller.key);
    if (this.#isRefused) this.#countBytes?.();
    return !this.#isRefused;
  }

  onResponseEnd(): void {
    this.#received = true;
    this.#release();
    this.#call.state.connections.responded(mayBeOtherHost(this.#status, this.#headers['content-type']));
    const [first, ...others] = this.#chunks;
    const body = first && others.length === 0 ? first : Buffer.concat(this.#chunks);
    // Some caches lose the header of a compressed body. No text begins with the bytes of gzip (RFC 1952, 2.3.1).
    const encoding = this.#headers['content-encoding'] ?? (body[0] === 0x1f && body[1] === 0x8b ? 'gzip' : undefined);
    if (this.#isRefused) this.#resolve(notRead(this.#call.state.endpoint, this.#status));
    else if (encoding === undefined) afterSockets(() => this.#respond(body));
    else void this.#decode(body, String(encoding));
  }

  #release(): void {
    if (this.#lease) this.#call.state.queue.release(this.#lease);
  }

  #respond(body: Buffer): void {
    const response = { status: this.#status, headers: this.#headers, body };
    if (body.length <= LARGE_RESPONSE_BYTES) this.#resolve(response);
    else void this.#respondInTurn(response);
  }

  /** Checked before the wait too, because waiting responses fill the memory. */
  async #respondInTurn(response: UpstreamResponse): Promise<void> {
    const { state, callContext, content } = this.#call;
    const { length } = response.body;
    if (this.#mayRead(length)) await takeTurn(callContext.caller.key, content.playerUniqueId);
    this.#resolve(this.#mayRead(length) ? response : notRead(state.endpoint, response.status));
  }

  /** For servers, and what is in front of them, that compress although they were asked not to. */
  async #decode(body: Buffer, encoding: string): Promise<void> {
    const decoded = await decodeContent(body, encoding, MAX_RESPONSE_BYTES);
    if (typeof decoded !== 'string') return this.#respond(decoded);
    // `Content-Encoding: UTF-8` is a frequent mistake, and a proxy may decode a body and leave the header. The status of an error
    // says enough.
    if (this.#status >= 300 || (decoded !== 'too large' && isUtf8(body))) return this.#respond(body);
    const message = `${this.#call.state.endpoint.name}: the body (content-encoding: ${encoding.slice(0, 50)}) is ${decoded}`;
    this.#fail(new UpstreamError('UPSTREAM_INVALID_RESPONSE', message, { status: this.#status }));
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.sent &&= !isTlsRefusal(error);
    this.#release();
    this.#fail(this.aborted ?? errorOf(this.#call.state.endpoint, error, this.sent));
  }

  /**
   * When the end of a response does not arrive, or its body cannot be decoded, its status alone decides about a write: from 201 on
   * it says what was done, and 200 does with a whole object. 204 and 205 have no body; some services send one all the same, or its
   * length, which undici refuses.
   */
  #fail(error: UpstreamError): void {
    const isWrite = this.#call.state.endpoint.method !== 'GET';
    const body = isWrite ? Buffer.concat(this.#chunks) : NO_BODY;
    if (this.#status === 204 || this.#status === 205) this.#respond(NO_BODY);
    else if (isWrite && (this.#status > 200 || isJson(parseJson(body.toString().trim())))) this.#respond(body);
    else {
      this.#countBytes?.();
      this.#resolve(error);
    }
  }
}
