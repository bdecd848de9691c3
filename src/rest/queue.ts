/* Which call to an endpoint gets the next of its connections. */
import { LRUCache } from 'lru-cache';
import type { CallContext } from './call-context.ts';

/** How many calls to one endpoint may wait for a connection. */
const MAX_QUEUED = 10_000;
/** How many of these are of one flow at most. */
const MAX_QUEUED_OF_FLOW = MAX_QUEUED / 4;
/**
 * If so many callers wait for each connection, and the last of these has waited for so many milliseconds, no other may wait. Each has
 * a request in flight, and they would take the slots of those that do not need this endpoint.
 */
const MAX_CALLERS_PER_CONNECTION = 4;
const LONG_WAIT_MS = 1_000;

/** How many servers are counted; the least recently used ones are evicted. */
const MAX_SERVERS = 1_000;
/** The share of one server in the connections, and in the calls that wait, without those of other servers. */
const SHARE_OF_SERVER = 7 / 8;

/** One server, or all callers that are bound to their players. */
interface Group {
  /** How many connections it has. */
  leased: number;
  /** How many of its calls wait. */
  pending: number;
  /** Its flows with calls that wait, the next one first. */
  readonly waiting: Flow[];
}

/** The calls that share connections; see Queue. */
interface Flow {
  readonly group: Group;
  /** How many connections it has. */
  leased: number;
  /** Those that wait, in their order. */
  readonly pending: Lease[];
  /** Its order among all flows that wait: the lowest is the next one. */
  order: number;
}

/** Not a function: thousands of calls can wait, and each function that refers to its call takes 100 bytes. */
interface LeaseHolder {
  /** Since when it waits, by `performance.now()`. */
  readonly queuedAt: number;
  /** Called when it has its connection, perhaps at once. */
  granted(): void;
}

/** The right to use one connection. */
export interface Lease {
  state: 'pending' | 'granted' | 'released';
  readonly group: Group;
  readonly flow: Flow | undefined;
  readonly holder: LeaseHolder;
}

const FLOWS: LRUCache.Options<string, Flow, Group> = {
  max: MAX_QUEUED,
  memoMethod: (_key, _last, { context }) => ({ group: context, leased: 0, pending: [], order: 0 }),
};

/**
 * Grants the connections of one endpoint, with flows as in fair queueing: calls of one player that hang delay nobody else's. A flow
 * is what a caller that is bound to its player calls, or what a server calls about one player. Flows take turns. A flow never has
 * more connections than are left free: alone it gets at most half of them, and at most a quarter while another waits. So one is
 * left for the next flow, even if calls hang. A server has a flow for each player, so all its flows together have at most seven
 * eighths of the connections that other servers do not have.
 */
export class Queue {
  readonly #size: number;
  /** The connections that a flow has at most while another waits. */
  readonly #share: number;
  leasedCount = 0;
  pendingCount = 0;
  /**
   * Two, so that the many players of a server evict no caller. No call deletes its entry, and what waits is in arrays: see
   * docs/decisions/benchmark-notes.md.
   */
  readonly #flowsOfCallers = new LRUCache<string, Flow, Group>(FLOWS);
  readonly #flowsOfServers = new LRUCache<string, Flow, Group>(FLOWS);
  readonly #boundCallers = createGroup();
  readonly #servers = new LRUCache<string, Group>({ max: MAX_SERVERS, memoMethod: createGroup });
  /** The groups with flows that wait. */
  readonly #waiting: Group[] = [];
  #lastOrder = 0;

  /** @param size How many connections there are at most. */
  constructor(size: number) {
    this.#size = size;
    this.#share = Math.max(1, Math.floor(size / 4));
  }

