import type { components } from '../../generated/rest.ts';
import { dateTime } from './dates.ts';
import { identifier, int, type Json, objects, oneOf, playerText, shape, type Warn } from './members.ts';

type WireStatus = NonNullable<components['schemas']['ReferredFriend']['status']>;

const STATUSES: ReadonlyMap<string, Uppercase<WireStatus>> = new Map([
  ['active', 'ACTIVE'],
  ['pending', 'PENDING'],
]);

const friends = objects(
  shape('referredFriend', {
    playerUniqueId: identifier,
    displayName: playerText,
    email: playerText,
    mobileNumber: playerText,
    joinDate: dateTime,
    status: oneOf(STATUSES),
  }),
);

export type ReferralPage = ReturnType<typeof decodeReferrals>;
export type ReferredFriend = ReferralPage['referredFriends'][number];

/** One page of referred friends with totals; an empty page when the body has no list. */
export function decodeReferrals(body: Json, warn: Warn) {
  return {
    referredFriends: friends(body['referredFriends'], 'referredFriends', warn) ?? [],
    count: int(body['count'], 'referrals.count', warn),
    total: int(body['total'], 'referrals.total', warn),
    totalPending: int(body['totalPending'], 'referrals.totalPending', warn),
    totalActive: int(body['totalActive'], 'referrals.totalActive', warn),
  };
}
