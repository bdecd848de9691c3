import type { Notice } from '../observe.ts';
import type { ReferralPage, ReferralStatus, ReferredFriend } from '../wire.ts';
import { dateTime } from './dates.ts';
import { identifier, int, type Json, objects, oneOf, text } from './members.ts';

const STATUSES: ReadonlyMap<string, ReferralStatus> = new Map([
  ['active', 'ACTIVE'],
  ['pending', 'PENDING'],
]);

/** One page of referred friends with totals. A body without the list, or without anything, is an empty page. */
export function decodeReferrals(body: Json, notice: Notice): ReferralPage {
  return {
    referredFriends: objects(body['referredFriends'], friend, 'referredFriends', notice) ?? [],
    count: int(body['count'], 'referrals.count', notice),
    total: int(body['total'], 'referrals.total', notice),
    totalPending: int(body['totalPending'], 'referrals.totalPending', notice),
    totalActive: int(body['totalActive'], 'referrals.totalActive', notice),
  };
}

function friend(from: Json, notice: Notice): ReferredFriend {
  return {
    playerUniqueId: identifier(from['playerUniqueId'], 'referredFriend.playerUniqueId', notice),
    displayName: text(from['displayName'], 'referredFriend.displayName', notice),
    email: text(from['email'], 'referredFriend.email', notice),
    mobileNumber: text(from['mobileNumber'], 'referredFriend.mobileNumber', notice),
    joinDate: dateTime(from['joinDate'], 'referredFriend.joinDate', notice),
    status: oneOf(STATUSES, from['status'], 'referredFriend.status', notice),
  };
}
