import data from '../demo.json' with { type: 'json' };
import { readContact } from './programme/contacts.ts';
import { issueCoupon } from './programme/coupons.ts';
import { leaveContact } from './programme/referral.ts';
import { trackEvents } from './routes/event.ts';
import { upsertPlayer } from './routes/player.ts';
import type { Service } from './routes/service.ts';
import { listCoupons, useCoupon } from './store/coupons.ts';
import type { PlayerRow } from './store/players.ts';
import { lockTotals } from './store/referrals.ts';
import type { Queries } from './store/store.ts';

/** The player of the first example query. */
const DEMO_PLAYER = 'demo-player';
const FRIENDS = 60;
const COUPONS_OF_EACH_GROUP = 2;

/**
 * Fills an empty store with a player, friends and coupons, in one transaction; a store with players is not changed.
 */
export async function seedDemo(service: Service): Promise<void> {
  await service.store.write(async (queries) => {
    if (await queries.selectFrom('players').select('id').limit(1).executeTakeFirst()) return;
    const player = await upsertPlayer(queries, service, {
      playerUniqueId: DEMO_PLAYER,
      playerAttributes: data.attributes,
      deviceToken: 'demo-device',
      osType: 'android',
    });
    for (let number = 1; number <= FRIENDS; number++) await addFriend(queries, service, player, number);
    await addCoupons(queries, service, player);
  });
}

/** A friend who left a contact at the player's link and signed up. Every other friend placed an order. */
async function addFriend(queries: Queries, service: Service, player: PlayerRow, number: number): Promise<void> {
  const { programme, now } = service;
  const playerUniqueId = `demo-friend-${number}`;
  const name = data.friends[number % data.friends.length] ?? 'Friend';
  const email = `friend-${number}@shop.example`;
  const mobile = `+49 151 ${1_000_000 + number}`;
  const contact = readContact(programme.contact, programme.contact === 'email' ? email : mobile);
  if (contact) await leaveContact(queries, programme, player.referral_code, contact, now());
  const playerAttributes = { displayName: `${name} ${number}`, firstName: name, email, mobile };
  await upsertPlayer(queries, service, { playerUniqueId, playerAttributes });
  if (number % 2 > 0) return;
  await trackEvents(queries, service, playerUniqueId, {
    [programme.actionEvent]: { amount: 20 + number, categories: ['demo'] },
  });
}

/** Coupons of every group, as far as the player can obtain them; the first one is used. */
async function addCoupons(queries: Queries, { programme, now }: Service, { id }: PlayerRow): Promise<void> {
  await lockTotals(queries, id);
  const earned = (await listCoupons(queries, id)).length;
  for (const group of programme.groups) {
    for (let number = 0; number < COUPONS_OF_EACH_GROUP; number++) await issueCoupon(queries, group, id, now());
  }
  const given = (await listCoupons(queries, id))[earned];
  if (given) await useCoupon(queries, given.code);
}
