import type { FieldNode } from 'graphql';
import type { RowRange } from '../loaders/pages.ts';
import { type Selecting, selectsAny } from '../selection.ts';
import { checkPage, checkSize } from './arguments.ts';
import { rowAfter } from './cursor.ts';

export interface PageArguments {
  page: number;
  limit: number;
}

export interface ConnectionArguments {
  first: number;
  after?: string | null | undefined;
}

/** Fields that cannot be answered from the totals. */
const ROWS_OF_PAGE = new Set(['nodes', 'count', 'hasNextPage']);
const ROWS_OF_CONNECTION = new Set(['nodes', 'edges', 'pageInfo']);

/** The rows that a page needs; none when only totals are selected. Throws BAD_USER_INPUT for an invalid page. */
export function rowsOfPage(
  { page, limit }: PageArguments,
  nodes: readonly FieldNode[],
  selecting: Selecting,
): RowRange {
  checkPage(page, limit);
  const from = (page - 1) * limit;
  return { from, to: selectsAny(nodes, ROWS_OF_PAGE, selecting) ? from + limit : from };
}

/** The rows that a connection needs; none when only the total is selected. Throws BAD_USER_INPUT for invalid arguments. */
export function rowsOfConnection(
  { first, after }: ConnectionArguments,
  nodes: readonly FieldNode[],
  selecting: Selecting,
): RowRange {
  checkSize('first', first);
  const from = rowAfter(after);
  return { from, to: selectsAny(nodes, ROWS_OF_CONNECTION, selecting) ? from + first : from };
}