  /** Asks for a connection for a call about a player; undefined when too many wait. */
  lease({ key, isServer }: CallContext['caller'], player: string, holder: LeaseHolder): Lease | undefined {
    const current = isServer ? this.#servers.memo(key) : this.#boundCallers;
    let flow: Flow | undefined;
    if (!isServer) flow = this.#flowsOfCallers.memo(key, { context: current });
    // Calls of servers have flows while at least half of the connections are in use.
    else if (this.leasedCount >= this.#size / 2)
      flow = this.#flowsOfServers.memo(`${key}\n${player}`, { context: current });
    // A server that was evicted has a new group; its flow still has the old one, which counts all its calls.
    const group = flow?.group ?? current;
    const lease: Lease = { state: 'pending', group, flow, holder };
    // The calls of a flow that wait: at most as many as still fit in the whole queue, and a quarter of it.
    const room = Math.min(MAX_QUEUED - this.pendingCount, MAX_QUEUED_OF_FLOW);
    if (!flow || (flow.pending.length === 0 && this.#mayLease(flow))) this.#grant(lease);
    else if (flow.pending.length >= room || !this.#mayWait(group)) return undefined;
    else {
      this.pendingCount += 1;
      group.pending += 1;
      if (flow.pending.push(lease) === 1) this.#enqueue(flow);
    }
    return lease;
  }

  /** Takes a lease back, granted or pending. One that was taken back before changes nothing. */
  release(lease: Lease): void {
    const { state, group, flow } = lease;
    if (state === 'released') return;
    lease.state = 'released';
    if (state === 'pending') this.#remove(lease);
    else {
      this.leasedCount -= 1;
      group.leased -= 1;
      if (flow) flow.leased -= 1;
    }
    // Also after one that was pending: a flow that is alone now may have more.
    this.#grantNext();
  }

  #mayWait(group: Group): boolean {
    const { pending, waiting } = this.#boundCallers;
    if (group !== this.#boundCallers)
      return group.pending < maxOf(MAX_QUEUED, this.pendingCount - pending - group.pending);
    const [lease] = waiting[MAX_CALLERS_PER_CONNECTION * this.#size - 1]?.pending ?? [];
    return !lease || performance.now() - lease.holder.queuedAt <= LONG_WAIT_MS;
  }

  #mayLease(flow: Flow): boolean {
    const free = this.#size - this.leasedCount;
    if (!this.#mayLeaseMore(flow.group)) return false;
    if (flow.leased === 0) return free > 0;
    const isAlone = this.#waiting.every(({ waiting }) => waiting.every((other) => other === flow));
    return flow.leased < (isAlone ? free : Math.min(free, this.#share));
  }

  #mayLeaseMore(group: Group): boolean {
    if (group === this.#boundCallers) return true;
    return group.leased < maxOf(this.#size, this.leasedCount - this.#boundCallers.leased - group.leased);
  }

  #grant(lease: Lease): void {
    this.leasedCount += 1;
    lease.group.leased += 1;
    if (lease.flow) lease.flow.leased += 1;
    lease.state = 'granted';
    lease.holder.granted();
  }

  #grantNext(): void {
    while (this.leasedCount < this.#size) {
      const next = this.#nextFlow();
      const [lease] = next?.pending ?? [];
      if (!next || !lease) return;
      this.#remove(lease);
      this.#grant(lease);
      if (next.pending.length === 0) continue;
      // It comes after the others now.
      this.#dequeue(next);
      this.#enqueue(next);
    }
  }

  #nextFlow(): Flow | undefined {
    let next: Flow | undefined;
    for (const group of this.#waiting) {
      // The group is asked first, because it can have 10,000 flows.
      const first = this.#mayLeaseMore(group) ? group.waiting.find((flow) => this.#mayLease(flow)) : undefined;
      if (first && (!next || first.order < next.order)) next = first;
    }
    return next;
  }

  #enqueue(flow: Flow): void {
    this.#lastOrder += 1;
    flow.order = this.#lastOrder;
    if (flow.group.waiting.push(flow) === 1) this.#waiting.push(flow.group);
  }

  #dequeue(flow: Flow): void {
    const { waiting } = flow.group;
    waiting.splice(waiting.indexOf(flow), 1);
    if (waiting.length === 0) this.#waiting.splice(this.#waiting.indexOf(flow.group), 1);
  }

  #remove(lease: Lease): void {
    const { flow } = lease;
    if (!flow) return;
    this.pendingCount -= 1;
    flow.group.pending -= 1;
    flow.pending.splice(flow.pending.indexOf(lease), 1);
    if (flow.pending.length === 0) this.#dequeue(flow);
  }
}

function createGroup(): Group {
  return { leased: 0, pending: 0, waiting: [] };
}

/** How many of `all` a server may have: its share, rounded up; beside other servers, its share of what these leave, rounded down. */
function maxOf(all: number, ofOthers: number): number {
  return ofOthers === 0
    ? Math.ceil(SHARE_OF_SERVER * all)
    : Math.max(1, Math.floor(SHARE_OF_SERVER * (all - ofOthers)));
}
