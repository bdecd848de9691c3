import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Client } from './client.ts';
import { onEachStore, programmeWith } from './kit.ts';
import { MAX_PER_PLAYER, Model } from './model.ts';

/** The same sequences each time, unless another seed is given. */
const SEED = Number(process.env['PROPERTY_SEED'] ?? 20_250_501);

const PROGRAMME = programmeWith({
  groups: Object.entries(MAX_PER_PLAYER).map(([handle, maxPerPlayer]) => ({
    ...{ handle, title: handle, maxPerPlayer },
    coupon: { type: 'custom' },
  })),
  rewards: [
    { at: 'pending', to: 'friend', group: 'welcome' },
    { at: 'active', to: 'referrer', group: 'thanks' },
    { at: 'active', to: 'friend', group: 'thanks' },
  ],
});

// Few players and contacts, so that they often meet: guests, late matches, deletions, players created again.
const IDS = ['ann', 'Ann', 'cat/dog', 'e@x.y'];
const ids = fc.constantFrom(...IDS);
const emails = fc.constantFrom('a@x.y', 'A@X.Y ', 'b@x.y');
const nullable = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null, freq: 4 });
const texts = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0'));
const custom = fc.dictionary(
  fc.constantFrom('k', 'l', 'constructor', 'toString'),
  fc.oneof(fc.integer(), fc.constant(null), texts),
  { maxKeys: 2, noNullPrototype: true },
);
const attributes = fc.record(
  {
    email: nullable(emails),
    city: nullable(fc.constantFrom('', 'Bonn', 'Köln 🎈')),
    totalSpent: nullable(fc.double({ noDefaultInfinity: true, noNaN: true, min: 0, max: 1e9 })),
    totalOrders: nullable(fc.nat()),
    joinDate: nullable(fc.constantFrom('2025-01-01T00:00:00.000Z', '2026-02-03T04:05:06.007Z')),
    custom: nullable(custom),
  },
  { requiredKeys: [] },
);

/** Half of the time an e-mail alone, which decides a referral. */
const sent = fc.oneof(fc.record({ email: emails }), fc.option(attributes, { nil: undefined }));
const none = fc.constant(undefined);
const names = fc.oneof(
  fc.constant<string[]>(['place_order']),
  fc.uniqueArray(fc.constantFrom('place_order', 'visit', 'toString'), { minLength: 1 }),
);
const pages = fc.record({ page: fc.integer({ min: 0, max: 3 }), limit: fc.constantFrom(0, 1, 2, 200, 201) });

/** One call: the operation, the player, and the operation's argument. */
const steps = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(fc.constant('upsert' as const), ids, sent) },
  { weight: 4, arbitrary: fc.tuple(fc.constant('leave' as const), ids, emails) },
  { weight: 4, arbitrary: fc.tuple(fc.constant('track' as const), ids, names) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('remove' as const), ids, none) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('player' as const), ids, none) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('coupons' as const), ids, none) },
  { weight: 3, arbitrary: fc.tuple(fc.constant('referrals' as const), ids, pages) },
);
type Step = typeof steps extends fc.Arbitrary<infer Value> ? Value : never;

const UNKNOWN = { status: 404, body: { code: 101 } };
const DONE = { status: 200, text: '' };

/** Makes a call at the service and at the model, and compares the responses. */
async function compare(client: Client, model: Model, sequence: string, [operation, plainId, given]: Step) {
  // Each sequence has its own players and contacts, so that all can use one service.
  const id = `${sequence} ${plainId}`;
  const known = model.player(id);
  switch (operation) {
    case 'upsert': {
      const ofSequence = given?.email ? { ...given, email: `${sequence}${given.email}` } : given;
      expect(await client.upsert(id, ofSequence)).toMatchObject({ status: 200, body: { playerUniqueId: id } });
      return model.upsert(id, ofSequence);
    }
    case 'leave':
      if (!known) return;
      expect((await client.leave(id, `${sequence}${given}`)).status).toBe(200);
      return model.leave(id, `${sequence}${given}`);
    case 'track': {
      const events = Object.fromEntries(given.map((name) => [name, { amount: 1 }]));
      expect(await client.track(id, events)).toMatchObject(DONE);
      return model.track(id, given);
    }
    case 'remove':
      expect(await client.remove(id)).toMatchObject(known ? DONE : UNKNOWN);
      return known && model.remove(id);
    case 'player': {
      const reply = await client.player(id);
      if (!known) return expect(reply).toMatchObject(UNKNOWN);
      return expect(reply.body.playerAttributes).toEqual(known.attributes ?? {});
    }
    case 'coupons': {
      const reply = await client.coupons(id);
      if (!known) return expect(reply).toMatchObject(UNKNOWN);
      return expect(reply.body.coupons.map(({ group }) => group?.handle)).toEqual(known.coupons);
    }
    case 'referrals': {
      const { page, limit } = given;
      const reply = await client.referrals(id, `?page=${page}&limit=${limit}`);
      const isRefused = page < 1 || limit < 1 || limit > 200;
      if (isRefused) return expect(reply).toMatchObject({ status: 400, body: { code: 5 } });
      if (!known) return expect(reply).toMatchObject(UNKNOWN);
      const { referredFriends, ...totals } = reply.body;
      const friends = referredFriends.map(({ playerUniqueId, status, email }) => [playerUniqueId, status, email]);
      return expect({ friends, ...totals }).toEqual(model.referrals(id, page, limit));
    }
    default:
      throw new Error(`No such operation: ${operation satisfies never}`);
  }
}

/** Compares `sequences` random sequences of calls with the model, on each store. */
export function compareWithModel(sequences: number): void {
  // The clock moves on with each reading, so that the order of friends is known.
  let time = Date.parse('2025-05-01');
  const options = { programme: PROGRAMME, now: () => time++ };
  const title = `${sequences} sequences of calls (seed ${SEED}) get the responses of the model`;
  const define = (client: Client) => {
    test(
      title,
      async () => {
        let count = 0;
        const sequencesOf = fc.array(steps, { minLength: 10, maxLength: 40, size: 'max' });
        const property = fc.asyncProperty(sequencesOf, async (sequence) => {
          const model = new Model();
          const name = `s${++count}`;
          for (const step of sequence) await compare(client, model, name, step);
          // In the end everything is compared, whatever the sequence has read.
          for (const id of IDS) {
            await compare(client, model, name, ['player', id, undefined]);
            await compare(client, model, name, ['coupons', id, undefined]);
            await compare(client, model, name, ['referrals', id, { page: 1, limit: 200 }]);
          }
        });
        await fc.assert(property, { numRuns: sequences, seed: SEED });
      },
      60_000 + sequences * 1_000,
    );
  };
  onEachStore('a property', define, options);
}
