/*
 * The queue for connections to the REST service.
 *
 * A wait here is caused by our own limit, so it is not a failure of the service: the breaker does not count it, and the client
 * gets OVERLOADED. A call that would wait too long is refused at once. The wait is estimated from the number of calls that wait
 * for the same connections and from how long recent calls used a connection.
 *
 * While calls wait, connections are shared fairly: one caller holds at most a quarter of them, and one endpoint at most
 * three quarters, so that a slow endpoint leaves room for the others. Calls beyond such a share wait for their own caller or
 * endpoint, so they do not count in the estimate for other calls.
 */
import type { Call } from './call.ts';
import { noConnection } from './errors.ts';
import { type Permit, Semaphore } from './semaphore.ts';

/** A limit for cases that the estimate does not cover, such as a service that has stopped responding. */
const MAX_WAITING = 10_000;
/** The parts of the connections that one caller and one endpoint hold at most while calls wait. */
const CALLER_SHARE = 1 / 4;
const ENDPOINT_SHARE = 3 / 4;
/** The weight of the newest use of a connection in the moving average. */
const NEWEST = 1 / 16;

interface ConnectionQueueOptions {
  connections: number;
  /** How long a call may wait, in milliseconds. */
  queueMs: number;
  /** Called with the wait of every call, in milliseconds. */
  onWaited?: ((ms: number) => void) | undefined;
}

export class ConnectionQueue {
  readonly #options: ConnectionQueueOptions;
  readonly #semaphore: Semaphore<Call>;
  readonly #endpoints: Shares;
  readonly #callers: Shares;
  /** How long a call uses a connection: the moving average of each endpoint, in milliseconds. */
  readonly #usageMs = new Map<string, number>();
  /** When a connection last became free, or when calls began to wait, whichever is later. */
  #waitingSince = 0;

