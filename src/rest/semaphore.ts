export interface SemaphoreOptions<Owner> {
  /** How many permits may be held at this moment. */
  limit: () => number;
  /** How many may wait; the next one is refused at once. */
  maxWaiting: number;
  /** The next owner is the one that has waited longest (`fifo`, the default) or shortest (`lifo`). */
  order?: 'fifo' | 'lifo';
  /** Whether this owner may have a permit while others wait. If not, the next one in order is served. Default: always. */
  isEligible?: (owner: Owner) => boolean;
  /** Called when an owner gets its permit. */
  onGrant?: (owner: Owner) => void;
}

/** A permit, or a place in the queue for one. */
export class Permit<Owner> {
  readonly owner: Owner;
  state: 'held' | 'waiting' | 'refused' | 'released' = 'waiting';
  /** Ends the wait. Used only by the semaphore. */
  settle: (() => void) | undefined;

  constructor(owner: Owner) {
    this.owner = owner;
  }
}

/**
 * Limits how many owners hold a permit at the same time, with a bounded queue.
 *
 *     const permit = semaphore.acquire(owner);
 *     if (permit.state === 'waiting') await semaphore.wait(permit, timeoutMs);
 *     if (permit.state !== 'held') return refuse();
 *     try { … } finally { semaphore.release(permit); }
 */
export class Semaphore<Owner = undefined> {
  readonly #options: SemaphoreOptions<Owner>;
  readonly #queue: Permit<Owner>[] = [];
  #held = 0;

  constructor(options: SemaphoreOptions<Owner>) {
    this.#options = options;
  }

  get held(): number {
    return this.#held;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  /** A permit that is `held`, or `waiting` in the queue, or `refused` because the queue is full. */
  acquire(owner: Owner): Permit<Owner> {
    const { limit, maxWaiting } = this.#options;
    const permit = new Permit(owner);
    if (this.#held < limit() && (this.#queue.length === 0 || this.#isEligible(permit))) this.#grant(permit);
    else if (this.#queue.length < maxWaiting) this.#queue.push(permit);
    else permit.state = 'refused';
    return permit;
  }

  /** Resolves when a waiting permit is `held`, when it is `released`, and after `timeoutMs`: then it is `refused`. */
  async wait(permit: Permit<Owner>, timeoutMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => this.#leaveQueue(permit, 'refused'), timeoutMs);
      permit.settle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Gives a held permit back, or ends the wait for one. Releasing a permit twice has no effect. */
  release(permit: Permit<Owner>): void {
    if (permit.state === 'waiting') this.#leaveQueue(permit, 'released');
    if (permit.state !== 'held') return;
    permit.state = 'released';
    this.#held -= 1;
    this.refresh();
  }

  /** Grants permits to waiting owners, up to the limit. Call it when the limit may have increased. */
  refresh(): void {
    while (this.#queue.length > 0 && this.#held < this.#options.limit()) {
      const next = this.#takeNext();
      if (!next) return;
      this.#grant(next);
    }
  }

  #takeNext(): Permit<Owner> | undefined {
    const isEligible = (permit: Permit<Owner>) => this.#isEligible(permit);
    const isLifo = this.#options.order === 'lifo';
    const index = isLifo ? this.#queue.findLastIndex(isEligible) : this.#queue.findIndex(isEligible);
    // The usual case is index 0: `shift` does not copy the queue, `splice` does.
    return index === 0 ? this.#queue.shift() : index < 0 ? undefined : this.#queue.splice(index, 1)[0];
  }

  #isEligible({ owner }: Permit<Owner>): boolean {
    return this.#options.isEligible?.(owner) ?? true;
  }

  #grant(permit: Permit<Owner>): void {
    this.#held += 1;
    permit.state = 'held';
    this.#options.onGrant?.(permit.owner);
    permit.settle?.();
  }

  #leaveQueue(permit: Permit<Owner>, state: 'refused' | 'released'): void {
    const index = this.#queue.indexOf(permit);
    if (index < 0) return;
    this.#queue.splice(index, 1);
    permit.state = state;
    permit.settle?.();
  }
}
