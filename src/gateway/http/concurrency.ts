export interface ConcurrencyOptions {
  /** How many permits there are at this moment. */
  limit: () => number;
  /** How many may wait for a permit; the next one is refused at once. */
  maxWaiting: number;
  /** How long one waits before it is refused, in milliseconds. */
  maxWaitMs: number;
  /** The error of a refusal. */
  refuse: () => Error;
}

interface Waiting {
  admit(): void;
}

/**
 * Bounds how much is done at once. What finds no permit waits a little: a refusal costs a good part of what the work costs,
 * and a client that is refused at once asks again at once. The newest waits shortest: under lasting overload, first come
 * first served would answer everybody late.
 */
export class ConcurrencyLimiter {
  readonly #options: ConcurrencyOptions;
  readonly #waiting: Waiting[] = [];
  #active = 0;

  constructor(options: ConcurrencyOptions) {
    this.#options = options;
  }

  get active(): number {
    return this.#active;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Whether the next one is refused at once. */
  get isFull(): boolean {
    return this.#waiting.length >= this.#options.maxWaiting;
  }

  /** Takes a permit now or within the time to wait; rejects with the error of a refusal. Each is given back by `release`. */
  acquire(): Promise<void> | undefined {
    const { limit, refuse, maxWaitMs } = this.#options;
    if (this.#active < limit()) {
      this.#active += 1;
      return undefined;
    }
    if (this.isFull) throw refuse();
    return new Promise((resolve, reject) => {
      const entry = {
        admit: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(entry), 1);
        reject(refuse());
      }, maxWaitMs);
      this.#waiting.push(entry);
    });
  }

  release(): void {
    this.#active -= 1;
    this.admitWaiting();
  }

  /** Admits as many as the limit allows now. */
  admitWaiting(): void {
    while (this.#active < this.#options.limit()) {
      const next = this.#waiting.pop();
      if (!next) return;
      this.#active += 1;
      next.admit();
    }
  }
}
