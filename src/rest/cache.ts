import type { Call } from './call.ts';

export interface ReadCacheOptions {
  /** How long an answer is given as it is, in milliseconds; for as long again it stands in for a failure. */
  ttlMs: number;
  /** How much is kept at most, in bytes. */
  maxBytes: number;
}

interface Entry<Value> {
  readonly value: Value;
  /** The player the answer is about. */
  playerUniqueId: string;
  /** When it came, on the clock of `performance.now()`. */
  since: number;
  bytes: number;
}

/** What is to be known of the call that brought an answer. */
type AnsweredCall = Pick<Call, 'playerUniqueId' | 'bytes'>;

/** What a decoded answer takes in memory for each byte of the body it was read from: measured to be about this much. */
const BYTES_PER_BYTE_READ = 3;
/** What an entry takes beside its value. */
const BYTES_PER_ENTRY = 300;

/** Answers of one endpoint by what selects them; what was not asked for longest goes first when there are too many. */
export class ReadCache<Value> {
  readonly #ttlMs: number;
  readonly #maxBytes: number;
  /** In the order of last use. */
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #identitiesOf = new Map<string, Set<string>>();
  #bytes = 0;
  #inUse = true;

  constructor({ ttlMs, maxBytes }: ReadCacheOptions) {
    this.#ttlMs = ttlMs;
    this.#maxBytes = maxBytes;
  }

  /** An answer that is not older than its time. */
  fresh(identity: string): Value | undefined {
    const entry = this.#entries.get(identity);
    if (entry === undefined || performance.now() - entry.since > this.#ttlMs) return undefined;
    this.#entries.delete(identity);
    this.#entries.set(identity, entry);
    return entry.value;
  }

  /** An answer to give in place of a failure: up to twice as old. */
  stale(identity: string): Value | undefined {
    const entry = this.#entries.get(identity);
    if (entry === undefined || performance.now() - entry.since > 2 * this.#ttlMs) return undefined;
    return entry.value;
  }

  /** Keeps an answer about a player that was read from a body of so many bytes. */
  put(identity: string, value: Value, { playerUniqueId, bytes: bytesRead }: AnsweredCall): void {
    this.#remove(identity);
    if (!this.#inUse) return;
    const bytes = bytesRead * BYTES_PER_BYTE_READ + BYTES_PER_ENTRY;
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

  /** Whether anything may be kept. A change either way forgets all that was kept before. */
  use(yes: boolean): void {
    this.#inUse = yes;
    this.clear();
  }

  /** Forgets what is known about one player. */
  drop(playerUniqueId: string): void {
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
