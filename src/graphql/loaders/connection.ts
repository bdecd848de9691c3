import { MAX_PAGE_SIZE } from '../input/arguments.ts';
import type { Cursor } from '../input/cursor.ts';
import type { ConnectionRows } from '../input/rows.ts';
import type { ReferralLoader, Referrals } from './referral.ts';

/** A range of the list: its first row, and what was found there. */
interface FoundRange extends Referrals {
  from: number;
}

/**
 * Reads the rows of a connection. With a cursor that contains a friend, `from` is the cursor's own row. Usually the first
 * row read is still that friend. If not, friends were deleted: the new row of the cursor is determined, and the rows after
 * it are read again.
 */
export async function readConnection(
  referrals: ReferralLoader,
  playerUniqueId: string,
  { from, to, first, after }: ConnectionRows,
): Promise<FoundRange | null> {
  const found = await referrals.load({ playerUniqueId, from, to });
  if (!found || after?.friend === undefined || from === to) return found && { ...found, from };
  const [rowOfCursor, ...rows] = found.rows;
  if (rowOfCursor?.playerUniqueId === after.friend) return { ...found, rows, from: from + 1 };
  const start = await rowAfterDeletions(referrals, playerUniqueId, after, found.total);
  const again = await referrals.load({ playerUniqueId, from: start, to: start + first });
  return again && { ...again, from: start };
}

/**
 * The row after a cursor whose friend is no longer in its row. Searches the 200 rows before for the friend. If the friend
 * was deleted too, at most as many earlier rows were deleted as the list became shorter (at least one). Starting that much
 * earlier skips no friend, but can return friends twice.
 */
async function rowAfterDeletions(
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
