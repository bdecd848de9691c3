import * as contacts from '../store/contacts.ts';
import { attributesOf, findPlayerId, hasSentEvent, type PlayerAttributes, type PlayerRow } from '../store/players.ts';
import { activateReferral, addReferral, addToTotals, lockTotals, type Referral } from '../store/referrals.ts';
import type { Queries, Store } from '../store/store.ts';
import { readContact } from './contacts.ts';
import { DAY_MS, issueCoupon } from './coupons.ts';
import type { Programme } from './file.ts';

/*
 * The referral rule. All functions run inside the transaction of the request that causes the step, with the friend's
 * row locked. The referrer's totals change in the same transaction.
 */

/** What the rule needs of the service. */
interface Rule {
  programme: Programme;
  store: Pick<Store, 'hashOf'>;
  /** The current time in milliseconds. */
  now(): number;
}

/**
 * Stores a contact left at the link with this code; false if there is no such link. A contact that has counted is not
 * stored: it cannot count again.
 */
export async function leaveContact(
  queries: Queries,
  { programme, store, now: clock }: Rule,
  referralCode: string,
  contact: contacts.Contact,
): Promise<boolean> {
  const now = clock();
  const referrer = await findPlayerId(queries, { referral_code: referralCode });
  if (!referrer) return false;
  const hash = store.hashOf(contact);
  // One that was left here before and has expired gets a later place in the order.
  await contacts.deleteExpiredContacts(queries, expiryTime(programme, now));
  // The hash is the lock of a contact: a deletion at the same time waits for it, and then finds the contact.
  if (!(await contacts.addCounted(queries, hash, now))) return true;
  await contacts.addContact(queries, referrer.id, contact, now);
  const earlier = await contacts.findEarlier(queries, hash);
  if (earlier) await contacts.markContact(queries, contact, earlier.player_id, { onlyFree: true });
  await contacts.removeCounted(queries, hash);
  return true;
}

/** Has the contacts of a player deleted with it, which the caller does. Their hashes stay: they do not count again. */
export async function forgetContacts(
  queries: Queries,
  { programme, store, now: clock }: Rule,
  player: PlayerRow,
): Promise<void> {
  const now = clock();
  await contacts.countEarlier(queries, player.id, now);
  const own = contactsOf(programme, attributesOf(player) ?? {});
  for (const contact of [...own, ...(await contacts.findMarked(queries, player.id))]) {
    // In this order: from now on nobody leaves the contact at a link.
    await contacts.addCounted(queries, store.hashOf(contact), now);
    await contacts.markContact(queries, contact, player.id);
  }
}

/** Notes the contacts that an update takes from a player: they are deleted with the player too, and do not count after it. */
export async function noteEarlierContacts(
  queries: Queries,
  { programme, store }: Rule,
  player: number,
  before: PlayerAttributes,
  after: PlayerAttributes,
): Promise<void> {
  // Most updates change neither, and reading a mobile number is the most expensive step of an update.
  if (before.email === after.email && before.mobile === after.mobile) return;
  const kept = contactsOf(programme, after);
  const earlier = contactsOf(programme, before).filter(
    ({ kind, value }) => !kept.some((one) => one.kind === kind && one.value === value),
  );
  for (const contact of earlier) {
    await contacts.addEarlier(queries, player, store.hashOf(contact));
    await contacts.markContact(queries, contact, player, { onlyFree: true });
  }
}

const contactsOf = ({ country }: Programme, { email = '', mobile = '' }: PlayerAttributes) =>
  [readContact('email', email), readContact('mobile', mobile, country)].filter((contact) => contact !== undefined);

/**
 * Decides the referral of a friend whose first attributes have just arrived. The first link where the friend's e-mail
 * or mobile was left wins. A contact counts once, and not after a player that had it was deleted. Activity of the
 * friend before this moment counts now.
 */
export async function decideReferral(
  queries: Queries,
  { programme, store: { hashOf }, now: clock }: Rule,
  friend: number,
  attributes: PlayerAttributes,
): Promise<void> {
  const given = contactsOf(programme, attributes);
  if (given.length === 0) return;
  const now = clock();
  // Starts again only if a transaction at the same time has counted the contact or deleted the referrer.
  for (;;) {
    const counted = await contacts.findCounted(queries, given.map(hashOf));
    const open = given.filter((contact) => !counted.has(hashOf(contact)));
    if (open.length === 0) return;
    const left = await contacts.findContacts(queries, open, expiryTime(programme, now));
    const winner = left.find(({ referrer_id }) => referrer_id !== friend);
    if (!winner) return;

    const referral = { friend, referrer: winner.referrer_id };
    if (!(await lockBothTotals(queries, referral))) continue;
    if (!(await contacts.addCounted(queries, hashOf(winner), now))) continue;
    // The hash is enough from now on.
    await contacts.removeContact(queries, winner);
    await addReferral(queries, referral, now);
    await issueRewards(queries, programme, 'pending', referral, now);
    if (await hasSentEvent(queries, friend, programme.actionEvent)) await activate(queries, programme, friend, now);
    return;
  }
}

/** Makes a friend's pending referral active, if there is one. */
export async function activate(queries: Queries, programme: Programme, friend: number, now: number): Promise<void> {
  const referral = await activateReferral(queries, friend);
  if (!referral) return;
  await lockBothTotals(queries, referral);
  await addToTotals(queries, referral.referrer, { pending: -1, active: 1 });
  await issueRewards(queries, programme, 'active', referral, now);
}

/** Issues the coupons that the programme promises for a step. A group that has no more for the player issues none. */
async function issueRewards(
  queries: Queries,
  programme: Programme,
  step: Programme['rewards'][number]['at'],
  referral: Referral,
  now: number,
): Promise<void> {
  for (const reward of programme.rewards) {
    if (reward.at !== step) continue;
    const group = programme.groups.find(({ handle }) => handle === reward.group);
    if (group) await issueCoupon(queries, group, referral[reward.to], now);
  }
}

/**
 * Locks the totals of both players, who may be issued coupons next; false if the referrer was deleted. The lower id
 * comes first: two players who refer each other would else deadlock.
 */
async function lockBothTotals(queries: Queries, { friend, referrer }: Referral): Promise<boolean> {
  let isThere = true;
  for (const id of [friend, referrer].sort((one, other) => one - other)) {
    isThere = (await lockTotals(queries, id)) && isThere;
  }
  return isThere;
}

/** Contacts left before this time have expired. */
export function expiryTime({ contactExpiryDays }: Programme, now: number): number {
  return now - contactExpiryDays * DAY_MS;
}
