import type { components } from '../../generated/rest.ts';
import type { Json } from '../../json.ts';
import * as d from './properties.ts';

export type ReferralPage = ReturnType<typeof decodeReferrals>;
export type ReferredFriend = ReferralPage['referredFriends'][number];

const referredFriend = d.shape('referredFriend', {
  owner: d.reserved,
  playerUniqueId: d.identifier,
  displayName: d.playerText,
  email: d.playerText,
  mobileNumber: d.playerText,
  joinDate: d.dateTime,
  status: d.oneOf<NonNullable<components['schemas']['ReferredFriend']['status']>>('active', 'pending'),
});

const totals = d.shape('referrals', { total: d.int, totalPending: d.int, totalActive: d.int });

/** One page of referred friends with totals; an empty page when the body has no list. */
export function decodeReferrals(body: Json, owner: string, warn: d.Warn, wanted?: d.Wanted) {
  const referredFriends = d.listOf(referredFriend)(body['referredFriends'], 'referredFriends', warn, wanted);
  return { referredFriends: d.ownedBy(owner, referredFriends), ...totals(body, 'referrals', warn) };
}
