/* Which request of an endpoint gets the next of its connections. */
import { LRUCache } from 'lru-cache';
import { batchPerTick } from '../batch-per-tick.ts';
import type { Connections } from './connect.ts';
import type { Endpoint } from './endpoints.ts';
import { Exchange, type Owner, type OwnerQueue, type UpstreamRequest } from './exchange.ts';
import { noConnection } from './upstream-error.ts';

/** How many requests of one endpoint may wait for a connection. */
const MAX_QUEUED = 10_000;
/** How many of these are of one owner at most. */
const MAX_QUEUED_OF_OWNER = MAX_QUEUED / 4;
/** For how many players the calls of servers are counted: as many as can wait. */
const MAX_PLAYERS = MAX_QUEUED;
/** The requests of a tick are dispatched together; see batchPerTick. */
const atEndOfCallback = batchPerTick(process.nextTick);

/**
 * The queue of one endpoint. undici's Pool sends requests in the order in which it gets them, so those of an owner that has its
 * share wait here, and the owners take turns. An owner never has more connections than are left free: alone it gets at most half of
 * them, and at most a quarter while another waits. So one is left for the next owner, even if requests hang.
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
  readonly #queuesOfCallers = new WeakMap<object, OwnerQueue>();
  /** Those of servers' calls, by player. No request deletes its entry; see docs/decisions/benchmark-notes.md. */
  readonly #queuesOfPlayers = new LRUCache<string, OwnerQueue>({ max: MAX_PLAYERS });
  /** The owners with requests that wait, the next one first. */
  readonly #turns = new Set<OwnerQueue>();

  /** @param size How many connections there are at most. */
  constructor(endpoint: Endpoint, connections: Connections, size: number) {
    this.#endpoint = endpoint;
    this.#connections = connections;
    this.#size = size;
    this.#share = Math.max(1, Math.floor(size / 4));
  }

  /** @param onConnection Called when the request has a connection, before it is written; if it throws, that is the response. */
  enqueue(request: UpstreamRequest, owner: Owner, onConnection: () => void): Exchange {
    const exchange = new Exchange(this.#endpoint, request, owner, onConnection);
    atEndOfCallback(() => {
      const ofOwner = this.#queueOf(owner);
      const room = MAX_QUEUED - this.waiting;
      const isFull = room <= 0 || (ofOwner && ofOwner.waiting.size >= Math.min(room, MAX_QUEUED_OF_OWNER));
      if (isFull) exchange.abort(noConnection(this.#endpoint));
      if (exchange.aborted) return;
      this.waiting += 1;
      exchange.queued = { queue: this, ofOwner };
      if (ofOwner && !this.#hasTurn(ofOwner)) {
        ofOwner.waiting.add(exchange);
        this.#turns.add(ofOwner);
      } else this.#dispatch(exchange, ofOwner);
    });
    return exchange;
  }

  /** Whether requests wait because others use the connections, not because none can be opened. */
  isBusy(): boolean {
    return this.waiting > 0 && this.active > 0;
  }

  /** Calls of servers are counted by their player while at least half of the connections are in use; below that they are not. */
  #queueOf(owner: Owner): OwnerQueue | undefined {
    const isOfServer = typeof owner === 'string';
    if (isOfServer && this.#dispatched < this.#size / 2) return undefined;
    const existing = isOfServer ? this.#queuesOfPlayers.get(owner) : this.#queuesOfCallers.get(owner);
    if (existing) return existing;
    const ofOwner = { dispatched: 0, waiting: new Set<Exchange>() };
    if (isOfServer) this.#queuesOfPlayers.set(owner, ofOwner);
    else this.#queuesOfCallers.set(owner, ofOwner);
    return ofOwner;
  }

  /** The first request of each owner goes to the Pool at once. */
  #hasTurn(ofOwner: OwnerQueue): boolean {
    const isAlone = this.#turns.size === 0 || (this.#turns.size === 1 && this.#turns.has(ofOwner));
    const most = Math.min(this.#size - this.#dispatched, isAlone ? this.#size : this.#share);
    return ofOwner.dispatched === 0 || ofOwner.dispatched < most;
  }

  #dispatch(exchange: Exchange, ofOwner: OwnerQueue | undefined): void {
    this.#dispatched += 1;
    if (ofOwner) ofOwner.dispatched += 1;
    this.#connections.dispatch(exchange.request, exchange);
  }

  /** Called once for each dispatched request, when it has a connection or cannot get one. */
  onConnected(): void {
    this.waiting -= 1;
    this.active += 1;
  }

  /** Called once after each `onConnected`. `fromOtherServer` is undefined when there was no response. */
  onEnded(ofOwner: OwnerQueue | undefined, fromOtherServer: boolean | undefined): void {
    this.active -= 1;
    this.#dispatched -= 1;
    if (fromOtherServer !== undefined) this.#connections.responded(fromOtherServer);
    if (ofOwner) {
      ofOwner.dispatched -= 1;
      if (this.#hasTurn(ofOwner)) this.#dispatchNext(ofOwner);
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

  #dispatchNext(ofOwner: OwnerQueue): void {
    const [exchange] = ofOwner.waiting;
    if (!exchange) return void this.#turns.delete(ofOwner);
    ofOwner.waiting.delete(exchange);
    this.#dispatch(exchange, ofOwner);
  }

  /** Called for a request that is aborted: one that has not been dispatched leaves the queue. */
  onAborted(exchange: Exchange, ofOwner: OwnerQueue | undefined): void {
    if (ofOwner?.waiting.delete(exchange)) this.waiting -= 1;
  }

  async close(): Promise<void> {
    await this.#connections.destroy();
  }
}
