import type { Queries } from './store.ts';

/** How many rows of each list a report has. */
const MAX_ROWS = 200;

export type ReportedReferral = Awaited<ReturnType<typeof listReferrals>>[number];

/** The referral of the player as a friend, then those as a referrer, with the ids of the clients. */
export function listReferrals(queries: Queries, playerId: number) {
  return queries
    .selectFrom('referrals')
    .innerJoin('players as friends', 'friends.id', 'referrals.friend_id')
    .innerJoin('players as referrers', 'referrers.id', 'referrals.referrer_id')
    .selectAll('referrals')
    .select(['friends.player_unique_id as friend', 'referrers.player_unique_id as referrer'])
    .where((where) => where.or([where('friend_id', '=', playerId), where('referrer_id', '=', playerId)]))
    .orderBy('referred_at')
    .orderBy('friend_id')
    .limit(MAX_ROWS)
    .execute();
}

/** The player's coupons, and the friends whose referrals they reward. */
export function listReportedCoupons(queries: Queries, playerId: number) {
  return queries
    .selectFrom('coupons')
    .leftJoin('players', 'players.id', 'coupons.friend_id')
    .selectAll('coupons')
    .select('players.player_unique_id as friend')
    .where('player_id', '=', playerId)
    .orderBy('coupons.id')
    .limit(MAX_ROWS)
    .execute();
}

/** The contacts left at the player's link, and the friends for whom they have counted. */
export function listContacts(queries: Queries, referrerId: number) {
  return queries
    .selectFrom('contacts')
    .leftJoin('players', 'players.id', 'contacts.counted_for')
    .selectAll('contacts')
    .select('players.player_unique_id as friend')
    .where('referrer_id', '=', referrerId)
    .orderBy('contacts.id')
    .limit(MAX_ROWS)
    .execute();
}
