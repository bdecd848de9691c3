/*
 * The reads that are under way, found by what selects their answer.
 *
 * Why no Map: entries come and go with every call, and V8 copies a Map that is emptied as fast as it is filled into a new
 * table every few calls, and has each old table point to the next one. Once one of them has reached the old generation, all
 * tables after it are kept until the next full collection, and with them every call that was in them: the collector
 * copied a kilobyte for each request that way. The shelves here are made once; a call is put on the shelf of its player
 * and taken off again.
 */
import type { SharedCall } from './call.ts';

const SHELVES = 256;
/** How much of an identifier chooses the shelf, in characters from its end, where identifiers differ most. */
const CHARACTERS = 4;

export class InFlight<Result> {
  readonly #shelves = Array.from({ length: SHELVES }, (): SharedCall<Result>[] => []);

  /** A call that can still be joined. */
  find(identity: string, playerUniqueId: string): SharedCall<Result> | undefined {
    for (const call of this.#shelfOf(playerUniqueId)) {
      if (call.request.identity === identity && !call.cancelled) return call;
    }
    return undefined;
  }

  has(call: SharedCall<Result>): boolean {
    return this.#shelfOf(call.playerUniqueId).includes(call);
  }

  add(call: SharedCall<Result>): void {
    this.#shelfOf(call.playerUniqueId).push(call);
  }

  remove(call: SharedCall<Result>): void {
    const shelf = this.#shelfOf(call.playerUniqueId);
    const index = shelf.indexOf(call);
    if (index < 0) return;
    const last = shelf.pop();
    if (last && last !== call) shelf[index] = last;
  }

  removePlayer(playerUniqueId: string): void {
    const about = this.#shelfOf(playerUniqueId).filter((call) => call.playerUniqueId === playerUniqueId);
    for (const call of about) this.remove(call);
  }

  clear(): void {
    for (const shelf of this.#shelves) shelf.length = 0;
  }

  #shelfOf(playerUniqueId: string): SharedCall<Result>[] {
    const { length } = playerUniqueId;
    let hash = length;
    for (let at = Math.max(0, length - CHARACTERS); at < length; at += 1)
      hash = hash * 31 + playerUniqueId.charCodeAt(at);
    return this.#shelves[hash % SHELVES] ?? [];
  }
}
