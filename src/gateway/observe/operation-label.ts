import type { Caller } from '../access/caller.ts';

/** How many names beside the listed ones get a label of their own. */
const MAX_LEARNED = 100;
/** How many names are watched before they get one. */
const MAX_CANDIDATES = 1_000;
/** A longer name was not given by a person. */
const MAX_LENGTH = 64;
/** How many players must have used a name: one player alone could invent a hundred. */
const MIN_PLAYERS = 3;

/**
 * The names under which operations are counted, bounded whatever clients send. Listed operations keep their names, and so do
 * the first hundred others that a server or several players use. The rest is `other`; operations without a name are
 * `anonymous`.
 */
export class OperationLabels {
  readonly #labels: Set<string>;
  readonly #playersOf = new Map<string, Set<string>>();
  #left = MAX_LEARNED;

  /** @param listed The names of the operations in the manifest. */
  constructor(listed: Iterable<string> = []) {
    this.#labels = new Set(listed);
  }

  labelOf(name: string | undefined, caller: Caller | undefined): string {
    if (name === undefined) return 'anonymous';
    if (this.#labels.has(name)) return name;
    if (!caller || this.#left === 0 || name.length > MAX_LENGTH || !this.#isProven(name, caller)) return 'other';
    this.#left -= 1;
    this.#labels.add(name);
    this.#playersOf.delete(name);
    return name;
  }

  #isProven(name: string, { sub, scopes }: Caller): boolean {
    if (sub === undefined || scopes.has('any-player')) return true;
    const players = this.#playersOf.get(name) ?? new Set();
    players.add(sub);
    this.#playersOf.delete(name);
    this.#playersOf.set(name, players);
    const [oldest] = this.#playersOf.keys();
    if (this.#playersOf.size > MAX_CANDIDATES && oldest !== undefined) this.#playersOf.delete(oldest);
    return players.size >= MIN_PLAYERS;
  }
}
