/*
 * The queue for connections to the REST service.
 *
 * A wait here is caused by our own limit, so it is not a failure of the service: the breaker does not count it, and the client
 * gets OVERLOADED. A call that would wait too long is refused at once. The wait is estimated from the number of waiting calls
 * and from how long recent calls used a connection.
 *
 * While calls wait, connections are shared fairly: one caller holds at most a quarter of them, and one endpoint at most
 * three quarters, so that a slow endpoint leaves room for the others.
 */
import type { Call } from './call.ts';
import { overloaded } from './errors.ts';
import { type Permit, Semaphore } from './semaphore.ts';

/** A limit for cases that the estimate does not cover, such as a service that has stopped responding. */
const MAX_WAITING = 10_000;
const CALLER_SHARE = 1 / 4;
const ENDPOINT_SHARE = 3 / 4;
/** The weight of the newest use of a connection in the moving average. */
const NEWEST = 1 / 16;

export interface ConnectionQueueOptions {
  connections: number;
  /** How long a call may wait, in milliseconds. */
  queueMs: number;
  /** Called with the wait of every call, in milliseconds. */
  onWaited?: ((ms: number) => void) | undefined;
}

export class ConnectionQueue {
  readonly #options: ConnectionQueueOptions;
  readonly #semaphore: Semaphore<Call>;
  /** Connections in use by endpoint name and by caller key. */
  readonly #byEndpoint = new Map<string, number>();
  readonly #byCaller = new Map<string, number>();
  /** How long a call uses a connection: the moving average, in milliseconds. */
  #usageMs = 0;
  /** When a connection last became free, or when calls began to wait, whichever is later. */
  #waitingSince = 0;

  constructor(options: ConnectionQueueOptions) {
    this.#options = options;
    const { connections } = options;
    this.#semaphore = new Semaphore({
      limit: connections,
      maxWaiting: MAX_WAITING,
      maxWaitMs: options.queueMs,
      laneOf: ({ endpoint }) => endpoint.name,
      isOpen: (endpoint) => (this.#byEndpoint.get(endpoint) ?? 0) < Math.ceil(connections * ENDPOINT_SHARE),
      isEligible: ({ callerKey }) =>
        callerKey === undefined || (this.#byCaller.get(callerKey) ?? 0) < Math.ceil(connections * CALLER_SHARE),
      onGrant: (call) => this.#count(call, 1),
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
    if (usedMs !== undefined) {
      this.#usageMs += (usedMs - this.#usageMs) * NEWEST;
      this.#waitingSince = performance.now();
    }
    this.#count(permit.owner, -1);
    this.#semaphore.release(permit);
  }

  async #wait(permit: Permit<Call>): Promise<Permit<Call>> {
    const { owner: call, since } = permit;
    if (this.waiting === 1) this.#waitingSince = since;
    const allowedMs = Math.min(this.#options.queueMs, call.deadline - since);
    if (this.#waitMs() > allowedMs) {
      this.#semaphore.release(permit);
      return this.#passed(permit, 0);
    }
    // Only a waiting permit is released here. A permit that is held already is released by the code that acquired it.
    call.current = { abort: () => permit.state === 'waiting' && this.#semaphore.release(permit) };
    await this.#semaphore.wait(permit);
    call.current = undefined;
    return this.#passed(permit, performance.now() - since);
  }

  #passed(permit: Permit<Call>, waitedMs: number): Permit<Call> {
    const { owner: call } = permit;
    call.queueMs += waitedMs;
    this.#options.onWaited?.(waitedMs);
    if (permit.state !== 'held') throw call.cancelled ?? overloaded(call.endpoint, this.#waitMs());
    return permit;
  }

  /**
   * The estimated wait of the last call in the queue. It uses the average time that a call uses a connection, or the time
   * since a connection last became free if that is longer.
   */
  #waitMs(): number {
    const usageMs = Math.max(this.#usageMs, performance.now() - this.#waitingSince);
    return (this.waiting * usageMs) / this.#options.connections;
  }

  #count({ endpoint, callerKey }: Call, change: number): void {
    add(this.#byEndpoint, endpoint.name, change);
    if (callerKey !== undefined) add(this.#byCaller, callerKey, change);
  }
}

function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
