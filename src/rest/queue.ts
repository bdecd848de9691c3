/* Which call to an endpoint gets the next of its connections. */
import { LRUCache } from 'lru-cache';
import type { Endpoint } from './endpoints.ts';
import { noConnection, type UpstreamError } from './upstream-error.ts';

/** How many calls to one endpoint may wait for a connection. */
const MAX_QUEUED = 10_000;
/** How many of these are of one flow at most. */
const MAX_QUEUED_OF_FLOW = MAX_QUEUED / 4;

/** The calls that share connections; see Queue. */
interface Flow {
  /** How many connections it has. */
  leased: number;
  /** Those that wait, in their order. */
  readonly pending: Lease[];
}

/**
 * The right to use one connection. It is pending until it is granted. It is released once: by the exchange that uses it, or by `abort`.
 */
export class Lease {
  readonly #queue: Queue;
  readonly flow: Flow | undefined;
  #resolve: (() => void) | undefined;
  state: 'pending' | 'granted' | 'released' = 'pending';
  aborted: UpstreamError | undefined;

  constructor(queue: Queue, flow: Flow | undefined) {
    this.#queue = queue;
    this.flow = flow;
  }

  /** Called by the queue alone. */
  grant(): void {
    this.state = 'granted';
    this.#resolve?.();
  }

  /** Resolves when it is no longer pending. */
  wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  abort(reason: UpstreamError): void {
    this.aborted ??= reason;
    this.release();
    this.#resolve?.();
  }

  release(): void {
    const { state } = this;
    this.state = 'released';
    if (state === 'granted') this.#queue.release(this);
    if (state === 'pending') this.#queue.withdraw(this);
  }
}

/**
 * Grants the connections of one endpoint, with flows as in fair queueing: calls of one player that hang delay nobody else's. A flow
 * is what a caller that is bound to its player calls, or what servers call about one player. Flows take turns. A flow never has
 * more connections than are left free: alone it gets at most half of them, and at most a quarter while another waits. So one is
 * left for the next flow, even if calls hang.
 */
export class Queue {
  readonly #endpoint: Endpoint;
  readonly #size: number;
  /** The connections that a flow has at most while another waits. */
  readonly #share: number;
  leasedCount = 0;
  pendingCount = 0;
  /**
   * Two, so that the many players of a server evict no caller. No call deletes its entry, and what waits is in arrays: see
   * docs/decisions/benchmark-notes.md.
   */
  readonly #flowsOfCallers = new LRUCache<string, Flow>({ max: MAX_QUEUED });
  readonly #flowsOfPlayers = new LRUCache<string, Flow>({ max: MAX_QUEUED });
  /** The flows with calls that wait, the next one first. */
  readonly #waiting: Flow[] = [];

  /** @param size How many connections there are at most. */
  constructor(endpoint: Endpoint, size: number) {
    this.#endpoint = endpoint;
    this.#size = size;
    this.#share = Math.max(1, Math.floor(size / 4));
  }

  /** @param boundCaller The key of a caller that is bound to its player, whose flow it is; else the flow is that of the player. */
  lease(boundCaller: string | undefined, player: string): Lease {
    const flow = this.#flowOf(boundCaller, player);
    const lease = new Lease(this, flow);
    const room = MAX_QUEUED - this.pendingCount;
    if (!flow || (flow.pending.length === 0 && this.#mayLease(flow))) this.#grant(lease);
    else if (flow.pending.length >= Math.min(room, MAX_QUEUED_OF_FLOW)) lease.abort(noConnection(this.#endpoint));
    else {
      this.pendingCount += 1;
      if (flow.pending.push(lease) === 1) this.#waiting.push(flow);
    }
    return lease;
  }

  /** Calls of servers are counted while at least half of the connections are in use; below that they are not. */
  #flowOf(boundCaller: string | undefined, player: string): Flow | undefined {
    if (boundCaller === undefined && this.leasedCount < this.#size / 2) return undefined;
    const flows = boundCaller === undefined ? this.#flowsOfPlayers : this.#flowsOfCallers;
    const key = boundCaller ?? player;
    const existing = flows.get(key);
    const flow = existing ?? { leased: 0, pending: [] };
    if (!existing) flows.set(key, flow);
    return flow;
  }

  #mayLease(flow: Flow): boolean {
    const free = this.#size - this.leasedCount;
    if (flow.leased === 0) return free > 0;
    const isAlone = this.#waiting.every((waiting) => waiting === flow);
    return flow.leased < (isAlone ? free : Math.min(free, this.#share));
  }

  #grant(lease: Lease): void {
    this.leasedCount += 1;
    if (lease.flow) lease.flow.leased += 1;
    lease.grant();
  }

  /** Takes back a lease that was granted. Called by it alone. */
  release({ flow }: Lease): void {
    this.leasedCount -= 1;
    if (flow) flow.leased -= 1;
    this.#grantNext();
  }

  /** Removes a lease that is pending. Called by it alone. */
  withdraw(lease: Lease): void {
    this.#remove(lease);
    // A flow that is alone now may have more.
    this.#grantNext();
  }

  #grantNext(): void {
    while (this.leasedCount < this.#size) {
      const next = this.#waiting.find((flow) => this.#mayLease(flow));
      const [lease] = next?.pending ?? [];
      if (!next || !lease) return;
      this.#remove(lease);
      this.#grant(lease);
      if (next.pending.length === 0) continue;
      // It comes after the others now.
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      this.#waiting.push(next);
    }
  }

  #remove(lease: Lease): void {
    const { flow } = lease;
    const at = flow?.pending.indexOf(lease) ?? -1;
    if (!flow || at < 0) return;
    this.pendingCount -= 1;
    flow.pending.splice(at, 1);
    if (flow.pending.length === 0) this.#waiting.splice(this.#waiting.indexOf(flow), 1);
  }
}
