/* Which request of an endpoint gets the next of its connections. */
import { LRUCache } from 'lru-cache';
import { batchPerTick } from '../batch-per-tick.ts';
import type { Connections } from './connect.ts';
import type { Endpoint } from './endpoints.ts';
import { type BeforeSending, Exchange, type Flow, type UpstreamRequest } from './exchange.ts';
import { noConnection } from './upstream-error.ts';

/** How many requests of one endpoint may wait for a connection. */
const MAX_QUEUED = 10_000;
/** How many of these are of one flow at most. */
const MAX_QUEUED_OF_FLOW = MAX_QUEUED / 4;
/** The requests of one turn are dispatched together; see batchPerTick. */
const atEndOfCallback = batchPerTick(process.nextTick);

/**
 * The queue of one endpoint, with flows as in fair queueing: requests of one player that hang delay nobody else's. undici's Pool
 * sends requests in the order in which it gets them, so those of a flow that has its share are held here, and the flows take turns.
 * A flow never has more connections than are left free: alone it gets at most half of them, and at most a quarter while another
 * waits. So one is left for the next flow, even if requests hang.
 *
 *     enqueue → (held by its flow) → dispatched: waits in the Pool → connected → over
 *               └──────────── waiting ─────────────────────────┘   └─ active ─┘
 */
export class Queue {
  readonly #endpoint: Endpoint;
  readonly #connections: Connections;
  readonly #size: number;
  /** The connections that a flow has at most while another waits. */
  readonly #share: number;
  /** How many have no connection yet, and how many have one and are not over. */
  waiting = 0;
  active = 0;
  /** How many the Pool has. */
  #dispatched = 0;
  /** Two, so that the many players of a server evict no caller. No request deletes its entry; see docs/decisions/benchmark-notes.md. */
  readonly #flowsOfCallers = new LRUCache<string, Flow>({ max: MAX_QUEUED });
  readonly #flowsOfPlayers = new LRUCache<string, Flow>({ max: MAX_QUEUED });
  /** The flows that hold requests, the next one first. */
  readonly #held = new Set<Flow>();

  /** @param size How many connections there are at most. */
  constructor(endpoint: Endpoint, connections: Connections, size: number) {
    this.#endpoint = endpoint;
    this.#connections = connections;
    this.#size = size;
    this.#share = Math.max(1, Math.floor(size / 4));
  }

  /** @param boundCaller The key of a caller that is bound to its player, whose flow it is; else the flow is that of the player. */
  enqueue(request: UpstreamRequest, boundCaller: string | undefined, player: string, before: BeforeSending): Exchange {
    const exchange = new Exchange(this.#endpoint, request, boundCaller ?? player, before);
    atEndOfCallback(() => {
      const flow = this.#flowOf(boundCaller, player);
      const room = MAX_QUEUED - this.waiting;
      const isFull = room <= 0 || (flow && flow.held.size >= Math.min(room, MAX_QUEUED_OF_FLOW));
      if (isFull) exchange.abort(noConnection(this.#endpoint));
      if (exchange.aborted) return;
      this.waiting += 1;
      exchange.countedBy = { queue: this, flow };
      if (flow && !this.#mayDispatch(flow)) {
        flow.held.add(exchange);
        this.#held.add(flow);
      } else this.#dispatch(exchange, flow);
    });
    return exchange;
  }

  /** Whether requests wait because others use the connections, not because none can be opened. */
  isBusy(): boolean {
    return this.waiting > 0 && this.active > 0;
  }

  /** Calls of servers are counted while at least half of the connections are in use; below that they are not. */
  #flowOf(boundCaller: string | undefined, player: string): Flow | undefined {
    if (boundCaller === undefined && this.#dispatched < this.#size / 2) return undefined;
    const [flows, key] = boundCaller ? [this.#flowsOfCallers, boundCaller] : [this.#flowsOfPlayers, player];
    const existing = flows.get(key);
    const flow = existing ?? { dispatched: 0, held: new Set<Exchange>() };
    if (!existing) flows.set(key, flow);
    return flow;
  }

  /** The first request of each flow goes to the Pool at once. */
  #mayDispatch(flow: Flow): boolean {
    const isAlone = this.#held.size === 0 || (this.#held.size === 1 && this.#held.has(flow));
    const most = Math.min(this.#size - this.#dispatched, isAlone ? this.#size : this.#share);
    return flow.dispatched === 0 || flow.dispatched < most;
  }

  #dispatch(exchange: Exchange, flow: Flow | undefined): void {
    this.#dispatched += 1;
    if (flow) flow.dispatched += 1;
    this.#connections.dispatch(exchange.request, exchange);
  }

  /** Called once for each dispatched request, when it has a connection or cannot get one. */
  onConnected(): void {
    this.waiting -= 1;
    this.active += 1;
  }

  /** Called once after each `onConnected`. `fromOtherHost` is undefined when there was no response. */
  onEnded(flow: Flow | undefined, fromOtherHost: boolean | undefined): void {
    this.active -= 1;
    this.#dispatched -= 1;
    if (fromOtherHost !== undefined) this.#connections.responded(fromOtherHost);
    if (flow) {
      flow.dispatched -= 1;
      if (this.#mayDispatch(flow)) this.#dispatchNext(flow);
    }
    for (const next of this.#held) {
      // Each of these has one at least.
      if (this.#size - this.#dispatched <= 1) return;
      if (!this.#mayDispatch(next)) continue;
      this.#held.delete(next);
      this.#dispatchNext(next);
      if (next.held.size > 0) this.#held.add(next);
    }
  }

  #dispatchNext(flow: Flow): void {
    const [exchange] = flow.held;
    if (!exchange) return void this.#held.delete(flow);
    flow.held.delete(exchange);
    this.#dispatch(exchange, flow);
  }

  /** Called for a request that is aborted: one that has not been dispatched leaves the queue. */
  onAborted(exchange: Exchange, flow: Flow | undefined): void {
    if (flow?.held.delete(exchange)) this.waiting -= 1;
  }

  async close(): Promise<void> {
    await this.#connections.destroy();
  }
}
