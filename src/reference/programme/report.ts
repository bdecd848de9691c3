import { findPlayer, type PlayerRow } from '../store/players.ts';
import { readTotals } from '../store/referrals.ts';
import { listContacts, listReferrals, listReportedCoupons, type ReportedReferral } from '../store/report.ts';
import type { Queries } from '../store/store.ts';
import type { PlayerAttributes } from '../wire/player.ts';
import { isoTime, parseStored } from '../wire/response.ts';
import { contactHash } from './contacts.ts';
import { isExpired } from './derived.ts';
import { contactsOf, expiryTime, hashKey } from './referral.ts';
import type { Programme } from './schema.ts';

/** Enough of a hash to tell contacts apart and to compare them by eye. */
const SHOWN_HASH = 12;

/**
 * What happened to one player and why, for the operator. Contacts appear as keyed hashes of the form in which
 * they were written. Undefined if there is no such player.
 */
export async function playerReport(queries: Queries, programme: Programme, playerUniqueId: string, now: number) {
  const player = await findPlayer(queries, playerUniqueId);
  if (!player) return undefined;
  const key = await hashKey(queries);
  const hash = (contact: { kind: 'email' | 'mobile'; value: string }) => contactHash(key, contact).slice(0, SHOWN_HASH);
  const referrals = await listReferrals(queries, player.id);
  const asFriend = referrals.find(({ friend_id }) => friend_id === player.id);
  const friends = referrals.filter(({ referrer_id }) => referrer_id === player.id);
  const coupons = await listReportedCoupons(queries, player.id);
  const contacts = await listContacts(queries, player.id);
  const { pending, active } = await readTotals(queries, player.id);
  const attributes = parseStored<PlayerAttributes>(player.attributes) ?? {};
  return {
    playerUniqueId,
    serviceId: player.service_id,
    referralCode: player.referral_code,
    createdAt: isoTime(player.created_at),
    contacts: contactsOf(attributes, programme).map(({ kind, forms: [value] }) => ({
      kind,
      hash: hash({ kind, value }),
    })),
    referred: { why: whyReferred(player, asFriend, programme), ...(asFriend && referralStory(asFriend)) },
    contactsLeft: contacts.map(({ given_at, counted_for, friend, ...contact }) => ({
      kind: contact.kind,
      hash: hash(contact),
      leftAt: isoTime(given_at),
      state: counted_for !== null ? 'counted' : given_at < expiryTime(programme, now) ? 'expired' : 'waiting',
      friend: friend ?? undefined,
    })),
    totals: { pending, active },
    friends: friends.map((row) => ({ friend: row.friend, ...referralStory(row) })),
    coupons: coupons.map((row) => ({
      code: row.code,
      group: row.group_handle,
      issuedAt: isoTime(row.created_at),
      why: whyIssued(row, player.id),
      uses: row.uses,
      usesLeft: row.usage_limit === null ? undefined : row.usage_limit - row.uses,
      isExpired: isExpired(row.end_at, now),
    })),
    rewardsNotIssued: referrals.flatMap((row) => missingRewards(row, player.id, coupons, programme)),
  };
}

export type PlayerReport = NonNullable<Awaited<ReturnType<typeof playerReport>>>;

function referralStory({ referrer, status, referred_at, activated_at }: ReportedReferral) {
  return { referrer, status, referredAt: isoTime(referred_at), activeAt: isoTime(activated_at) };
}

function whyReferred(player: PlayerRow, referral: ReportedReferral | undefined, programme: Programme): string {
  const at = `first attributes, ${isoTime(player.first_attributes_at)}`;
  const contact = 'its e-mail address or mobile number';
  if (referral) return 'counted';
  if (player.attributes === null) return 'not decided: the player has no attributes yet';
  switch (player.referral_outcome) {
    case null:
      return 'not counted: decided before the service stored reasons';
    case 'counted':
      return `counted (${at}), and the referrer was deleted later`;
    case 'no-contact':
      return `not counted (${at}): the attributes had neither an e-mail address nor a mobile number`;
    case 'not-left':
      return `not counted (${at}): ${contact} had not been left at any link`;
    case 'own-link':
      return `not counted (${at}): ${contact} was left only at the player's own link`;
    case 'expired':
      return `not counted (${at}): ${contact} was left more than ${programme.contactExpiryDays} days before`;
    case 'counted-before':
      return `not counted (${at}): ${contact} has counted before, and a contact counts once`;
    default:
      return player.referral_outcome satisfies never;
  }
}

function whyIssued(
  { reason, friend, friend_id }: { reason: string | null; friend: string | null; friend_id: number | null },
  playerId: number,
): string {
  if (reason === 'operator') return 'issued by the operator';
  if (reason === null) return 'issued before the service stored reasons';
  if (friend_id === playerId) return `reward: the player's referral became ${reason}`;
  return `reward: the referral of ${friend ?? 'a friend who was deleted'} became ${reason}`;
}

/** Rewards that the programme promises now for a step that was reached, and for which there is no coupon. */
function missingRewards(
  row: ReportedReferral,
  playerId: number,
  coupons: readonly { group_handle: string; reason: string | null; friend_id: number | null }[],
  { rewards }: Programme,
) {
  const side = row.friend_id === playerId ? 'friend' : 'referrer';
  return rewards
    .filter(({ at, to }) => to === side && (at === 'pending' || row.status === 'active'))
    .filter(
      ({ at, group }) =>
        !coupons.some(
          (coupon) => coupon.group_handle === group && coupon.reason === at && coupon.friend_id === row.friend_id,
        ),
    )
    .map(({ at, group }) => ({
      group,
      why: `the referral of ${row.friend} became ${at}, but the group was not available to the player (maxPerPlayer, dates or active)`,
    }));
}
