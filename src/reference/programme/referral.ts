import {
  activateReferral,
  addReferral,
  addToTotals,
  countContact,
  firstContact,
  type Totals,
} from '../store/referrals.ts';
import type { Queries } from '../store/store.ts';
import type { PlayerAttributes } from '../wire/player.ts';
import { contactOf } from './contacts.ts';
import { giveRewards, type ReferralSides } from './rewards.ts';
import type { Programme } from './schema.ts';

/*
 * The referral rule. Every function works inside the transaction of the request that caused it, with the friend taken;
 * the totals of the referrer change in the same transaction.
 */

/**
 * Counts the referral of a friend whose first attributes have just arrived. The first referrer to whom the friend's
 * e-mail or mobile was given wins, provided that contact has not been counted for another player.
 */
export async function countReferral(
  queries: Queries,
  programme: Programme,
  friendId: number,
  { email, mobile }: PlayerAttributes,
  now: number,
): Promise<void> {
  const contacts = [
    ...(email === undefined ? [] : [contactOf('email', email)]),
    ...(mobile === undefined ? [] : [contactOf('mobile', mobile)]),
  ].filter(({ value }) => value !== '');
  if (contacts.length === 0) return;

  // Comes round again only when the contact is counted for another, or goes with its referrer, while we look.
  for (;;) {
    const contact = await firstContact(queries, friendId, contacts);
    if (!contact || contact.counted_for !== null) return;
    if (!(await countContact(queries, contact.id, friendId))) continue;
    const players = { friend: friendId, referrer: contact.referrer_id };
    await moveTotals(queries, players, { pending: 1, active: 0 });
    await addReferral(queries, players.friend, players.referrer, now);
    await giveRewards(queries, programme, 'pending', players, now);
    return;
  }
}

/** Makes a friend's pending referral active when the action event is among the events. */
export async function recogniseAction(
  queries: Queries,
  programme: Programme,
  friendId: number,
  eventNames: readonly string[],
  now: number,
): Promise<void> {
  if (!eventNames.includes(programme.actionEvent)) return;
  const referral = await activateReferral(queries, friendId, now);
  if (!referral) return;
  const players = { friend: friendId, referrer: referral.referrer_id };
  await moveTotals(queries, players, { pending: -1, active: 1 });
  await giveRewards(queries, programme, 'active', players, now);
}

/**
 * Changes the referrer's totals and holds those of both sides, who may be given coupons next. Always the lower id first:
 * two players who refer each other would otherwise wait for each other for ever.
 */
async function moveTotals(queries: Queries, { friend, referrer }: ReferralSides, change: Totals): Promise<void> {
  for (const id of [friend, referrer].sort((one, other) => one - other)) {
    await addToTotals(queries, id, id === referrer ? change : { pending: 0, active: 0 });
  }
}