  constructor(options: ConnectionQueueOptions) {
    this.#options = options;
    const { connections } = options;
    this.#endpoints = new Shares(Math.ceil(connections * ENDPOINT_SHARE));
    this.#callers = new Shares(Math.ceil(connections * CALLER_SHARE));
    this.#semaphore = new Semaphore({
      limit: connections,
      maxWaiting: MAX_WAITING,
      maxWaitMs: options.queueMs,
      laneOf: ({ endpoint }) => endpoint.name,
      isOpen: (endpoint) => this.#endpoints.hasRoom(endpoint),
      isEligible: ({ callerKey }) => this.#callers.hasRoom(callerKey),
      onGrant: ({ endpoint, callerKey }) => {
        this.#endpoints.hold(endpoint.name, 1);
        this.#callers.hold(callerKey, 1);
      },
    });
  }

  get active(): number {
    return this.#semaphore.active;
  }

  get waiting(): number {
    return this.#semaphore.waiting;
  }

  /** The permit for a connection. Throws or rejects with `OVERLOADED`, or with the reason of the cancellation. */
  acquire(call: Call): Permit<Call> | Promise<Permit<Call>> {
    const permit = this.#semaphore.acquire(call);
    return permit.state === 'waiting' ? this.#wait(permit) : this.#passed(permit, 0);
  }

  /** @param usedMs How long the connection was in use; undefined when nothing was sent. */
  release(permit: Permit<Call>, usedMs?: number): void {
    const { endpoint, callerKey } = permit.owner;
    if (usedMs !== undefined) {
      const average = this.#usageMs.get(endpoint.name) ?? usedMs;
      this.#usageMs.set(endpoint.name, average + (usedMs - average) * NEWEST);
      this.#waitingSince = performance.now();
    }
    this.#endpoints.hold(endpoint.name, -1);
    this.#callers.hold(callerKey, -1);
    this.#semaphore.release(permit);
  }

  async #wait(permit: Permit<Call>): Promise<Permit<Call>> {
    const { owner: call, since } = permit;
    const { endpoint, callerKey } = call;
    if (this.waiting === 1) this.#waitingSince = since;
    this.#endpoints.wait(endpoint.name, 1);
    this.#callers.wait(callerKey, 1);
    try {
      const allowedMs = Math.min(this.#options.queueMs, call.deadline - since);
      const isTooMany = this.#callers.waiting(callerKey) > MAX_WAITING * CALLER_SHARE;
      // Only a waiting permit is released here. A permit that is held already is released by the code that acquired it.
      const giveUp = () => permit.state === 'waiting' && this.#semaphore.release(permit);
      if (isTooMany || this.#waitMs(call) > allowedMs) giveUp();
      else await call.during({ abort: giveUp }, this.#semaphore.wait(permit));
      return this.#passed(permit, performance.now() - since);
    } finally {
      this.#endpoints.wait(endpoint.name, -1);
      this.#callers.wait(callerKey, -1);
    }
  }

  #passed(permit: Permit<Call>, waitedMs: number): Permit<Call> {
    const { owner: call } = permit;
    call.queueMs += waitedMs;
    this.#options.onWaited?.(waitedMs);
    if (permit.state !== 'held') throw call.cancelledBy ?? noConnection(call.endpoint, this.#waitMs(call));
    return permit;
  }

  /**
   * The estimated wait of a call that was queued last: behind the calls that compete for all connections, and behind those
   * that compete for the shares of its caller and its endpoint. It uses the average time that the waiting calls will use a
   * connection, or the time since a connection last became free if that is longer.
   */
  #waitMs({ endpoint, callerKey }: Call): number {
    const sinceMs = performance.now() - this.#waitingSince;
    const ofEndpointMs = Math.max(this.#usageMs.get(endpoint.name) ?? 0, sinceMs);
    const ofAllMs = Math.max(this.#waitingUsageMs(), sinceMs);
    const competing = Math.min(this.#endpoints.competing, this.#callers.competing);
    return Math.max(
      (ofAllMs * competing) / this.#options.connections,
      (ofAllMs * this.#callers.waiting(callerKey)) / this.#callers.limit,
      (ofEndpointMs * this.#endpoints.waiting(endpoint.name)) / this.#endpoints.limit,
    );
  }

  /** How long the calls that wait now will use a connection: the average of all of them, in milliseconds. */
  #waitingUsageMs(): number {
    let calls = 0;
    let totalMs = 0;
    for (const [endpoint, usageMs] of this.#usageMs) {
      const waiting = this.#endpoints.waiting(endpoint);
      calls += waiting;
      totalMs += waiting * usageMs;
    }
    return calls === 0 ? 0 : totalMs / calls;
  }
}

/** How many calls of each caller, or of each endpoint, hold a connection and wait for one. */
class Shares {
  /** How many connections one of them may hold while calls wait. */
  readonly limit: number;
  readonly #held = new Map<string, number>();
  readonly #waiting = new Map<string, number>();
  #competing = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** How many calls wait, without those that are beyond `limit` for their own caller or endpoint. */
  get competing(): number {
    return this.#competing;
  }

  /** Whether `key` may have another connection while calls wait. Undefined: a call that is not limited to a share. */
  hasRoom(key: string | undefined): boolean {
    return key === undefined || (this.#held.get(key) ?? 0) < this.limit;
  }

  /** How many calls of `key` wait; 0 for undefined. */
  waiting(key: string | undefined): number {
    return key === undefined ? 0 : (this.#waiting.get(key) ?? 0);
  }

  /** Counts a connection that `key` gets (1) or gives back (-1). */
  hold(key: string | undefined, change: 1 | -1): void {
    if (key !== undefined) add(this.#held, key, change);
  }

  /** Counts a call of `key` that begins (1) or ends (-1) to wait. */
  wait(key: string | undefined, change: 1 | -1): void {
    const before = this.waiting(key);
    if (key !== undefined) add(this.#waiting, key, change);
    if (Math.min(before, before + change) < this.limit) this.#competing += change;
  }
}

function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
