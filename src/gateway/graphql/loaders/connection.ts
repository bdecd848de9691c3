import { MAX_PAGE_SIZE } from '../input/arguments.ts';
import type { Cursor } from '../input/cursor.ts';
import type { ConnectionRows } from '../input/rows.ts';
import type { ReferralLoader, Referrals } from './referral.ts';

/** A range of the list: its first row, and what was found there. */
export interface FoundRange extends Referrals {
  from: number;
}

/**
 * Reads the rows of a connection. Where they follow a cursor that knows its friend, the cursor's own row was requested with
 * them: nearly always that friend still stands there. Otherwise friends were deleted, and the rows are read again from
 * where the cursor points now.
 */
export async function readAfter(
  referrals: ReferralLoader,
  playerUniqueId: string,
  { from, to, first, after }: ConnectionRows,
): Promise<FoundRange | null> {
  const found = await referrals.load({ playerUniqueId, from, to });
  if (!found || after?.friend === undefined || from === to) return found && { ...found, from };
  const [stood, ...rows] = found.rows;
  if (stood?.playerUniqueId === after.friend) return { ...found, rows, from: from + 1 };
  const start = await rowAfterMoved(referrals, playerUniqueId, after, found.total);
  const again = await referrals.load({ playerUniqueId, from: start, to: start + first });
  return again && { ...again, from: start };
}

/**
 * The row after a cursor whose friend no longer stands in its row. The friend is looked for among the 200 rows before. When
 * it is gone itself, as many rows as the list became shorter, at least its own, may have been lost before it: beginning so
 * much earlier leaves nobody out and can bring friends twice.
 */
async function rowAfterMoved(
  referrals: ReferralLoader,
  playerUniqueId: string,
  { row, friend, total }: Cursor,
  totalNow: number | undefined,
): Promise<number> {
  const from = Math.max(0, row - MAX_PAGE_SIZE);
  const earlier = await referrals.load({ playerUniqueId, from, to: row });
  const index = earlier?.rows.findLastIndex(({ playerUniqueId: id }) => id === friend) ?? -1;
  if (index >= 0) return from + index + 1;
  const lost = total === undefined || totalNow === undefined ? 1 : Math.max(1, total - totalNow);
  return Math.max(0, row + 1 - lost);
}
