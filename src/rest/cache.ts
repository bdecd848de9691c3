import type { Call } from './call.ts';

export interface ReadCacheOptions {
  /** How long a result is fresh, in milliseconds. For as long again, it may be used in place of a failed read. */
  ttlMs: number;
  maxBytes: number;
}

interface Entry<Value> {
  readonly value: Value;
  playerUniqueId: string;
  /** When it was put, on the clock of `performance.now()`. */
  since: number;
  bytes: number;
}

/** The memory of a decoded result for each byte of its response. Measured. */
const BYTES_PER_RESPONSE_BYTE = 3;
/** The memory of an entry without its value, and for each character of its key. */
const BYTES_PER_ENTRY = 300;
const BYTES_PER_CHARACTER = 2;

/** Results of one endpoint by request identity. Bounded in bytes; the least recently used are evicted. */
export class ReadCache<Value> {
  readonly #ttlMs: number;
  readonly #maxBytes: number;
  /** In the order of last use. */
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #identitiesOf = new Map<string, Set<string>>();
  #bytes = 0;
  #enabled = true;

  constructor({ ttlMs, maxBytes }: ReadCacheOptions) {
    this.#ttlMs = ttlMs;
    this.#maxBytes = maxBytes;
  }

  /** A result within its time to live. */
  fresh(identity: string): Value | undefined {
    const entry = this.#entries.get(identity);
    if (entry === undefined || performance.now() - entry.since > this.#ttlMs) return undefined;
    this.#entries.delete(identity);
    this.#entries.set(identity, entry);
    return entry.value;
  }

  /** A result that may replace a failure: within twice its time to live. */
  stale(identity: string): Value | undefined {
    const entry = this.#entries.get(identity);
    if (entry === undefined || performance.now() - entry.since > 2 * this.#ttlMs) return undefined;
    return entry.value;
  }

  /** Caches the result of a call. */
  put(identity: string, value: Value, call: Pick<Call, 'playerUniqueId' | 'bytes'>): void {
    this.#remove(identity);
    if (!this.#enabled) return;
    const { playerUniqueId } = call;
    const bytes = call.bytes * BYTES_PER_RESPONSE_BYTE + identity.length * BYTES_PER_CHARACTER + BYTES_PER_ENTRY;
    if (bytes > this.#maxBytes) return;
    this.#entries.set(identity, { value, playerUniqueId, since: performance.now(), bytes });
    const identities = this.#identitiesOf.get(playerUniqueId);
    if (identities) identities.add(identity);
    else this.#identitiesOf.set(playerUniqueId, new Set([identity]));
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#remove(oldest);
    }
  }

  /** Switches the cache on or off, and clears it either way. */
  enable(enabled: boolean): void {
    this.#enabled = enabled;
    this.clear();
  }

  /** Removes everything about one player. */
  invalidate(playerUniqueId: string): void {
    for (const identity of this.#identitiesOf.get(playerUniqueId) ?? []) this.#remove(identity);
  }

  clear(): void {
    this.#entries.clear();
    this.#identitiesOf.clear();
    this.#bytes = 0;
  }

  #remove(identity: string): void {
    const entry = this.#entries.get(identity);
    if (entry === undefined) return;
    this.#entries.delete(identity);
    this.#bytes -= entry.bytes;
    const identities = this.#identitiesOf.get(entry.playerUniqueId);
    identities?.delete(identity);
    if (identities?.size === 0) this.#identitiesOf.delete(entry.playerUniqueId);
  }
}
