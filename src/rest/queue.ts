import type { Dispatcher } from 'undici';

/** The part of an endpoint's connections that one fair caller has at most while others wait. */
const FAIR_SHARE = 1 / 4;
/** After how many 5xx in a row the connections are replaced, and how long they are kept at least, in milliseconds. */
const RENEW_AFTER = 3;
const RENEW_EACH_MS = 2_500;

/** A request in a queue. It tells the queue when it leaves it, and when it is over. */
interface Queued extends Dispatcher.DispatchHandler {
  readonly request: Dispatcher.DispatchOptions;
  queue: Queue | undefined;
  line: Line | undefined;
}

/** The requests of one fair caller to one endpoint: how many the Pool has, and those that wait for the caller's turn. */
export interface Line {
  inPool: number;
  readonly waiting: Queued[];
}

/**
 * The requests of one endpoint. The Pool sends them in their order. So when all connections are used, it gets no more of a
 * caller that has its share of them: those wait here, and the callers take turns for connections that nobody else wants.
 */
export class Queue {
  readonly #connect: () => Dispatcher;
  #pool: Dispatcher;
  readonly #connections: number;
  readonly #share: number;
  /** How many have not begun, and how many have begun and are not over. */
  waiting = 0;
  active = 0;
  #inPool = 0;
  readonly #lines = new WeakMap<object, Line>();
  /** The lines with requests that wait, the next one first. */
  readonly #turns = new Set<Line>();
  /** Pools that were replaced, until their requests are over. */
  readonly #replaced = new Set<Dispatcher>();
  /** How many 5xx came in a row, and when the connections were replaced, by `performance.now()`. */
  #failures = 0;
  #renewedAt = 0;

  /** @param connect Creates a Pool of `connections`. */
  constructor(connect: () => Dispatcher, connections: number) {
    this.#connect = connect;
    this.#pool = connect();
    this.#connections = connections;
    this.#share = Math.max(1, Math.floor(connections * FAIR_SHARE));
  }

  send(exchange: Queued, fairCaller: object | undefined): void {
    this.waiting += 1;
    exchange.queue = this;
    if (fairCaller) exchange.line = this.#lineOf(fairCaller);
    const { line } = exchange;
    if (line && this.#inPool >= this.#connections && line.inPool >= this.#share) {
      line.waiting.push(exchange);
      this.#turns.add(line);
    } else this.#dispatch(exchange);
  }

  #lineOf(caller: object): Line {
    const line = this.#lines.get(caller) ?? { inPool: 0, waiting: [] };
    this.#lines.set(caller, line);
    return line;
  }

  #dispatch(exchange: Queued): void {
    this.#inPool += 1;
    if (exchange.line) exchange.line.inPool += 1;
    this.#pool.dispatch(exchange.request, exchange);
  }

  /** Called once for each request, when it leaves the queue. */
  began(): void {
    this.waiting -= 1;
    this.active += 1;
  }

  /** Called once for each request that has begun. `status` is that of its response. */
  ended({ line }: Queued, status: number | undefined): void {
    this.active -= 1;
    this.#inPool -= 1;
    if (status !== undefined) this.#renew(status);
    if (line) {
      line.inPool -= 1;
      if (line.inPool < this.#share) this.#dispatchNext(line);
    }
    for (const next of this.#turns) {
      if (this.#inPool >= this.#connections) return;
      this.#turns.delete(next);
      this.#dispatchNext(next);
      if (next.waiting.length > 0) this.#turns.add(next);
    }
  }

  #dispatchNext(line: Line): void {
    const exchange = line.waiting.shift();
    if (exchange) this.#dispatch(exchange);
    else this.#turns.delete(line);
  }

  /**
   * An address that accepts connections and answers 5xx may be one that the name of the service has left: a balancer without
   * healthy servers. New connections look the name up again; those in use finish.
   */
  #renew(status: number): void {
    this.#failures = status >= 500 ? this.#failures + 1 : 0;
    if (this.#failures < RENEW_AFTER || performance.now() - this.#renewedAt < RENEW_EACH_MS) return;
    this.#renewedAt = performance.now();
    this.#failures = 0;
    const replaced = this.#pool;
    this.#pool = this.#connect();
    this.#replaced.add(replaced);
    void replaced.close().finally(() => this.#replaced.delete(replaced));
  }

  /** Closes every connection; requests in flight fail. */
  async destroy(): Promise<void> {
    await Promise.all([this.#pool, ...this.#replaced].map((pool) => pool.destroy()));
  }
}
