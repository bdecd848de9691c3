import { LRUCache } from 'lru-cache';
import type { Call } from './call.ts';

interface ReadCacheOptions {
  /** How long a result is fresh, in milliseconds. For as long again, it may be used in place of a failed read. */
  ttlMs: number;
  maxBytes: number;
}

interface Entry<Value> {
  readonly value: Value;
  readonly playerUniqueId: string;
  /** When it was put, on the clock of `performance.now()`. */
  readonly since: number;
}

/** The memory of a decoded result for each byte of its response. Measured. */
const BYTES_PER_RESPONSE_BYTE = 3;
/** The memory of an entry without its value, and for each character of its key. */
const BYTES_PER_ENTRY = 300;
const BYTES_PER_CHARACTER = 2;

/** Results of one endpoint by request identity. Bounded in bytes; the least recently used are evicted. */
export class ReadCache<Value> {
  readonly #ttlMs: number;
  readonly #entries: LRUCache<string, Entry<Value>>;
  readonly #identitiesOf = new Map<string, Set<string>>();
  #enabled = true;

  constructor({ ttlMs, maxBytes }: ReadCacheOptions) {
    this.#ttlMs = ttlMs;
    this.#entries = new LRUCache({
      maxSize: maxBytes,
      dispose: ({ playerUniqueId }, identity) => {
        const identities = this.#identitiesOf.get(playerUniqueId);
        identities?.delete(identity);
        if (identities?.size === 0) this.#identitiesOf.delete(playerUniqueId);
      },
    });
  }

  /** A result within its time to live. */
  fresh(identity: string): Value | undefined {
    return valueWithin(this.#entries.get(identity), this.#ttlMs);
  }

  /** A result that may replace a failure: within twice its time to live. */
  stale(identity: string): Value | undefined {
    return valueWithin(this.#entries.peek(identity), 2 * this.#ttlMs);
  }

  /** Caches the result of a call. */
  put(identity: string, value: Value, { playerUniqueId, bytes }: Pick<Call, 'playerUniqueId' | 'bytes'>): void {
    this.#entries.delete(identity);
    if (!this.#enabled) return;
    const size = bytes * BYTES_PER_RESPONSE_BYTE + identity.length * BYTES_PER_CHARACTER + BYTES_PER_ENTRY;
    this.#entries.set(identity, { value, playerUniqueId, since: performance.now() }, { size });
    if (!this.#entries.has(identity)) return;
    const identities = this.#identitiesOf.get(playerUniqueId);
    if (identities) identities.add(identity);
    else this.#identitiesOf.set(playerUniqueId, new Set([identity]));
  }

  /** Switches the cache on or off, and clears it either way. */
  enable(enabled: boolean): void {
    this.#enabled = enabled;
    this.clear();
  }

  /** Removes everything about one player. */
  invalidate(playerUniqueId: string): void {
    for (const identity of this.#identitiesOf.get(playerUniqueId) ?? []) this.#entries.delete(identity);
  }

  clear(): void {
    if (this.#entries.size === 0) return;
    this.#identitiesOf.clear();
    this.#entries.clear();
  }
}

/** The value of an entry that was put at most `ms` milliseconds ago. */
function valueWithin<Value>(entry: Entry<Value> | undefined, ms: number): Value | undefined {
  return entry && performance.now() - entry.since <= ms ? entry.value : undefined;
}

/**
 * Sends writes to the other processes of this gateway, so that they remove changed results from their read caches. It never
 * throws, and a write never waits for it.
 */
export interface Invalidation {
  /** Called after a write about a player. */
  publish(playerUniqueId: string): void;
  /** Called once. */
  subscribe(listener: InvalidationListener): void;
  close(): Promise<void>;
}

export interface InvalidationListener {
  /** Another process wrote something about a player. */
  written(playerUniqueId: string): void;
  /**
   * Whether writes of other processes are received from now on; false before the first call. While it is false, nothing may
   * be cached, and earlier entries must be removed.
   */
  connected(isConnected: boolean): void;
}
