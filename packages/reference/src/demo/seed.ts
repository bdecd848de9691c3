import { sql } from 'kysely';
import data from '../../demo.json' with { type: 'json' };
import { readContact } from '../programme/contacts.ts';
import { issueCoupon } from '../programme/coupons.ts';
import { leaveContact } from '../programme/referral.ts';
import { trackEvents } from '../routes/event.ts';
import { upsertPlayer } from '../routes/player.ts';
import type { Service } from '../routes/service.ts';
import { listCoupons, useCoupon } from '../store/coupons.ts';
import { findPlayer, type PlayerRow } from '../store/players.ts';
import { lockTotals } from '../store/referrals.ts';
import { type Queries, StoreUnavailable } from '../store/store.ts';
import { STATES } from './states.ts';

/** Friends of the player of the first example query, and of each other one. */
const [MANY_FRIENDS, FEW_FRIENDS] = [60, 5];
const COUPONS_OF_EACH_GROUP = 2;

/**
 * Fills an empty store with players, friends and coupons, in one transaction; a store with players is not changed.
 * There is a player for each state that a client shows.
 * @param attempts Another process that seeds can take longer than a statement may wait.
 */
export async function seedDemo(service: Service, attempts = 6): Promise<void> {
  const seeded = service.store.write(async (queries) => {
    // A lock: a process that seeds at the same time waits here, and then finds the players of this one.
    await queries.updateTable('service_state').set('value', sql`value`).execute();
    if (await queries.selectFrom('players').select('id').limit(1).executeTakeFirst()) return;
    const names = Array.from({ length: MANY_FRIENDS }, (_, index) => {
      const name = data.friends[(index + 1) % data.friends.length] ?? 'Friend';
      return { displayName: `${name} ${index + 1}`, firstName: name };
    });
    const add = async (
      playerUniqueId: string,
      playerAttributes: object,
      friends: object[],
      prefix = playerUniqueId,
    ) => {
      const device = { deviceToken: 'demo-device', osType: 'android' };
      const player = await upsertPlayer(queries, service, { playerUniqueId, playerAttributes, ...device });
      for (const [index, friend] of friends.entries())
        await addFriend(queries, service, player, prefix, index + 1, friend);
      if (friends.length > 0) await addCoupons(queries, service, player);
    };
    await add('demo-player', data.attributes, names, 'demo');
    await add('demo-empty', {}, []);
    await addLateContact(queries, service);
    await add('demo-long-names', data.longNames.attributes, data.longNames.friends);
    for (const id of STATES) await add(id, { displayName: id }, names.slice(0, FEW_FRIENDS));
  });
  await seeded.catch((error: unknown) => {
    if (attempts === 1 || !(error instanceof StoreUnavailable)) throw error;
    return seedDemo(service, attempts - 1);
  });
}

/** A friend who left a contact at the player's link and signed up. Every other friend placed an order. */
async function addFriend(
  queries: Queries,
  service: Service,
  { id, referral_code }: PlayerRow,
  prefix: string,
  number: number,
  names: object,
): Promise<void> {
  const { programme } = service;
  const playerUniqueId = `${prefix}-friend-${number}`;
  const email = prefix === 'demo' ? `friend-${number}@shop.example` : `${playerUniqueId}@shop.example`;
  const mobile = `+49 151 ${id * 1_000_000 + number}`;
  const contact = readContact(programme.contact, programme.contact === 'email' ? email : mobile, programme.country);
  if (contact) await leaveContact(queries, service, referral_code, contact);
  await upsertPlayer(queries, service, { playerUniqueId, playerAttributes: { ...names, email, mobile } });
  if (number % 2 > 0) return;
  const metadata = { amount: 20 + number, categories: ['demo'] };
  await trackEvents(queries, service, playerUniqueId, { [programme.actionEvent]: metadata });
}

/** A friend of `demo-player` whose contact came after its first attributes: the referral does not count. */
async function addLateContact(queries: Queries, service: Service): Promise<void> {
  const { programme } = service;
  const playerUniqueId = 'demo-late-contact';
  const late = { email: 'late-contact@shop.example', mobile: '+49 151 99000000' };
  const referrer = await findPlayer(queries, 'demo-player');
  const contact = readContact(programme.contact, late[programme.contact], programme.country);
  if (referrer && contact) await leaveContact(queries, service, referrer.referral_code, contact);
  for (const playerAttributes of [{ displayName: 'Late Contact' }, late]) {
    await upsertPlayer(queries, service, { playerUniqueId, playerAttributes });
  }
}

/** Coupons of every group, as far as the player can obtain them; the first one is used. */
async function addCoupons(queries: Queries, { programme, now }: Service, { id }: PlayerRow): Promise<void> {
  await lockTotals(queries, id);
  const earned = (await listCoupons(queries, id)).length;
  for (const group of programme.groups) {
    // Coupons that have ended were issued before.
    const time = Math.min(now(), group.coupon.endAt ?? Infinity);
    for (let number = 0; number < COUPONS_OF_EACH_GROUP; number++) await issueCoupon(queries, group, id, time);
  }
  const given = (await listCoupons(queries, id))[earned];
  if (given) await useCoupon(queries, given.code);
}
