import * as z from 'zod';
import type { FriendRow, Totals } from '../store/referrals.ts';
import { isoTime, parseStored, type Response, type Wire } from './response.ts';

const WHOLE_NUMBER = /^\d{1,15}$/;

const wholeNumber = (from: number, to: number, problem: string) =>
  z
    .string(problem)
    .regex(WHOLE_NUMBER, problem)
    .transform(Number)
    .refine((value) => value >= from && value <= to, problem);

/** The query of `GET /integrations/players/{playerUniqueId}/referrals`. */
export const referralQuery = z.object({
  page: wholeNumber(1, Number.MAX_SAFE_INTEGER, 'must be a whole number from 1 on, given once').default(1),
  limit: wholeNumber(1, 200, 'must be a whole number from 1 to 200, given once').default(50),
});

/** One page of friends, with the totals of all of them. */
export function referralPage({ pending, active }: Totals, friends: readonly FriendRow[]) {
  return {
    referredFriends: friends.map(referredFriend),
    count: friends.length,
    total: pending + active,
    totalPending: pending,
    totalActive: active,
  };
}

/** Without the attribute `joinDate`, a friend joined when the service created it. */
function referredFriend(row: FriendRow): Response<Wire['ReferredFriend']> {
  const { displayName, email, mobile, joinDate } = parseStored<Wire['PlayerAttributes']>(row.attributes) ?? {};
  return {
    playerUniqueId: row.player_unique_id,
    displayName,
    email,
    mobileNumber: mobile,
    joinDate: joinDate ?? isoTime(row.created_at),
    status: row.status,
  };
}
