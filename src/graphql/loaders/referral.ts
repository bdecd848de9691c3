import DataLoader from 'dataloader';
import type { ReferralPage, ReferredFriend } from '../../rest/wire.ts';
import { MAX_PAGE_SIZE } from '../input/arguments.ts';
import { asError, type LoaderDependencies } from './call.ts';

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

type Key = [playerUniqueId: string, page: Page | undefined];
type Result = ReferralPage | null | Error;

/** How many rows may be fetched for each needed row. */
const OVERFETCH = 2;

/** Players' lists of referred friends, each page read once per operation. Null for a player that does not exist. */
export class ReferralLoader {
  readonly #dependencies: LoaderDependencies;
  readonly #pages: DataLoader<Key, ReferralPage | null, string>;

  constructor(dependencies: LoaderDependencies) {
    this.#dependencies = dependencies;
    this.#pages = new DataLoader((keys) => this.#readAll(keys), {
      cacheKeyFn: ([id, page]) => JSON.stringify([id, page?.page, page?.limit]),
    });
  }

  /** Reads a range of a player's list; without rows, only the totals. */
  async load(playerUniqueId: string, range: RowRange): Promise<Referrals | null> {
    const pages = pagesFor(range);
    const read = await Promise.all(pages.map((page) => this.#pages.load([playerUniqueId, page])));
    const [first] = read;
    if (!first || read.includes(null)) return null;
    const start = pages[0] ? (pages[0].page - 1) * pages[0].limit : 0;
    const all = read.length === 1 ? first.referredFriends : read.flatMap((page) => page?.referredFriends ?? []);
    const rows = all.slice(range.from - start, range.to - start);
    const { total, totalPending, totalActive } = first;
    return { rows: range.to > range.from ? rows : [], total, totalPending, totalActive };
  }

  clearAll(): void {
    this.#pages.clearAll();
  }

  async #readAll(keys: readonly Key[]): Promise<Result[]> {
    const { budget, onBatch } = this.#dependencies;
    onBatch('referrals', keys.length);
    const paged = new Set(keys.flatMap(([id, page]) => (page ? [id] : [])));
    budget.take(keys.filter(([id, page]) => page || !paged.has(id)).length);
    const pages = keys.map(([id, page]) => (page ? this.#read(id, page) : undefined));
    const pagesOf = (id: string) => pages.filter((_, index) => keys[index]?.[0] === id);
    return await Promise.all(keys.map(([id], index) => pages[index] ?? this.#readTotals(id, pagesOf(id))));
  }

  /** Each page has the totals, so they come with one that is read anyway; a page that fails does not fail them. */
  async #readTotals(playerUniqueId: string, pages: readonly (Promise<Result> | undefined)[]): Promise<Result> {
    const read = await Promise.all(pages);
    const found = read.find((result) => result !== undefined && !(result instanceof Error));
    if (found !== undefined) return found;
    try {
      if (pages.some(Boolean)) this.#dependencies.budget.take(1);
    } catch (error) {
      return asError(error);
    }
    return await this.#read(playerUniqueId, { page: 1, limit: 1 });
  }

  #read(playerUniqueId: string, { page, limit }: Page): Promise<Result> {
    const { rest, call } = this.#dependencies;
    return rest.listReferrals(playerUniqueId, page, limit, call).catch(asError);
  }
}

/**
 * The pages that contain a range: the smallest one, if it has at most twice as many rows, else two adjacent ones. Undefined
 * in place of a page for totals alone.
 *
 *     0–10     page 1 of 10 rows           is a page
 *     5–15     page 1 of 15 rows           the smallest page that contains the range
 *     11–13    pages 6 and 7 of 2 rows     the smallest page that contains the range has 5 rows
 */
function pagesFor({ from, to }: RowRange): readonly (Page | undefined)[] {
  if (to <= from) return [undefined];
  const size = Math.min(to - from, MAX_PAGE_SIZE);
  const around = (limit: number): Page[] => {
    const pages = new Set([from, to - 1].map((row) => Math.floor(row / limit) + 1));
    return [...pages].map((page) => ({ page, limit }));
  };
  for (let limit = to - from; limit <= Math.min(MAX_PAGE_SIZE, OVERFETCH * size); limit += 1) {
    const pages = around(limit);
    if (pages.length === 1) return pages;
  }
  return around(size);
}
