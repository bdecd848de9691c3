import { createHmac, hash } from 'node:crypto';
import type { Secret } from '../../config/secret.ts';
import { badUserInput } from '../../errors.ts';
import type { ReferredFriend } from '../../rest/decode/referral.ts';
import { MAX_PAGE_SIZE, type ReferralLoader, type Referrals, type RowRange } from './referral.ts';

export type HashFriend = (owner: string, friend: string) => string;

/** What stands for a friend in ids and cursors: a keyed hash, because ids can be personal data. Another one for each owner. */
export function createFriendHash(secret: Secret): HashFriend {
  const key = createHmac('sha256', secret).update('ids of friends').digest('base64url');
  return (owner, friend) => hash('sha256', key + JSON.stringify([owner, friend]), 'base64url').slice(0, 22);
}

/** A place in a list of referred friends: its row, counted from 0, and the hash of the friend in it, if that has an identifier. */
interface Cursor {
  row: number;
  friend: string | undefined;
}

export interface ReferredFriendEdgeParent {
  node: ReferredFriend;
  /** In the whole list, counted from 0. */
  row: number;
}

const MAX_CURSOR_ROW = 999_999_999;
/** What of a cursor is read. Ours are shorter; to parse 150,000 brackets takes up to 50 ms. */
const MAX_CURSOR_LENGTH = 2_048;

/** The cursor of an edge, which is opaque to clients. */
export function cursorOf({ row, node }: ReferredFriendEdgeParent, hashFriend: HashFriend): string {
  const { owner, playerUniqueId } = node;
  const friend = playerUniqueId === undefined ? null : hashFriend(owner, playerUniqueId);
  return Buffer.from(JSON.stringify([row, friend])).toString('base64url');
}

/** Throws BAD_USER_INPUT for a text that is no cursor of ours. */
export function readCursor(text: string): Cursor {
  try {
    const [row, friend]: unknown[] = JSON.parse(Buffer.from(text.slice(0, MAX_CURSOR_LENGTH), 'base64url').toString());
    const isRow = typeof row === 'number' && Number.isInteger(row) && row >= 0 && row <= MAX_CURSOR_ROW;
    if (isRow && (friend === null || typeof friend === 'string')) return { row, friend: friend ?? undefined };
  } catch {
    // Refused like every other text.
  }
  throw badUserInput('after', 'must be a cursor from an earlier response');
}

/** A range whose first row is that of the cursor, if there is one with a friend. */
export interface ConnectionRange extends RowRange {
  first: number;
  after: Cursor | undefined;
}

/**
 * Reads the rows after a cursor. The list can have changed since: the cursor's friend is searched in its own row and after it, then
 * in the rows before it, read again; else the list begins again. See "Merged pages of referrals" in docs/architecture.md.
 */
export async function readConnection(
  referrals: ReferralLoader,
  playerUniqueId: string,
  { from, to, first, after }: ConnectionRange,
  hashFriend: HashFriend,
): Promise<(Referrals & { from: number }) | null> {
  const found = await referrals.load(playerUniqueId, { from, to });
  if (!found || after?.friend === undefined || from === to) return found && { ...found, from };
  const isCursor = ({ owner, playerUniqueId: id }: ReferredFriend) =>
    id !== undefined && hashFriend(owner, id) === after.friend;
  const at = found.rows.findIndex(isCursor) + 1;
  // The friend has moved towards the end: not all of the next rows were read.
  if (at > 1) {
    const row = from + at - 1;
    const next = await referrals.load(playerUniqueId, { from: row, to: row + 1 + first });
    const start = next ? next.rows.findIndex(isCursor) + 1 : 0;
    return next && { ...next, rows: next.rows.slice(start, start + first), from: row + start };
  }
  const rows = found.rows.slice(1);
  if (at === 1) return { ...found, rows, from: from + 1 };
  const start = Math.max(0, from + 1 - MAX_PAGE_SIZE);
  // Another field may have read these rows before `found`.
  const { rows: earlier } = (await referrals.loadAgain(playerUniqueId, { from: start, to: from + 1 })) ?? { rows: [] };
  const next = earlier.findIndex(isCursor) + 1;
  const again = { from: 0, to: first, first, after: undefined };
  if (next === 0) return await readConnection(referrals, playerUniqueId, again, hashFriend);
  return { ...found, rows: [...earlier.slice(next), ...rows].slice(0, first), from: start + next };
}
