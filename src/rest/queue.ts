/* Which request of an endpoint gets the next of its connections. */
import { LRUCache } from 'lru-cache';
import { batchPerTick } from '../batch-per-tick.ts';
import type { Connections } from './connect.ts';
import type { Endpoint } from './endpoints.ts';
import { Exchange, type Line, type Owner, type UpstreamRequest } from './exchange.ts';
import { noConnection } from './upstream-error.ts';

/** How many requests of one endpoint may wait for a connection. */
const MAX_QUEUED = 10_000;
/** How many of these are of one owner at most. */
const MAX_QUEUED_OF_OWNER = MAX_QUEUED / 4;
/** How many players are counted: as many as can wait. */
const MAX_PLAYERS = MAX_QUEUED;
/** The requests of a tick are dispatched together; see batchPerTick. */
const atEndOfCallback = batchPerTick(process.nextTick);

/**
 * The queue of one endpoint. undici's Pool sends what it gets in its order, so it gets no more of an owner that has its share:
 * those requests wait here, and the owners take turns. An owner never has more connections than are left free, so one alone gets at
 * most half; while another waits, at most a quarter. So there is a connection for the next owner, also where requests hang.
 */
export class Queue {
  readonly #endpoint: Endpoint;
  readonly #connections: Connections;
  readonly #size: number;
  /** The connections that an owner has at most while another waits. */
  readonly #share: number;
  /** How many have no connection yet, and how many have one and are not over. */
  waiting = 0;
  active = 0;
  /** How many the Pool has: it waits with some of them for a connection. */
  #dispatched = 0;
  readonly #lines = new WeakMap<object, Line>();
  /** Those of players. No request deletes its entry; see docs/decisions/benchmark-notes.md. */
  readonly #playerLines = new LRUCache<string, Line>({ max: MAX_PLAYERS });
  /** The lines with requests that wait, the next one first. */
  readonly #turns = new Set<Line>();

  /** @param size How many connections there are at most. */
  constructor(endpoint: Endpoint, connections: Connections, size: number) {
    this.#endpoint = endpoint;
    this.#connections = connections;
    this.#size = size;
    this.#share = Math.max(1, Math.floor(size / 4));
  }

  /** @param onStart Called when the request has a connection, before it is written; if it throws, that is the response. */
  send(request: UpstreamRequest, owner: Owner, onStart: () => void): Exchange {
    const exchange = new Exchange(this.#endpoint, request, owner, onStart);
    atEndOfCallback(() => {
      const line = this.#lineOf(owner);
      const room = MAX_QUEUED - this.waiting;
      const isFull = room <= 0 || (line && line.waiting.size >= Math.min(room, MAX_QUEUED_OF_OWNER));
      if (isFull) exchange.abort(noConnection(this.#endpoint));
      if (exchange.aborted) return;
      this.waiting += 1;
      exchange.place = { queue: this, line };
      if (line && !this.#hasTurn(line)) {
        line.waiting.add(exchange);
        this.#turns.add(line);
      } else this.#dispatch(exchange, line);
    });
    return exchange;
  }

  /** Whether requests wait because others use the connections, not because none can be opened. */
  isBusy(): boolean {
    return this.waiting > 0 && this.active > 0;
  }

  /** The requests of players are counted from half of the connections on: below it, each of them has its turn. */
  #lineOf(owner: Owner): Line | undefined {
    const isPlayer = typeof owner === 'string';
    if (isPlayer && this.#dispatched < this.#size / 2) return undefined;
    const known = isPlayer ? this.#playerLines.get(owner) : this.#lines.get(owner);
    if (known) return known;
    const line = { dispatched: 0, waiting: new Set<Exchange>() };
    if (isPlayer) this.#playerLines.set(owner, line);
    else this.#lines.set(owner, line);
    return line;
  }

  /** The first request of each owner goes to the Pool at once. */
  #hasTurn(line: Line): boolean {
    const isAlone = this.#turns.size === 0 || (this.#turns.size === 1 && this.#turns.has(line));
    const most = Math.min(this.#size - this.#dispatched, isAlone ? this.#size : this.#share);
    return line.dispatched === 0 || line.dispatched < most;
  }

  #dispatch(exchange: Exchange, line: Line | undefined): void {
    this.#dispatched += 1;
    if (line) line.dispatched += 1;
    this.#connections.dispatch(exchange.request, exchange);
  }

  /** Called once for each dispatched request, when it has a connection or cannot get one. */
  started(): void {
    this.waiting -= 1;
    this.active += 1;
  }

  /** Called once for each that has started. `ofAnother` says it of its response. */
  ended(line: Line | undefined, ofAnother: boolean | undefined): void {
    this.active -= 1;
    this.#dispatched -= 1;
    if (ofAnother !== undefined) this.#connections.responded(ofAnother);
    if (line) {
      line.dispatched -= 1;
      if (this.#hasTurn(line)) this.#dispatchNext(line);
    }
    for (const next of this.#turns) {
      // Each of these has one at least.
      if (this.#size - this.#dispatched <= 1) return;
      if (!this.#hasTurn(next)) continue;
      this.#turns.delete(next);
      this.#dispatchNext(next);
      if (next.waiting.size > 0) this.#turns.add(next);
    }
  }

  #dispatchNext(line: Line): void {
    const [exchange] = line.waiting;
    if (!exchange) return void this.#turns.delete(line);
    line.waiting.delete(exchange);
    this.#dispatch(exchange, line);
  }

  /** Called for a request that is aborted: one that has not been dispatched leaves the queue. */
  aborted(exchange: Exchange, line: Line | undefined): void {
    if (line?.waiting.delete(exchange)) this.waiting -= 1;
  }

  async close(): Promise<void> {
    await this.#connections.destroy();
  }
}
