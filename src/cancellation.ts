type Reason = 'the client disconnected' | 'the deadline passed' | 'the operation is over';

/**
 * Ends the REST calls of one operation: its client disconnected, its deadline passed, or it does not need them.
 * An AbortController with a timer would do the same, but creating its signal and listeners took 4 % of a small request.
 */
export class Cancellation {
  /** When the operation must be over, on the clock of `performance.now()`, in milliseconds. */
  readonly deadline: number;
  /** Undefined until it is cancelled. */
  reason: Reason | undefined;
  /** Called when it is cancelled. */
  readonly listeners = new Set<() => void>();
  readonly #timer: NodeJS.Timeout;

  constructor(deadline: number) {
    this.deadline = deadline;
    this.#timer = setTimeout(() => this.cancel('the deadline passed'), Math.max(0, deadline - performance.now()));
  }

  /** Calls each listener, the first time. */
  cancel(reason: Reason): void {
    if (this.reason) return;
    this.reason = reason;
    for (const listener of this.listeners) listener();
  }

  /** Resolves after so many milliseconds, or when it is cancelled. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.listeners.delete(end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      this.listeners.add(end);
    });
  }

  /** Called when the operation is over. Calls that wait for a connection are not sent, such as coupons of an unknown player. */
  end(): void {
    clearTimeout(this.#timer);
    this.cancel('the operation is over');
  }
}
