import type { Queries } from '../store/store.ts';
import { issueCoupon } from './coupons.ts';
import type { Programme } from './schema.ts';

/** The two players of a referral, by their numbers in the store. */
export interface ReferralSides {
  friend: number;
  referrer: number;
}

/** Gives both sides of a referral what the programme promises for a step. A group that has no more gives nothing. */
export async function giveRewards(
  queries: Queries,
  programme: Programme,
  step: Programme['rewards'][number]['at'],
  players: ReferralSides,
  now: number,
): Promise<void> {
  for (const reward of programme.rewards) {
    if (reward.at !== step) continue;
    const group = programme.groups.find(({ handle }) => handle === reward.group);
    if (group) await issueCoupon(queries, group, players[reward.to], now);
  }
}
