/*
 * The parameters and results of the REST client. Results have the types that lenient decoding returns, in the form of GraphQL
 * results: dates in UTC with milliseconds, ids as text, and undefined for what is absent, null or not readable.
 */
import type { components } from '../generated/rest.ts';

export type { Collection, Coupon, CouponGroup, CouponOptions, Product } from './decode/coupon.ts';
export type { Player, PlayerAttributes, PlayerUpsertResponse } from './decode/player.ts';
export type { ReferralPage, ReferredFriend } from './decode/referral.ts';

export type PlayerUpsertRequest = components['schemas']['PlayerUpsertRequest'];
export type TrackEventsRequest = components['schemas']['TrackEventsRequest'];
