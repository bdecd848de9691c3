/*
 * Which pages of the REST service cover the rows an operation asks for?
 *
 * The service hands out aligned pages only: page p of size l holds the rows [(p-1)·l, p·l), l at most 200. An operation
 * may ask for several ranges of one player's list: two pages, a connection that begins in the middle, totals alone.
 * The plan is the fewest calls that cover every row asked for, as long as they fetch at most twice as many rows as that;
 * among those the fewest rows, which means the smallest limits, and the lowest pages.
 *
 * The ranges, in order, are parted into runs of neighbours, and each run is one page: the smallest one around it. A
 * range that no small page surrounds, because it lies across the service's grid, can also be two pages of its own size;
 * these fetch at most twice its rows, so a plan within the bound always exists. For every count of calls the cheapest way
 * to cover the first ranges is found from the ways to cover fewer of them; the answer is the lowest count whose price
 * keeps within the bound. The work grows with the number of ranges, which the limit on aliases bounds, not with rows.
 */
import { MAX_PAGE_SIZE } from '../input/arguments.ts';

/** Rows `from` (counted from 0) up to, but not with, `to`. Empty when only totals are wanted. */
export interface RowRange {
  from: number;
  to: number;
}

export interface Page {
  page: number;
  limit: number;
}

/** How many rows may be fetched for each row asked for. */
const OVERFETCH = 2;

/** A way to cover the first ranges: its pages, and the rows they fetch. */
interface Cover {
  pages: readonly Page[];
  rows: number;
}

/** The pages to call for. Without any row wanted, the smallest page there is: it carries the totals. */
export function planPages(ranges: readonly RowRange[]): readonly Page[] {
  const [only] = ranges;
  // Nearly always: one range, and a page of the service as it stands.
  if (only && ranges.length === 1 && isPage(only)) return [pageAround(only.from, only)];
  const wanted = disjoint(ranges);
  if (wanted.length === 0) return [{ page: 1, limit: 1 }];
  const bound = OVERFETCH * wanted.reduce((rows, range) => rows + sizeOf(range), 0);
  const pages = coversByCalls(wanted).find((cover) => cover && cover.rows <= bound)?.pages ?? [];
  // Two pages of one range and the next range's page can be the same.
  return [...new Map(pages.map((page) => [`${page.page} ${page.limit}`, page])).values()];
}

/** For each count of calls, the cheapest way to cover all ranges with so many; a hole where there is none. */
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

/** Adds `pages` to every cover and keeps the result where it is the cheapest for its count of calls. */
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

/** Two neighbouring pages of a range's own size: wherever it lies, they hold it. */
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

/** The ranges in order, those that touch made one, and none longer than a page can be. */
function disjoint(ranges: readonly RowRange[]): RowRange[] {
  const united: RowRange[] = [];
  for (const { from, to } of ranges.filter((one) => one.to > one.from).sort((a, b) => a.from - b.from)) {
    const last = united.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else united.push({ from, to });
  }
  return united.flatMap(cut);
}

/** Cuts what is too long for one page where the largest pages end. */
function cut(range: RowRange): RowRange[] {
  if (sizeOf(range) <= MAX_PAGE_SIZE) return [range];
  const end = (Math.floor(range.from / MAX_PAGE_SIZE) + 1) * MAX_PAGE_SIZE;
  return [{ from: range.from, to: end }, ...cut({ from: end, to: range.to })];
}
