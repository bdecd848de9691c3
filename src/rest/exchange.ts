/*
 * One request to the REST service and its response, as undici's handler: the queue of its endpoint (queue.ts) decides when it is
 * sent, and the endpoint's connections (connect.ts) send it. Redirects are not followed, because the keys would be sent to the new
 * address.
 */
import { isUtf8 } from 'node:buffer';
import type { Dispatcher } from 'undici';
import { batchPerTick } from '../batch-per-tick.ts';
import { decodeContent } from '../content-encoding.ts';
import { createTurns } from '../turns.ts';
import { mayBeOtherHost } from './connect.ts';
import type { Endpoint } from './endpoints.ts';
import { errorOf, isTlsRefusal, UpstreamError } from './upstream-error.ts';

/** Larger responses, in bytes, would block the event loop while they are parsed and decoded. */
const MAX_RESPONSE_BYTES = 2 * 1024 * 1024;
/** Larger ones, in bytes, are read in a turn of their own: of 50 with 10,000 coupons, each takes 20 to 40 ms. */
const LARGE_RESPONSE_BYTES = 65_536;

/** Responses are read in parts; see batchPerTick. */
const afterSockets = batchPerTick(setImmediate);
const takeTurn = createTurns();

export type UpstreamRequest = Dispatcher.DispatchOptions;

export interface UpstreamResponse {
  status: number;
  /** By lower-case name. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
}

/** The requests of one flow to one endpoint; see queue.ts. */
export interface Flow {
  /** How many have been given to the Pool and are not over. */
  dispatched: number;
  /** Those that the queue holds back. */
  readonly held: Set<Exchange>;
}

/** What an exchange tells its queue: that it has a connection, that it is over, that it was aborted. */
interface CountingQueue {
  onConnected(): void;
  onEnded(flow: Flow | undefined, fromOtherHost: boolean | undefined): void;
  onAborted(exchange: Exchange, flow: Flow | undefined): void;
}

/** Called when a request has a connection, before it is written, with both times. If it throws, that is the response. */
export type BeforeSending = (queuedAt: number, now: number) => void;

const NO_HEADERS = {};
const NO_BODY = Buffer.alloc(0);

/**
 * One request that waits or is in flight, and its response. Unlike undici's `request`, it needs no stream and knows when writing
 * begins.
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
  readonly request: UpstreamRequest;
  /** When it was queued, and when it got a connection, by `performance.now()`. */
  readonly queuedAt = performance.now();
  connectedAt: number | undefined;
  readonly #endpoint: Endpoint;
  readonly #turnKey: string;
  readonly #beforeSending: BeforeSending;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  /** Whether the whole response has arrived; it is read a little later. */
  #received = false;
  #status = 0;
  #headers: UpstreamResponse['headers'] = NO_HEADERS;
  #controller: Dispatcher.DispatchController | undefined;
  /** The queue and the flow that count this request, from when it is queued until it is over. */
  countedBy: { readonly queue: CountingQueue; readonly flow: Flow | undefined } | undefined;
  #isConnected = false;

  constructor(endpoint: Endpoint, request: UpstreamRequest, turnKey: string, beforeSending: BeforeSending) {
    this.#endpoint = endpoint;
    this.request = request;
    this.#turnKey = turnKey;
    this.#beforeSending = beforeSending;
  }

  #countConnected(): void {
    if (!this.#isConnected) this.countedBy?.queue.onConnected();
    this.#isConnected = true;
  }

  /** @param fromOtherHost Undefined when there is no response. */
  #end(fromOtherHost: boolean | undefined): void {
    this.countedBy?.queue.onEnded(this.countedBy.flow, fromOtherHost);
    this.countedBy = undefined;
  }

  /**
   * Ends the request at once, unless the whole response has arrived. undici cannot remove a request from the Pool's queue: an
   * aborted one stays there, and is counted, until it gets a connection.
   */
  abort(reason: UpstreamError): void {
    if (this.#received) return;
    this.aborted ??= reason;
    this.#fail(reason);
    this.countedBy?.queue.onAborted(this, this.countedBy.flow);
    this.#controller?.abort(reason);
  }

  /** An error thrown here keeps the connection. undici passes it to `onResponseError`, which resolves `response` to it. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#countConnected();
    if (this.aborted) throw this.aborted;
    const now = performance.now();
    this.#beforeSending(this.queuedAt, now);
    this.connectedAt = now;
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
    this.#end(mayBeOtherHost(this.#status, this.#headers['content-type']));
    const [first, ...others] = this.#chunks;
    const body = first && others.length === 0 ? first : Buffer.concat(this.#chunks);
    if (this.#headers['content-encoding'] === undefined) afterSockets(() => this.#respond(body));
    else void this.#decode(body, String(this.#headers['content-encoding']));
  }

  #respond(body: Buffer): void {
    const response = { status: this.#status, headers: this.#headers, body };
    if (body.length <= LARGE_RESPONSE_BYTES) this.#resolve(response);
    else void takeTurn(this.#turnKey).then(() => this.#resolve(response));
  }

  /** For servers, and what is in front of them, that compress although they were asked not to. */
  async #decode(body: Buffer, encoding: string): Promise<void> {
    const decoded = await decodeContent(body, encoding, MAX_RESPONSE_BYTES);
    if (typeof decoded !== 'string') return this.#respond(decoded);
    // `Content-Encoding: UTF-8` is a frequent mistake, and a proxy may decode a body and leave the header. The status of an error
    // says enough.
    if (this.#status >= 300 || (decoded !== 'too large' && isUtf8(body))) return this.#respond(body);
    const message = `${this.#endpoint.name}: the body (content-encoding: ${encoding.slice(0, 50)}) is ${decoded}`;
    this.#resolve(new UpstreamError('UPSTREAM_INVALID_RESPONSE', message, { status: this.#status }));
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.sent &&= !isTlsRefusal(error);
    // A request that never got a connection is counted as connected, and then as ended.
    this.#countConnected();
    this.#end(undefined);
    this.#fail(this.aborted ?? errorOf(this.#endpoint, error));
  }

  /**
   * When the body of a response does not arrive, its status alone decides about a write: from 201 on it says what was done. 204 and
   * 205 have no body; some services send one all the same, or its length, which undici refuses.
   */
  #fail(error: UpstreamError): void {
    if (this.#status === 204 || this.#status === 205) this.#respond(NO_BODY);
    else if (this.#status > 200 && this.#endpoint.method !== 'GET') this.#respond(Buffer.concat(this.#chunks));
    else this.#resolve(error);
  }
}
