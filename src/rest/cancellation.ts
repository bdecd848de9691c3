type Reason = 'the client disconnected' | 'the deadline passed';

/**
 * Ends the REST calls of one operation: its client disconnected, or its deadline passed. An AbortController with a timer does
 * the same. Creating its signal and one listener for each call took 4 % of a small request.
 */
export class Cancellation {
  /** When the operation must be over, on the clock of `performance.now()`, in milliseconds. */
  readonly deadline: number;
  /** Undefined until it is cancelled. */
  reason: Reason | undefined;
  readonly #listeners = new Set<() => void>();
  readonly #timer: NodeJS.Timeout;

  constructor(deadline: number) {
    this.deadline = deadline;
    this.#timer = setTimeout(() => this.cancel('the deadline passed'), Math.max(0, deadline - performance.now()));
  }

  /** Calls each listener, the first time. */
  cancel(reason: Reason): void {
    if (this.reason) return;
    this.reason = reason;
    for (const listener of this.#listeners) listener();
  }

  /** Returns the function that removes the listener. */
  onCancel(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Clears the timer. Called when the operation is over. */
  end(): void {
    clearTimeout(this.#timer);
  }
}
