import { MAX_PAGE_SIZE } from '../input/arguments.ts';
import type { Cursor } from '../input/cursor.ts';
import type { ReferralLoader, Referrals, RowRange } from './referral.ts';

export interface ConnectionRows extends RowRange {
  first: number;
  /** Where to begin; the range then begins with the row of the cursor, so that its friend can be compared. */
  after: Cursor | undefined;
}

/** A range of the list: its first row, and what was found there. */
interface FoundRange extends Referrals {
  from: number;
}

/** How often the list is read again while friends are deleted at the same time. */
const MAX_READS = 5;

/**
 * Reads the rows of a connection. With a cursor that holds a friend, `from` is the cursor's own row. If another friend is in
 * it, earlier friends were deleted: the 200 rows before are searched for the cursor's friend, and the rows after it are read
 * and compared again.
 */
export async function readConnection(
  referrals: ReferralLoader,
  playerUniqueId: string,
  { from, to, first, after }: ConnectionRows,
): Promise<FoundRange | null> {
  if (after?.friend === undefined || from === to) {
    const found = await referrals.load(playerUniqueId, { from, to });
    return found && { ...found, from };
  }
  let row = from;
  for (let reads = 1; ; reads += 1) {
    const found = await referrals.load(playerUniqueId, { from: row, to: row + 1 + first });
    if (!found) return null;
    const [rowOfCursor, ...rows] = found.rows;
    if (rowOfCursor?.playerUniqueId === after.friend) return { ...found, rows, from: row + 1 };
    // What was read before is another state of the list.
    referrals.clearAll();
    const start = Math.max(0, row - MAX_PAGE_SIZE);
    const earlier = await referrals.load(playerUniqueId, { from: start, to: row });
    const index = earlier?.rows.findLastIndex(({ playerUniqueId: id }) => id === after.friend) ?? -1;
    if (index < 0 || reads === MAX_READS)
      return await readWithoutFriend(referrals, playerUniqueId, first, after, earlier?.total);
    row = start + index;
  }
}

/**
 * The rows after a cursor whose friend was deleted too. As many earlier rows were deleted as the list became shorter (at least
 * one). Starting that much earlier leaves nobody out, but can return friends twice.
 */
async function readWithoutFriend(
  referrals: ReferralLoader,
  playerUniqueId: string,
  first: number,
  { row, total }: Cursor,
  totalNow: number | undefined,
): Promise<FoundRange | null> {
  const lostUntil = (now: number | undefined) =>
    total === undefined || now === undefined ? 1 : Math.max(1, total - now);
  let lost = lostUntil(totalNow);
  for (let reads = 1; ; reads += 1) {
    const from = Math.max(0, row + 1 - lost);
    const found = await referrals.load(playerUniqueId, { from, to: from + first });
    const lostNow = lostUntil(found?.total);
    if (!found || lostNow <= lost || reads === MAX_READS) return found && { ...found, from };
    lost = lostNow;
    referrals.clearAll();
  }
}
