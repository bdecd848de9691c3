/*
 * Which pages of the REST service cover the rows an operation asks for?
 *
 * The service hands out aligned pages only: page p of size l holds the rows [(p-1)·l, p·l), l at most 200. An operation
 * may ask for several stretches of one player's list: two pages, a connection that begins in the middle, totals alone.
 * The plan is the fewest calls that cover every row asked for, as long as they fetch at most twice as many rows as that;
 * among those the fewest rows, which means the smallest limits, and the lowest pages.
 *
 * Covering goes from left to right: a page that covers the first missing row leads to a later missing row. After k calls
 * only the states nobody beats are kept: further to the right, or fewer rows fetched (a plan that completes the list from
 * here also completes it from further right). So few states survive a round, and the first round that reaches the end
 * within the bound is the answer.
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

interface State {
  /** The first row that is wanted and not covered yet. */
  next: number;
  /** Rows fetched so far. */
  rows: number;
  pages: readonly Page[];
}

/** The pages to call for. Without any row wanted, the smallest page there is: it carries the totals. */
export function planPages(stretches: readonly Stretch[]): readonly Page[] {
  const wanted = union(stretches);
  const [first] = wanted;
  if (!first) return [{ page: 1, limit: 1 }];
  if (wanted.length === 1 && isPage(first)) return [pageOf(first)];
  const bound = OVERFETCH * wanted.reduce((sum, { from, to }) => sum + to - from, 0);
  let states: readonly State[] = [{ next: first.from, rows: 0, pages: [] }];
  for (;;) {
    states = unbeaten(states.flatMap((state) => successors(state, wanted, bound)));
    const done = states.find((state) => state.next === Number.POSITIVE_INFINITY);
    if (done) return done.pages;
  }
}

/** Whether a stretch is a page of the service as it stands: nearly always, so it is not searched for. */
function isPage({ from, to }: Stretch): boolean {
  return to - from <= MAX_PAGE_SIZE && from % (to - from) === 0;
}

function pageOf({ from, to }: Stretch): Page {
  return { page: from / (to - from) + 1, limit: to - from };
}

/** Every page that covers the next missing row and keeps within the bound. One row at a time always does. */
function successors(state: State, wanted: readonly Stretch[], bound: number): State[] {
  const result: State[] = [];
  for (let limit = 1; limit <= MAX_PAGE_SIZE && state.rows + limit <= bound; limit += 1) {
    const page = Math.floor(state.next / limit) + 1;
    const next = firstMissing(page * limit, wanted);
    result.push({ next, rows: state.rows + limit, pages: [...state.pages, { page, limit }] });
  }
  return result;
}

/** Drops each state that another one beats or equals in both respects. */
function unbeaten(states: State[]): State[] {
  states.sort((a, b) => a.rows - b.rows || b.next - a.next);
  let furthest = -1;
  return states.filter(({ next }) => {
    const better = next > furthest;
    if (better) furthest = next;
    return better;
  });
}

function firstMissing(row: number, wanted: readonly Stretch[]): number {
  const stretch = wanted.find(({ to }) => to > row);
  return stretch ? Math.max(row, stretch.from) : Number.POSITIVE_INFINITY;
}

/** The stretches in order, those that touch made one. */
function union(stretches: readonly Stretch[]): Stretch[] {
  const result: Stretch[] = [];
  for (const { from, to } of stretches.filter((one) => one.to > one.from).sort((a, b) => a.from - b.from)) {
    const last = result.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else result.push({ from, to });
  }
  return result;
}
