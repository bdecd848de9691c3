import { readContact } from './programme/contacts.ts';
import { issueCoupon } from './programme/coupons.ts';
import { leaveContact } from './programme/referral.ts';
import { trackEvents } from './routes/event.ts';
import { upsertPlayer } from './routes/player.ts';
import type { Service } from './routes/request.ts';
import { readState, writeState } from './store/contacts.ts';
import { listCoupons, useCoupon } from './store/coupons.ts';
import { findPlayer, hasSentEvent } from './store/players.ts';
import { lockTotals } from './store/referrals.ts';
import type { Queries } from './store/store.ts';

/** The player of the first example query. */
const DEMO_PLAYER = 'demo-player';
const FRIENDS = 60;
const COUPONS_OF_EACH_GROUP = 2;
/** The name in `service_state`; its value is `begun` or `done`. */
const STATE = 'demo';

const NAMES = ['Ada', 'Ben', 'Chloé', 'Dario', 'Elif', 'Femi', 'Grete', 'Hugo', 'Ines', 'Jun', 'Kofi', 'Lena'];

const ATTRIBUTES = {
  displayName: 'Demo Player',
  firstName: 'Demo',
  lastName: 'Player',
  email: 'demo.player@shop.example',
  mobile: '+49 30 1234567',
  gender: 'F',
  dateOfBirth: '1990-04-01T00:00:00.000Z',
  joinDate: '2024-02-29T12:00:00.000Z',
  tags: 'vip,newsletter',
  country: 'DE',
  city: 'Berlin',
  zip: '10115',
  totalSpent: 420.5,
  totalOrders: 7,
  lastOrderDate: '2025-05-01',
  avgOrderAmount: 60.07,
  custom: { favouriteColour: 'green', shoeSize: 42 },
};

/**
 * Fills an empty store with a player, friends and coupons. If the process ends before all is there, the next start
 * continues; a store with other players is not changed. The groups of the programme must be stored already.
 */
export async function seedDemo(service: Service): Promise<void> {
  if (!(await begin(service))) return;
  const player = await upsertPlayer(service, {
    playerUniqueId: DEMO_PLAYER,
    playerAttributes: ATTRIBUTES,
    deviceToken: 'demo-device',
    osType: 'android',
  });
  for (let number = 1; number <= FRIENDS; number++) await addFriend(service, player.referral_code, number);
  await service.store.write((queries) => addCoupons(queries, service));
}

/** Whether there is something to seed. */
function begin({ store }: Service): Promise<boolean> {
  return store.write(async (queries) => {
    const state = await readState(queries, STATE);
    if (state !== undefined) return state !== 'done';
    const player = await queries.selectFrom('players').select('id').limit(1).executeTakeFirst();
    if (player) return false;
    await writeState(queries, STATE, 'begun');
    return true;
  });
}

/** A friend who left a contact at the demo player's link and signed up. Every other friend placed an order. */
async function addFriend(service: Service, referralCode: string, number: number): Promise<void> {
  const { store, programme, now } = service;
  const playerUniqueId = `demo-friend-${number}`;
  const hasOrdered = number % 2 === 0;
  const isDone = await store.read(async (queries) => {
    const player = await findPlayer(queries, playerUniqueId);
    if (!player?.attributes) return false;
    return !hasOrdered || (await hasSentEvent(queries, player.id, programme.actionEvent));
  });
  if (isDone) return;

  const name = NAMES[number % NAMES.length] ?? 'Friend';
  const email = `friend-${number}@shop.example`;
  const mobile = `+49 151 ${String(1_000_000 + number)}`;
  const contact = readContact(programme.contact, programme.contact === 'email' ? email : mobile, programme.country);
  if (contact) await store.write((queries) => leaveContact(queries, programme, referralCode, contact, now()));
  const playerAttributes = { displayName: `${name} ${number}`, firstName: name, email, mobile };
  await upsertPlayer(service, { playerUniqueId, playerAttributes });
  if (!hasOrdered) return;
  await trackEvents(service, playerUniqueId, {
    [programme.actionEvent]: { amount: 20 + number, categories: ['demo'] },
  });
}

/** Coupons of every group, as far as the player can obtain them; the first one is used. */
async function addCoupons(queries: Queries, { programme, now }: Service): Promise<void> {
  const player = await findPlayer(queries, DEMO_PLAYER);
  if (player && (await lockTotals(queries, player.id))) {
    const cause = { reason: 'operator', friend_id: null } as const;
    for (const group of programme.groups) {
      for (let number = 0; number < COUPONS_OF_EACH_GROUP; number++) {
        await issueCoupon(queries, group, player.id, cause, now());
      }
    }
    const issued = (await listCoupons(queries, player.id)).find(({ reason }) => reason === 'operator');
    if (issued) await useCoupon(queries, issued.code);
  }
  await writeState(queries, STATE, 'done');
}
