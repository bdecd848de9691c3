import type { PlayerReferredFriendsArgs, PlayerReferredFriendsConnectionArgs } from '../../generated/graphql.ts';
import type { RowRange } from '../loaders/referral.ts';
import { type Selected, type SelectionContext, selectsAny } from '../selection.ts';
import { checkPage, checkSize } from './arguments.ts';
import { type Cursor, readCursor } from './cursor.ts';

interface PageRows extends RowRange {
  page: number;
  limit: number;
}

export interface ConnectionRows extends RowRange {
  first: number;
  /** Where to begin; the range then begins with the row of the cursor, so that its friend can be compared. */
  after: Cursor | undefined;
}

/** The defaults of the schema. */
const DEFAULT_SIZE = 50;

/** Fields that cannot be answered from the totals. */
const ROWS_OF_PAGE = new Set(['nodes', 'count', 'hasNextPage']);
const ROWS_OF_CONNECTION = new Set(['nodes', 'edges', 'pageInfo']);

/**
 * The rows a page asks for; none where only totals are selected. Null and an absent argument mean the default. Throws
 * BAD_USER_INPUT for an invalid page.
 */
export function rowsOfPage(
  args: PlayerReferredFriendsArgs,
  nodes: readonly Selected[],
  selecting: SelectionContext,
): PageRows {
  const [page, limit] = [args.page ?? 1, args.limit ?? DEFAULT_SIZE];
  checkPage(page, limit);
  const from = (page - 1) * limit;
  const to = selectsAny(nodes, 'ReferredFriendPage', ROWS_OF_PAGE, selecting) ? from + limit : from;
  return { page, limit, from, to };
}

/** The rows that a connection needs; none when only the total is selected. Throws BAD_USER_INPUT for invalid arguments. */
export function rowsOfConnection(
  args: PlayerReferredFriendsConnectionArgs,
  nodes: readonly Selected[],
  selecting: SelectionContext,
): ConnectionRows {
  const first = args.first ?? DEFAULT_SIZE;
  checkSize('first', first, 0);
  const after = args.after == null ? undefined : readCursor(args.after);
  const from = after ? after.row + 1 : 0;
  if (first === 0 || !selectsAny(nodes, 'ReferredFriendConnection', ROWS_OF_CONNECTION, selecting)) {
    return { first, after, from, to: from };
  }
  return { first, after, from: after?.friend === undefined ? from : from - 1, to: from + first };
}
