/*
 * The parameters and results of the REST client.
 *
 * Requests have the generated types of the interface document. Results have the types that lenient decoding returns, in the
 * form of GraphQL results: dates in UTC with milliseconds, ids as text, members in camelCase, and undefined for members that
 * are absent, null or could not be decoded. Results can be shared between operations: they must not be changed.
 */
import type { components } from '../generated/rest.ts';

export type { Collection, Coupon, CouponGroup, CouponOptions, Product } from './decode/coupon.ts';
export type { Player, PlayerAttributes, PlayerUpsertResponse } from './decode/player.ts';
export type { ReferralPage, ReferredFriend } from './decode/referral.ts';

export type PlayerUpsertRequest = components['schemas']['PlayerUpsertRequest'];
export type TrackEventsRequest = components['schemas']['TrackEventsRequest'];
