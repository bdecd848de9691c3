/*
 * Which pages of the REST service cover the rows an operation asks for?
 *
 * The service hands out aligned pages only: page p of size l holds the rows [(p-1)·l, p·l), l at most 200. An operation
 * may ask for several stretches of one player's list: two pages, a connection that begins in the middle, totals alone.
 * The plan is the fewest calls that cover every row asked for, as long as they fetch at most twice as many rows as that;
 * among those the fewest rows, which means the smallest limits, and the lowest pages.
 *
 * The stretches, in order, are parted into runs of neighbours, and each run is one page: the smallest one around it. A
 * stretch that no small page surrounds, because it lies across the service's grid, can also be two pages of its own size;
 * these fetch at most twice its rows, so a plan within the bound always exists. For every count of calls the cheapest way
 * to cover the first stretches is found from the ways to cover fewer of them; the answer is the lowest count whose price
 * keeps within the bound. The work grows with the number of stretches, which the limit on aliases bounds, not with rows.
 */
import { MAX_PAGE_SIZE } from '../input/arguments.ts';

/** Rows `from` (counted from 0) up to, but not with, `to`. Empty when only totals are wanted. */
export interface Stretch {
  from: number;
  to: number;
}

export interface Page {
  page: number;
  limit: number;
}

/** How many rows may be fetched for each row asked for. */
const OVERFETCH = 2;

/** A way to cover the first stretches: its pages, and the rows they fetch. */
interface Cover {
  pages: readonly Page[];
  rows: number;
}

/** The pages to call for. Without any row wanted, the smallest page there is: it carries the totals. */
export function planPages(stretches: readonly Stretch[]): readonly Page[] {
  const [only] = stretches;
  // Nearly always: one stretch, and a page of the service as it stands.
  if (only && stretches.length === 1 && isPage(only)) return [pageAround(only.from, only)];
  const wanted = disjoint(stretches);
  if (wanted.length === 0) return [{ page: 1, limit: 1 }];
  const bound = OVERFETCH * wanted.reduce((rows, stretch) => rows + sizeOf(stretch), 0);
  const pages = coversByCalls(wanted).find((cover) => cover && cover.rows <= bound)?.pages ?? [];
  // Two pages of one stretch and the next stretch's page can be the same.
  return [...new Map(pages.map((page) => [`${page.page} ${page.limit}`, page])).values()];
}

/** For each count of calls, the cheapest way to cover all stretches with so many; a hole where there is none. */
function coversByCalls(wanted: readonly Stretch[]): (Cover | undefined)[] {
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

/** The smallest page that holds a whole stretch, if one of at most 200 rows does. */
function smallestPage({ from, to }: Stretch): Page | undefined {
  for (let limit = to - from; limit <= MAX_PAGE_SIZE; limit += 1) {
    if (Math.floor(from / limit) === Math.floor((to - 1) / limit)) return { page: Math.floor(from / limit) + 1, limit };
  }
  return undefined;
}

/** Two neighbouring pages of a stretch's own size: wherever it lies, they hold it. */
function twoPages(stretch: Stretch): Page[] {
  return [pageAround(stretch.from, stretch), pageAround(stretch.to - 1, stretch)];
}

function pageAround(row: number, stretch: Stretch): Page {
  return { page: Math.floor(row / sizeOf(stretch)) + 1, limit: sizeOf(stretch) };
}

function isPage(stretch: Stretch): boolean {
  const size = sizeOf(stretch);
  return size > 0 && size <= MAX_PAGE_SIZE && stretch.from % size === 0;
}

function sizeOf({ from, to }: Stretch): number {
  return to - from;
}

/** The stretches in order, those that touch made one, and none longer than a page can be. */
function disjoint(stretches: readonly Stretch[]): Stretch[] {
  const united: Stretch[] = [];
  for (const { from, to } of stretches.filter((one) => one.to > one.from).sort((a, b) => a.from - b.from)) {
    const last = united.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else united.push({ from, to });
  }
  return united.flatMap(cut);
}

/** Cuts what is too long for one page where the largest pages end. */
function cut(stretch: Stretch): Stretch[] {
  if (sizeOf(stretch) <= MAX_PAGE_SIZE) return [stretch];
  const end = (Math.floor(stretch.from / MAX_PAGE_SIZE) + 1) * MAX_PAGE_SIZE;
  return [{ from: stretch.from, to: end }, ...cut({ from: end, to: stretch.to })];
}
