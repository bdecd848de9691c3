interface SemaphoreOptions<Owner> {
  /** How many permits may be held at the same time, until `setLimit`. */
  limit: number;
  /** How many may wait; the next one is refused at once. */
  maxWaiting: number;
  /** How long an owner may wait, in milliseconds; then its permit is refused. */
  maxWaitMs: number;
  /** The next owner is the one that has waited longest (`fifo`, the default) or shortest (`lifo`). */
  order?: 'fifo' | 'lifo';
  /** Whether this owner may have a permit while others wait. If not, the next one in order is served. Default: always. */
  isEligible?: (owner: Owner) => boolean;
  /** The lane that an owner waits in. The number of lanes must be small. Default: one lane for all. */
  laneOf?: (owner: Owner) => string;
  /** Whether owners of this lane may have permits. If not, the lane is skipped. Default: always. */
  isOpen?: (lane: string) => boolean;
  /** Called when an owner gets its permit. */
  onGrant?: (owner: Owner) => void;
}

const DEFAULTS = {
  order: 'fifo',
  isEligible: () => true,
  laneOf: () => '',
  isOpen: () => true,
  onGrant: () => undefined,
} as const;

/** A permit, or a place in the queue for one. */
export class Permit<Owner> {
  readonly owner: Owner;
  /** Permits are numbered in the order in which they were requested. */
  readonly number: number;
  state: 'held' | 'waiting' | 'refused' | 'released' = 'waiting';
  /** When it was requested, on the clock of `performance.now()`; 0 for a permit that did not wait. */
  since = 0;
  /** Ends the wait. Used only by the semaphore. */
  settle: (() => void) | undefined;

  constructor(owner: Owner, number: number) {
    this.owner = owner;
    this.number = number;
  }
}

/**
 * Limits how many owners hold a permit at the same time, with a bounded queue. All owners may wait equally long, so one timer
 * serves the whole queue.
 *
 *     const permit = semaphore.acquire(owner);
 *     if (permit.state === 'waiting') await semaphore.wait(permit);
 *     if (permit.state !== 'held') return refuse();
 *     try { … } finally { semaphore.release(permit); }
 */
export class Semaphore<Owner = undefined> {
  readonly #options: Required<SemaphoreOptions<Owner>>;
  /** The waiting permits of each lane, in order. */
  readonly #lanes = new Map<string, Permit<Owner>[]>();
  #limit: number;
  #active = 0;
  #waiting = 0;
  #requested = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SemaphoreOptions<Owner>) {
    this.#options = { ...DEFAULTS, ...options };
    this.#limit = options.limit;
  }

  /** How many permits are held. */
  get active(): number {
    return this.#active;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Whether the queue is full: the next owner that cannot have a permit at once is refused. */
  get isFull(): boolean {
    return this.#waiting >= this.#options.maxWaiting;
  }

  /** Changes how many permits may be held. More than that stay held after a lower limit, until they are released. */
  setLimit(limit: number): void {
    this.#limit = limit;
    this.#grantWaiting();
  }

  /** A permit that is `held`, or `waiting` in the queue, or `refused` because the queue is full. */
  acquire(owner: Owner): Permit<Owner> {
    this.#requested += 1;
    const permit = new Permit(owner, this.#requested);
    if (this.#active < this.#limit && (this.#waiting === 0 || this.#mayPass(owner))) this.#grant(permit);
    else if (this.isFull) permit.state = 'refused';
    else this.#enqueue(permit);
    return permit;
  }

  /** Resolves when a waiting permit is `held`, when it is `released`, and after `maxWaitMs`: then it is `refused`. */
  wait(permit: Permit<Owner>): Promise<void> {
    return new Promise((resolve) => {
      permit.settle = resolve;
    });
  }

  /** Gives a held permit back, or ends the wait for one. Releasing a permit twice has no effect. */
  release(permit: Permit<Owner>): void {
    if (permit.state === 'waiting') this.#leaveQueue(permit, 'released');
    if (permit.state !== 'held') return;
    permit.state = 'released';
    this.#active -= 1;
    this.#grantWaiting();
  }

  /** Grants permits to waiting owners, up to the limit. */
  #grantWaiting(): void {
    while (this.#waiting > 0 && this.#active < this.#limit) {
      const next = this.#takeNext();
      if (!next) return;
      this.#grant(next);
    }
  }

  /** Takes the first permit in order that is eligible out of the lanes that are open. */
  #takeNext(): Permit<Owner> | undefined {
    const isLifo = this.#options.order === 'lifo';
    const isEligible = ({ owner }: Permit<Owner>) => this.#options.isEligible(owner);
    let next: Permit<Owner> | undefined;
    for (const [lane, queue] of this.#lanes) {
      if (queue.length === 0 || !this.#options.isOpen(lane)) continue;
      const first = isLifo ? queue.findLast(isEligible) : queue.find(isEligible);
      const isBefore = first && next && (isLifo ? first.number > next.number : first.number < next.number);
      if (!next || isBefore) next = first;
    }
    if (next) this.#dequeue(next);
    return next;
  }

  #enqueue(permit: Permit<Owner>): void {
    const lane = this.#options.laneOf(permit.owner);
    const queue = this.#lanes.get(lane);
    if (queue) queue.push(permit);
    else this.#lanes.set(lane, [permit]);
    this.#waiting += 1;
    permit.since = performance.now();
    this.#timer ??= this.#refuseAfter(this.#options.maxWaitMs);
  }

  #refuseAfter(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#refuseOld(), Math.ceil(ms)).unref();
  }

  /** The first permit of a lane has waited longest. */
  #refuseOld(): void {
    const { maxWaitMs } = this.#options;
    const now = performance.now();
    let oldest: number | undefined;
    for (const queue of this.#lanes.values()) {
      for (let first = queue[0]; first && now - first.since >= maxWaitMs; first = queue[0]) {
        this.#leaveQueue(first, 'refused');
      }
      if (queue[0]) oldest = Math.min(oldest ?? now, queue[0].since);
    }
    this.#timer = oldest === undefined ? undefined : this.#refuseAfter(oldest + maxWaitMs - now);
  }

  /** Returns false for a permit that does not wait. */
  #dequeue(permit: Permit<Owner>): boolean {
    const queue = this.#lanes.get(this.#options.laneOf(permit.owner)) ?? [];
    const index = queue.indexOf(permit);
    if (index < 0) return false;
    // The usual case is index 0: `shift` does not copy the queue, `splice` does.
    if (index === 0) queue.shift();
    else queue.splice(index, 1);
    this.#waiting -= 1;
    return true;
  }

  /** Whether a new permit may be granted while others wait. */
  #mayPass(owner: Owner): boolean {
    const { isOpen, laneOf, isEligible } = this.#options;
    return isOpen(laneOf(owner)) && isEligible(owner);
  }

  #grant(permit: Permit<Owner>): void {
    this.#active += 1;
    permit.state = 'held';
    this.#options.onGrant(permit.owner);
    permit.settle?.();
  }

  #leaveQueue(permit: Permit<Owner>, state: 'refused' | 'released'): void {
    if (!this.#dequeue(permit)) return;
    permit.state = state;
    permit.settle?.();
  }
}
