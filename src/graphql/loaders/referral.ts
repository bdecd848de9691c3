import DataLoader from 'dataloader';
import type { ReferralPage, ReferredFriend } from '../../rest/wire.ts';
import { asError, type LoaderDependencies } from './call.ts';
import { type Page, planPages, type RowRange } from './pages.ts';

/** Rows of one player's list of referred friends. An empty range requests only the totals. */
interface ReferralKey extends RowRange {
  playerUniqueId: string;
}

/** The rows and totals that were read: fewer rows than requested at the end of the list. */
export interface Referrals extends Pick<ReferralPage, 'total' | 'totalPending' | 'totalActive'> {
  rows: readonly ReferredFriend[];
}

export type ReferralLoader = DataLoader<ReferralKey, Referrals | null, string>;

type Fetched = Page & { result: ReferralPage | null | Error };

/**
 * Reads ranges of players' lists of referred friends. All ranges that one operation needs of one player in one tick (pages
 * under several aliases, a connection, only totals) are read with as few REST calls as possible; see pages.ts.
 */
export function createReferralLoader({ rest, call, budget, onBatch }: LoaderDependencies): ReferralLoader {
  return new DataLoader(
    async (keys) => {
      onBatch('referrals', keys.length);
      const plans = new Map([...byPlayer(keys)].map(([id, ranges]) => [id, planPages(ranges)]));
      budget.take([...plans.values()].reduce((calls, plan) => calls + plan.length, 0));
      const fetched = new Map<string, Promise<Fetched[]>>();
      for (const [id, plan] of plans) fetched.set(id, Promise.all(plan.map((page) => fetchPage(id, page))));
      return await Promise.all(keys.map(async (key) => takeRange(key, (await fetched.get(key.playerUniqueId)) ?? [])));
    },
    { cacheKeyFn: ({ playerUniqueId, from, to }) => `${from} ${to} ${playerUniqueId}` },
  );

  function fetchPage(playerUniqueId: string, { page, limit }: Page): Promise<Fetched> {
    const fetched = (result: Fetched['result']) => ({ page, limit, result });
    return rest.listReferrals(playerUniqueId, page, limit, call).then(fetched, (error) => fetched(asError(error)));
  }
}

function byPlayer(keys: readonly ReferralKey[]): Map<string, RowRange[]> {
  const groups = new Map<string, RowRange[]>();
  for (const key of keys) {
    const group = groups.get(key.playerUniqueId);
    if (group) group.push(key);
    else groups.set(key.playerUniqueId, [key]);
  }
  return groups;
}

/** Takes one range from the pages that were fetched for all ranges. A failed page fails the ranges that need it. */
function takeRange({ from, to }: RowRange, fetched: readonly Fetched[]): Referrals | null | Error {
  const pages = fetched.filter(({ page, limit }) => from === to || ((page - 1) * limit < to && page * limit > from));
  const rows: ReferredFriend[] = [];
  let totals: ReferralPage | undefined;
  for (const { page, limit, result } of pages) {
    if (result === null || result instanceof Error) return result;
    totals ??= result;
    const first = (page - 1) * limit;
    const friends = result.referredFriends;
    // The usual case: one page has all rows.
    if (pages.length === 1) return found(friends.slice(from - first, to - first), result);
    for (let row = Math.max(from, first); row < Math.min(to, first + limit); row += 1) {
      const friend = friends[row - first];
      if (friend) rows[row - from] = friend;
    }
  }
  return found(rows.filter(Boolean), totals);
}

function found(rows: readonly ReferredFriend[], totals: ReferralPage | undefined): Referrals {
  return { rows, total: totals?.total, totalPending: totals?.totalPending, totalActive: totals?.totalActive };
}
