import { LRUCache } from 'lru-cache';
import type { OperationRecord } from './observe.ts';

/** How many names are remembered. */
const MAX_NAMES = 10_000;
/** How many players must use a name, so that one player cannot use up the labels. */
const MIN_PLAYERS = 3;
/** How many users of a name are counted, and for how long a use counts, in milliseconds: until the end of the next period. */
const MAX_USERS = 100;
const PERIOD_MS = 600_000;
/** How much more a name must be used to take the label of another. */
const MARGIN = 1.5;

/** How a name is used: by which callers and how often in this period, and its score of the one before. */
type Use = { period: number; users: Set<string>; times: number; before: number };

/**
 * Labels of metrics for names that clients choose, so their number is bounded. The names that most callers use have one; each
 * can lose it to another that is used more.
 * @param onLost Called for a name that has lost its label.
 */
export function createLabels(
  max: number,
  maxLength: number,
  onLost: (name: string) => void,
  now = () => performance.now(),
) {
  const listed = new Set<string>();
  const earned = new Set<string>();
  const uses = new LRUCache<string, Use>({ max: MAX_NAMES });
  const useOf = (name: string): Use => {
    const period = Math.floor(now() / PERIOD_MS);
    const last = uses.get(name);
    if (last?.period === period) return last;
    const use = { period, users: new Set<string>(), times: 0, before: last?.period === period - 1 ? scoreOf(last) : 0 };
    uses.set(name, use);
    return use;
  };
  return {
    /** Gives these names a label for good. */
    list(names: Iterable<string>): void {
      for (const name of names) listed.add(name);
    },
    /** The label of a name that a caller uses: the name, or `other`. */
    labelOf(name: string, caller: OperationRecord['caller']): string {
      if (listed.has(name)) return name;
      if (!caller || name.length > maxLength) return 'other';
      const use = useOf(name);
      use.times += 1;
      if (use.users.size < MAX_USERS) use.users.add(caller.key);
      if (earned.has(name)) return name;
      const isOfPlayer = caller.playerUniqueId !== undefined && !caller.scopes.has('any-player');
      if (isOfPlayer && use.users.size < MIN_PLAYERS) return 'other';
      if (earned.size >= max) {
        const scores = [...earned].map((one): [string, number] => [one, scoreOf(useOf(one))]);
        const [weakest, score] = scores.reduce((least, one) => (one[1] < least[1] ? one : least));
        if (scoreOf(use) <= MARGIN * score) return 'other';
        earned.delete(weakest);
        onLost(weakest);
      }
      earned.add(name);
      return name;
    },
  };
}

/** Callers count most: one caller cannot keep the names of others out by many uses of its own. */
function scoreOf({ users, times, before }: Use): number {
  return Math.max(before, users.size === 0 ? 0 : users.size + Math.log10(times));
}
