import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import type { Keys } from './keys.ts';
import type { Programme } from './programme/schema.ts';
import type { Store } from './store/store.ts';

/** The player that a newcomer's first query asks for. */
const DEMO_PLAYER = 'demo-player';
const FRIENDS = 60;
const COUPONS_OF_EACH_GROUP = 2;

const NAMES = ['Ada', 'Ben', 'Chloé', 'Dario', 'Elif', 'Femi', 'Grete', 'Hugo', 'Ines', 'Jun', 'Kofi', 'Lena'];

/**
 * Fills an empty store with one player to look at. It goes in through the service's own doors, like everything else: the
 * friends leave their e-mail at the referral link, sign up, and every other one places an order.
 */
export async function seedDemo(app: FastifyInstance, store: Store, programme: Programme, keys: Keys): Promise<void> {
  const anybody = await store.read((queries) => queries.selectFrom('players').select('id').limit(1).executeTakeFirst());
  if (anybody) return;
  const post: Post = (url, payload) =>
    app.inject({
      method: 'POST',
      url,
      headers: { apikey: keys.apiKey.reveal(), secretkey: keys.secretKey.reveal() },
      payload,
    });

  const landingPath = await createDemoPlayer(post);
  for (let number = 1; number <= FRIENDS; number++) await addFriend(app, post, programme, landingPath, number);
  await issueCoupons(post, programme);
}

type Post = (url: string, payload: object) => Promise<{ statusCode: number; body: string }>;

/** Gives the path of the demo player's landing page. */
async function createDemoPlayer(post: Post): Promise<string> {
  const answer = accepted(
    await post('/api/v3.0/integrations/player', {
      playerUniqueId: DEMO_PLAYER,
      playerAttributes: {
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
      },
      deviceToken: 'demo-device',
      osType: 'android',
    }),
  );
  return new URL(LINK.parse(JSON.parse(answer)).referralLink).pathname;
}

/** A friend who left a contact at the demo player's link and signed up; every other one placed an order. */
async function addFriend(app: FastifyInstance, post: Post, programme: Programme, landingPath: string, number: number) {
  const name = NAMES[number % NAMES.length] ?? 'Friend';
  const playerUniqueId = `demo-friend-${number}`;
  const email = `friend-${number}@shop.example`;
  const mobile = `+49 151 ${String(1_000_000 + number)}`;
  const left = await app.inject({
    method: 'POST',
    url: landingPath,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({ contact: programme.contact === 'email' ? email : mobile }).toString(),
  });
  accepted(left);
  const playerAttributes = { displayName: `${name} ${number}`, firstName: name, email, mobile };
  accepted(await post('/api/v3.0/integrations/player', { playerUniqueId, playerAttributes }));
  if (number % 2 === 1) return;
  const events = { [programme.actionEvent]: { amount: 20 + number, categories: ['demo'] } };
  accepted(await post('/api/v3.0/integrations/event', { playerUniqueId, events }));
}

/** Coupons of every group, besides those that the programme gave for the friends; the first one is used. */
async function issueCoupons(post: Post, programme: Programme): Promise<void> {
  const codes: string[] = [];
  for (const { handle } of programme.groups) {
    for (let number = 0; number < COUPONS_OF_EACH_GROUP; number++) {
      const answer = await post('/operator/coupon/issue', { playerUniqueId: DEMO_PLAYER, group: handle });
      // A group may have no more for this player; then the player has coupons of it.
      if (answer.statusCode !== 409) codes.push(CODE.parse(JSON.parse(accepted(answer))).code);
    }
  }
  if (codes[0] !== undefined) await post('/operator/coupon/use', { code: codes[0] });
}

const LINK = z.object({ referralLink: z.url() });
const CODE = z.object({ code: z.string() });

function accepted({ statusCode, body }: { statusCode: number; body: string }): string {
  if (statusCode !== 200) throw new Error(`The demo player cannot be made: the service says ${body}`);
  return body;
}
