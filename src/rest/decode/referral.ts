import type { components } from '../../generated/rest.ts';
import { dateTime } from './dates.ts';
import { identifier, int, type Json, objects, oneOf, text, type Warn } from './members.ts';

type WireStatus = NonNullable<components['schemas']['ReferredFriend']['status']>;

const STATUSES: ReadonlyMap<string, Uppercase<WireStatus>> = new Map([
  ['active', 'ACTIVE'],
  ['pending', 'PENDING'],
]);

export type ReferralPage = ReturnType<typeof decodeReferrals>;
export type ReferredFriend = ReturnType<typeof friend>;

/** One page of referred friends with totals; an empty page when the body has no list. */
export function decodeReferrals(body: Json, warn: Warn) {
  return {
    referredFriends: objects(body['referredFriends'], friend, 'referredFriends', warn) ?? [],
    count: int(body['count'], 'referrals.count', warn),
    total: int(body['total'], 'referrals.total', warn),
    totalPending: int(body['totalPending'], 'referrals.totalPending', warn),
    totalActive: int(body['totalActive'], 'referrals.totalActive', warn),
  };
}

function friend(from: Json, warn: Warn) {
  return {
    playerUniqueId: identifier(from['playerUniqueId'], 'referredFriend.playerUniqueId', warn),
    displayName: text(from['displayName'], 'referredFriend.displayName', warn),
    email: text(from['email'], 'referredFriend.email', warn),
    mobileNumber: text(from['mobileNumber'], 'referredFriend.mobileNumber', warn),
    joinDate: dateTime(from['joinDate'], 'referredFriend.joinDate', warn),
    status: oneOf(STATUSES, from['status'], 'referredFriend.status', warn),
  };
}
