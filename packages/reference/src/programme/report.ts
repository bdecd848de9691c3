import { findPlayer, type PlayerRow } from '../store/players.ts';
import { readTotals } from '../store/referrals.ts';
import { listContacts, listReferrals, listReportedCoupons, type ReportedReferral } from '../store/report.ts';
import type { Queries } from '../store/store.ts';
import type { ReferralOutcome } from '../store/tables.ts';
import { isoTime, parseStored } from '../wire/response.ts';
import { type ContactKind, contactHash } from './contacts.ts';
import { isExpired } from './coupons.ts';
import { type ContactAttributes, contactsOf, expiryTime, hashKey } from './referral.ts';
import type { Programme } from './schema.ts';

/** Enough of a hash to tell contacts apart and to compare them by eye. */
const SHOWN_HASH = 12;

/**
 * What happened to one player and why, for the operator at a terminal. Contacts appear as keyed hashes of the form in which
 * they were written. Undefined if there is no such player.
 */
export async function playerReport(
  queries: Queries,
  programme: Programme,
  playerUniqueId: string,
  now: number,
): Promise<string | undefined> {
  const player = await findPlayer(queries, playerUniqueId);
  if (!player) return undefined;
  const key = await hashKey(queries);
  const shown = (kind: ContactKind, value: string) =>
    `${kind} ${contactHash(key, { kind, value }).slice(0, SHOWN_HASH)}`;
  const referrals = await listReferrals(queries, player.id);
  const asFriend = referrals.find(({ friend_id }) => friend_id === player.id);
  const friends = referrals.filter(({ referrer_id }) => referrer_id === player.id);
  const coupons = await listReportedCoupons(queries, player.id);
  const contactsLeft = await listContacts(queries, player.id);
  const { pending, active } = await readTotals(queries, player.id);
  const attributes = parseStored<ContactAttributes>(player.attributes) ?? {};
  return [
    `Player ${playerUniqueId}, created ${isoTime(player.created_at)}`,
    `  service id ${player.service_id}, referral code ${player.referral_code}`,
    ...section(
      'Contacts (keyed hashes; a mobile number has one for each way to write it)',
      contactsOf(attributes, programme).map(({ kind, forms: [value] }) => shown(kind, value)),
    ),
    'Referred by',
    `  ${asFriend ? `${asFriend.referrer}: ${statusOf(asFriend)}` : 'nobody'}`,
    `  ${asFriend ? 'counted' : whyNotReferred(player, programme)}`,
    ...section(
      'Contacts left at the link',
      contactsLeft.map(({ kind, value, given_at, counted_for, friend }) => {
        const open = given_at < expiryTime(programme, now) ? 'expired' : 'waiting';
        const state = counted_for === null ? open : `counted for ${friend}`;
        return `${isoTime(given_at)} ${shown(kind, value)} ${state}`;
      }),
    ),
    ...section(
      `Friends: ${pending} pending, ${active} active`,
      friends.map((row) => `${row.friend}: ${statusOf(row)}`),
    ),
    ...section(
      'Coupons',
      coupons.map((row) => {
        const left = row.usage_limit === null ? 'any number of' : row.usage_limit - row.uses;
        const expired = isExpired(row.end_at, now) ? ', expired' : '';
        const used = `used ${row.uses}, ${left} uses left${expired}`;
        return `${isoTime(row.created_at)} ${row.code} of ${row.group_handle}: ${whyIssued(row, player.id)}; ${used}`;
      }),
    ),
    ...section(
      'Rewards not issued',
      referrals.flatMap((row) => missingRewards(row, player.id, coupons, programme)),
    ),
  ].join('\n');
}

function section(title: string, lines: readonly string[]): string[] {
  return [title, ...(lines.length > 0 ? lines : ['none']).map((line) => `  ${line}`)];
}

function statusOf({ status, referred_at, activated_at }: ReportedReferral): string {
  const active = activated_at === null ? '' : `, active ${isoTime(activated_at)}`;
  return `${status}, referred ${isoTime(referred_at)}${active}`;
}

/** Why there is no referral of the player as a friend. */
function whyNotReferred(
  { attributes, first_attributes_at, referral_outcome }: PlayerRow,
  { contactExpiryDays }: Programme,
): string {
  if (attributes === null) return 'not decided: the player has no attributes yet';
  if (referral_outcome === null) return 'not counted: decided before the service stored reasons';
  const at = `first attributes, ${isoTime(first_attributes_at)}`;
  const contact = 'its e-mail address or mobile number';
  const reasons: Record<ReferralOutcome, string> = {
    counted: `counted (${at}), and the referrer was deleted later`,
    'no-contact': `not counted (${at}): the attributes had neither an e-mail address nor a mobile number`,
    'not-left': `not counted (${at}): ${contact} had not been left at any link`,
    'own-link': `not counted (${at}): ${contact} was left only at the player's own link`,
    expired: `not counted (${at}): ${contact} was left more than ${contactExpiryDays} days before`,
    'counted-before': `not counted (${at}): ${contact} has counted before, and a contact counts once`,
  };
  // A later version may have stored another one.
  return reasons[referral_outcome] ?? referral_outcome;
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
): string[] {
  const side = row.friend_id === playerId ? 'friend' : 'referrer';
  return rewards
    .filter(({ at, to }) => to === side && (at === 'pending' || row.status === 'active'))
    .filter(
      ({ at, group }) =>
        !coupons.some(
          (coupon) => coupon.group_handle === group && coupon.reason === at && coupon.friend_id === row.friend_id,
        ),
    )
    .map(
      ({ at, group }) =>
        `${group}: the referral of ${row.friend} became ${at}, but the group was not available to the player (maxPerPlayer, dates or active)`,
    );
}
