import type { ReferralPage, ReferredFriend } from '../../rest/decode/referral.ts';
import { createLoader, type LoaderDependencies } from './loader.ts';

/** The largest page of the REST service (interface document, "Limits"). */
export const MAX_PAGE_SIZE = 200;

/** Rows `from` (counted from 0) up to, but not including, `to`. Empty when only totals are needed. */
export interface RowRange {
  from: number;
  to: number;
}

/** A page of the REST service: its rows are (page - 1) · limit up to, but not including, page · limit. */
interface Page {
  page: number;
  limit: number;
}

/** The rows and totals that were read: fewer rows than requested at the end of the list. */
export interface Referrals extends Pick<ReferralPage, 'total' | 'totalPending' | 'totalActive'> {
  rows: readonly ReferredFriend[];
}

/** The smallest page, for totals alone. */
const TOTALS: Page = { page: 1, limit: 1 };

type Key = [playerUniqueId: string, page: Page | undefined];
type Result = ReferralPage | null;

export type ReferralLoader = ReturnType<typeof createReferralLoader>;

/** Players' lists of referred friends, each page read once per operation. Null for a player that does not exist. */
export function createReferralLoader({ rest, callContext, budget, onBatch }: LoaderDependencies) {
  /** Each page has the totals, so totals come with a page of the same player that is read anyway. */
  async function begin(keys: readonly Key[]): Promise<Promise<Result>[]> {
    onBatch('referrals', keys.length);
    const paged = new Set(keys.flatMap(([id, page]) => (page ? [id] : [])));
    budget.consume(keys.filter(([id, page]) => page || !paged.has(id)).length);
    const pages = new Map<string, Promise<Result>>();
    const read = (id: string, { page, limit } = TOTALS) => {
      const result = rest.listReferrals(id, page, limit, callContext);
      pages.set(id, result);
      return result;
    };
    const reads = keys.map(([id, page]) => (page ? read(id, page) : undefined));
    return keys.map(([id], index) => reads[index] ?? pages.get(id) ?? read(id));
  }

  const loader = createLoader<Key, Result, string>(begin, {
    cacheKeyFn: ([id, page]) => JSON.stringify([id, page?.page, page?.limit]),
  });
  async function load(playerUniqueId: string, { from, to }: RowRange): Promise<Referrals | null> {
    const [page, next] = pagesFor({ from, to });
    // The later page is read first. A friend who moves to an earlier row between both reads is then listed twice, not left out.
    const last = next && (await loader.load([playerUniqueId, next]));
    const first = await loader.load([playerUniqueId, page]);
    if (!first || last === null) return null;
    const { referredFriends } = first;
    // The totals come with the later page. Those of an older state could be smaller, and `hasNextPage` would be wrong.
    const { total, totalPending, totalActive } = last ?? first;
    const start = page ? (page.page - 1) * page.limit : 0;
    const all = last ? [...referredFriends, ...last.referredFriends] : referredFriends;
    return { rows: to > from ? all.slice(from - start, to - start) : [], total, totalPending, totalActive };
  }
  return {
    /** Reads a range of a player's list; without rows, only the totals. */
    load,
    /** Reads a range that may have been read before, as it is now. */
    loadAgain(playerUniqueId: string, range: RowRange): Promise<Referrals | null> {
      for (const page of pagesFor(range)) loader.clear([playerUniqueId, page]);
      return load(playerUniqueId, range);
    },
    clearAll: () => void loader.clearAll(),
  };
}

/**
 * The pages that contain a range: the smallest one (for rows 5 to 15, page 1 of 15 rows), else two adjacent ones (for 100 to 201,
 * pages 1 and 2 of 101 rows). Undefined in place of a page for totals alone.
 */
function pagesFor({ from, to }: RowRange): readonly [page: Page | undefined, next?: Page] {
  if (to <= from) return [undefined];
  const size = Math.min(to - from, MAX_PAGE_SIZE);
  const pageOf = (row: number, limit: number): Page => ({ page: Math.floor(row / limit) + 1, limit });
  for (let limit = size; limit <= MAX_PAGE_SIZE; limit += 1) {
    if (pageOf(from, limit).page === pageOf(to - 1, limit).page) return [pageOf(from, limit)];
  }
  return [pageOf(from, size), pageOf(to - 1, size)];
}
