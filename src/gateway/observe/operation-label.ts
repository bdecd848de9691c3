/** How many names that were not known before get a place of their own. */
const MAX_LEARNED = 100;
/** A name longer than this is no name a person gave. */
const MAX_LENGTH = 64;

/** Gives operations the name they are counted under. */
export type NameOf = (name: string | undefined, authenticated: boolean) => string;

/**
 * Keeps the number of names in the metrics bounded, whatever clients send: known operations keep theirs, and so do the
 * first hundred others that authenticated callers use; the rest is `other`. Operations without a name are `anonymous`.
 */
export function createNames(known: Iterable<string>): NameOf {
  const names = new Set(known);
  let left = MAX_LEARNED;
  return (name, authenticated) => {
    if (name === undefined) return 'anonymous';
    if (names.has(name)) return name;
    if (!authenticated || left === 0 || name.length > MAX_LENGTH) return 'other';
    left -= 1;
    names.add(name);
    return name;
  };
}
