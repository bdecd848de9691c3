/*
 * Plans which pages of the REST service to fetch for the rows that an operation needs.
 *
 * The service returns only aligned pages: page p of size l has the rows from (p-1)·l up to, but not including, p·l; l is at
 * most 200. An operation may need several ranges of one player's list: two pages, a connection that begins in the middle,
 * only the totals. The plan has the fewest calls that fetch at most twice the needed rows. Of several such plans, it is the
 * one with the fewest rows.
 *
 * Examples, with ranges from the first row up to, but not including, the second:
 *
 *     0–10 and 20–30     page 1 of 30 rows            30 rows are at most twice the needed 20
 *     0–10 and 90–100    pages 1 and 10 of 10 rows    one page for both would have 100 rows
 *     5–15               page 1 of 15 rows            the smallest page that contains the range
 *     11–13              pages 6 and 7 of 2 rows      the smallest page that contains the range has 5 rows
 *
 * The method is dynamic programming over the sorted ranges. Several adjacent ranges can share the smallest page that
 * contains them. A range can also be covered by two adjacent pages of its own size. These fetch twice its rows, so a plan
 * always exists. For each number of calls, the plan with the fewest rows for the first ranges is computed from the plans
 * for fewer ranges. The result is the first of these, by number of calls, with at most twice the needed rows. The time
 * depends on the number of ranges, which the limit on aliases bounds, and not on the number of rows.
 */
import { MAX_PAGE_SIZE } from '../input/arguments.ts';

/** Rows `from` (counted from 0) up to, but not including, `to`. Empty when only totals are needed. */
export interface RowRange {
  from: number;
  to: number;
}

export interface Page {
  page: number;
  limit: number;
}

/** How many rows may be fetched for each needed row. */
const OVERFETCH = 2;

/** A plan for the first ranges: its pages, and the number of rows that they fetch. */
interface Cover {
  pages: readonly Page[];
  rows: number;
}

/** The pages to fetch. When no row is needed, the smallest page: it has the totals. */
export function planPages(ranges: readonly RowRange[]): readonly Page[] {
  const [only] = ranges;
  // The usual case: one range that is a page of the service.
  if (only && ranges.length === 1 && isPage(only)) return [pageAround(only.from, only)];
  const wanted = disjoint(ranges);
  if (wanted.length === 0) return [{ page: 1, limit: 1 }];
  const bound = OVERFETCH * wanted.reduce((rows, range) => rows + sizeOf(range), 0);
  const pages = coversByCalls(wanted).find((cover) => cover && cover.rows <= bound)?.pages ?? [];
  // Two pages of one range and the next range's page can be the same.
  return [...new Map(pages.map((page) => [`${page.page} ${page.limit}`, page])).values()];
}

/** For each number of calls (the index), the plan with the fewest rows for all ranges; undefined when there is none. */
function coversByCalls(wanted: readonly RowRange[]): (Cover | undefined)[] {
  const covers: (Cover | undefined)[][] = [[{ pages: [], rows: 0 }]];
  wanted.forEach((last, index) => {
    const ways: (Cover | undefined)[] = [];
    for (let start = index; start >= 0; start -= 1) {
      const first = wanted[start];
      if (!first || last.to - first.from > MAX_PAGE_SIZE) break;
      const around = smallestPage({ from: first.from, to: last.to });
      if (around) extend(covers[start], [around], ways);
    }
    extend(covers[index], twoPages(last), ways);
    covers.push(ways);
  });
  return covers.at(-1) ?? [];
}

/** Adds `pages` to each of `covers`. Stores the result in `into` if it has the fewest rows for its number of calls. */
function extend(
  covers: readonly (Cover | undefined)[] = [],
  pages: readonly Page[],
  into: (Cover | undefined)[],
): void {
  const price = pages.reduce((rows, { limit }) => rows + limit, 0);
  for (const cover of covers) {
    if (!cover) continue;
    const calls = cover.pages.length + pages.length;
    const rows = cover.rows + price;
    if (rows < (into[calls]?.rows ?? Number.POSITIVE_INFINITY))
      into[calls] = { pages: [...cover.pages, ...pages], rows };
  }
}

/** The smallest page that holds a whole range, if one of at most 200 rows does. */
function smallestPage({ from, to }: RowRange): Page | undefined {
  for (let limit = to - from; limit <= MAX_PAGE_SIZE; limit += 1) {
    if (Math.floor(from / limit) === Math.floor((to - 1) / limit)) return { page: Math.floor(from / limit) + 1, limit };
  }
  return undefined;
}

/** Two adjacent pages of the size of a range: they always contain it. */
function twoPages(range: RowRange): Page[] {
  return [pageAround(range.from, range), pageAround(range.to - 1, range)];
}

function pageAround(row: number, range: RowRange): Page {
  return { page: Math.floor(row / sizeOf(range)) + 1, limit: sizeOf(range) };
}

function isPage(range: RowRange): boolean {
  const size = sizeOf(range);
  return size > 0 && size <= MAX_PAGE_SIZE && range.from % size === 0;
}

function sizeOf({ from, to }: RowRange): number {
  return to - from;
}

/** The sorted ranges. Ranges that overlap or touch are merged, and ranges longer than the largest page are split. */
function disjoint(ranges: readonly RowRange[]): RowRange[] {
  const united: RowRange[] = [];
  for (const { from, to } of ranges.filter((one) => one.to > one.from).sort((a, b) => a.from - b.from)) {
    const last = united.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else united.push({ from, to });
  }
  return united.flatMap(splitRange);
}

/** Splits a range that is too long for one page, at the ends of the largest pages. */
function splitRange(range: RowRange): RowRange[] {
  if (sizeOf(range) <= MAX_PAGE_SIZE) return [range];
  const end = (Math.floor(range.from / MAX_PAGE_SIZE) + 1) * MAX_PAGE_SIZE;
  return [{ from: range.from, to: end }, ...splitRange({ from: end, to: range.to })];
}
