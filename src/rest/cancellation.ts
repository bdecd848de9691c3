/** Who wants to know when an operation's client goes away. */
export interface Cancellable {
  /** @param late Whether it is known that the operation's time is over. */
  cancel(late?: boolean): void;
}

/**
 * Whether the client an operation works for has gone away, and who is to be told. It does what an AbortSignal does for one
 * operation, at a fraction of its price: on Node 20 a signal with one listener costs some 4 µs.
 */
export class Cancellation {
  #happened = false;
  readonly #waiting: Cancellable[] = [];

  get happened(): boolean {
    return this.#happened;
  }

  /** Has `depart` called when the client goes away; in a moment when it has already. */
  watch(one: Cancellable): void {
    if (this.#happened) queueMicrotask(() => one.cancel());
    else this.#waiting.push(one);
  }

  unwatch(one: Cancellable): void {
    const index = this.#waiting.indexOf(one);
    if (index >= 0) this.#waiting.splice(index, 1);
  }

  /** The client is gone: all who watch are told, once. */
  happen(): void {
    if (this.#happened) return;
    this.#happened = true;
    for (const one of this.#waiting.splice(0)) one.cancel();
  }
}
