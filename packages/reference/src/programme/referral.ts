import {
  addContact,
  addCounted,
  type Contact,
  findContacts,
  findCounted,
  markContacts,
  readState,
} from '../store/contacts.ts';
import { findPlayerByCode, hasSentEvent } from '../store/players.ts';
import { activateReferral, addToTotals, type Totals } from '../store/referrals.ts';
import type { Queries } from '../store/store.ts';
import type { ReferralOutcome } from '../store/tables.ts';
import { contactHashes, type PersonContact, readContact } from './contacts.ts';
import { issueCoupon } from './coupons.ts';
import type { Programme } from './schema.ts';

/*
 * The referral rule. All functions run inside the transaction of the request that causes the step, with the friend's row
 * locked. The referrer's totals change in the same transaction.
 */

const DAY_MS = 24 * 60 * 60 * 1000;

/** The attributes that contacts are compared with. */
export interface ContactAttributes {
  email?: string | undefined;
  mobile?: string | undefined;
}

/** The two players of a referral, by their ids in the store. */
interface Referral {
  friend: number;
  referrer: number;
}

/**
 * Stores a contact left at the link with this code; false if there is no such link. A contact that has counted is not
 * stored: it cannot count again.
 */
export async function leaveContact(
  queries: Queries,
  programme: Programme,
  referralCode: string,
  contact: PersonContact,
  now: number,
): Promise<boolean> {
  const referrer = await findPlayerByCode(queries, referralCode);
  if (!referrer) return false;
  const counted = await findCounted(queries, contactHashes(await hashKey(queries), contact));
  if (counted.size > 0) return true;
  const stored = { kind: contact.kind, value: contact.forms[0] };
  await addContact(queries, referrer.id, stored, now, expiryTime(programme, now));
  return true;
}

/**
 * Decides the referral of a friend whose first attributes have just arrived, and returns the decision. The first link where
 * the friend's e-mail or mobile was left wins. A contact counts once, also after the friend was deleted. Activity of the
 * friend before this moment counts now.
 */
export async function decideReferral(
  queries: Queries,
  programme: Programme,
  friend: number,
  attributes: ContactAttributes,
  now: number,
): Promise<ReferralOutcome> {
  const outcome = await countReferral(queries, programme, friend, contactsOf(attributes, programme), now);
  if (outcome === 'counted' && (await hasSentEvent(queries, friend, programme.actionEvent))) {
    await activate(queries, programme, friend, now);
  }
  return outcome;
}

async function countReferral(
  queries: Queries,
  programme: Programme,
  friend: number,
  contacts: readonly PersonContact[],
  now: number,
): Promise<ReferralOutcome> {
  if (contacts.length === 0) return 'no-contact';
  const key = await hashKey(queries);
  // Starts again only if a transaction at the same time has counted the contact or deleted the referrer.
  for (;;) {
    const counted = await findCounted(
      queries,
      contacts.flatMap((contact) => contactHashes(key, contact)),
    );
    const open = contacts.filter((contact) => !contactHashes(key, contact).some((hash) => counted.has(hash)));
    if (open.length === 0) return 'counted-before';
    const left = await findContacts(queries, open.flatMap(formsOf));
    const others = left.filter(({ referrer_id }) => referrer_id !== friend);
    const winner = others.find(({ given_at }) => given_at >= expiryTime(programme, now));
    if (!winner) return others.length > 0 ? 'expired' : left.length > 0 ? 'own-link' : 'not-left';

    const referral = { friend, referrer: winner.referrer_id };
    if (!(await addToBothTotals(queries, referral, { pending: 1, active: 0 }))) continue;
    const contact = open.find(({ kind, forms }) => kind === winner.kind && forms.includes(winner.value));
    if (!contact || !(await addCounted(queries, contactHashes(key, contact), now))) {
      await addToBothTotals(queries, referral, { pending: -1, active: 0 });
      continue;
    }
    await markContacts(queries, formsOf(contact), friend);
    await queries
      .insertInto('referrals')
      .values({ friend_id: friend, referrer_id: winner.referrer_id, status: 'pending', referred_at: now })
      .execute();
    await issueRewards(queries, programme, 'pending', referral, now);
    return 'counted';
  }
}

/** Makes a friend's pending referral active, if there is one. */
export async function activate(queries: Queries, programme: Programme, friend: number, now: number): Promise<void> {
  const row = await activateReferral(queries, friend, now);
  if (!row) return;
  const referral = { friend, referrer: row.referrer_id };
  await addToBothTotals(queries, referral, { pending: -1, active: 1 });
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
    const cause = { reason: step, friend_id: referral.friend };
    if (group) await issueCoupon(queries, group, referral[reward.to], cause, now);
  }
}

/**
 * Changes the referrer's totals and locks those of both players, who may be issued coupons next; false if the referrer was
 * deleted. The lower id comes first: two players who refer each other would else deadlock.
 */
async function addToBothTotals(queries: Queries, { friend, referrer }: Referral, change: Totals): Promise<boolean> {
  let isThere = true;
  for (const id of [friend, referrer].sort((one, other) => one - other)) {
    isThere &&= await addToTotals(queries, id, id === referrer ? change : { pending: 0, active: 0 });
  }
  return isThere;
}

export function contactsOf({ email, mobile }: ContactAttributes, { country }: Programme): PersonContact[] {
  return [
    email === undefined ? undefined : readContact('email', email, country),
    mobile === undefined ? undefined : readContact('mobile', mobile, country),
  ].filter((contact) => contact !== undefined);
}

function formsOf({ kind, forms }: PersonContact): Contact[] {
  return forms.map((value) => ({ kind, value }));
}

/** Contacts left before this time have expired. */
export function expiryTime({ contactExpiryDays }: Programme, now: number): number {
  return now - contactExpiryDays * DAY_MS;
}

export async function hashKey(queries: Queries): Promise<string> {
  const key = await readState(queries, 'contact-hash-key');
  if (key === undefined) throw new Error('The store has lost its key for contact hashes (service_state)');
  return key;
}
