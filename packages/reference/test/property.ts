import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Client, clientOf, type Reply } from './client.ts';
import { type RunningReference, startReference } from './kit.ts';
import { MAX_PER_PLAYER, Model } from './model.ts';
import { programmeWith } from './programmes.ts';
import type { Place, STORES } from './stores.ts';

/** The same sequences each time, unless another seed is given. */
const SEED = Number(process.env['PROPERTY_SEED'] ?? 20_250_501);

const PROGRAMME = programmeWith({
  groups: Object.entries(MAX_PER_PLAYER).map(([handle, maxPerPlayer]) => ({
    handle,
    title: handle,
    maxPerPlayer,
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
const attributes = fc.record(
  {
    email: nullable(emails),
    city: nullable(fc.constantFrom('', 'Bonn', 'Köln 🎈')),
    totalSpent: nullable(fc.double({ noDefaultInfinity: true, noNaN: true, min: 0, max: 1e9 })),
    totalOrders: nullable(fc.nat()),
    joinDate: nullable(fc.constantFrom('2025-01-01T00:00:00.000Z', '2026-02-03T04:05:06.007Z')),
    custom: nullable(
      fc.dictionary(
        fc.constantFrom('k', 'l', 'constructor', 'toString'),
        fc.oneof(
          fc.integer(),
          fc.constant(null),
          fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')),
        ),
        { maxKeys: 2, noNullPrototype: true },
      ),
    ),
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

/** Makes a call at the service and at the model, and compares the answers. */
async function compare(
  client: Client,
  model: Model,
  sequence: string,
  [operation, plainId, given]: Step,
): Promise<void> {
  // Each sequence has its own players and contacts, so that all can use one service.
  const id = `${sequence} ${plainId}`;
  const isKnown = model.has(id);
  switch (operation) {
    case 'upsert': {
      const ofSequence = given?.email ? { ...given, email: `${sequence}${given.email}` } : given;
      const reply = await client.upsert(id, ofSequence);
      expect(reply).toMatchObject({ status: 200, body: { playerUniqueId: id } });
      model.upsert(id, ofSequence);
      model.identify(id, reply.body.serviceId, reply.body.referralLink);
      return;
    }
    case 'leave': {
      const contact = `${sequence}${given}`;
      if (!isKnown) return expectReply(await client.player(id), UNKNOWN);
      expectReply(await client.leave(id, contact), { status: 200 });
      return model.leave(id, contact);
    }
    case 'track': {
      const events = Object.fromEntries(given.map((name) => [name, { amount: 1 }]));
      expectReply(await client.track(id, events), { status: 200, text: '' });
      return model.track(id, given);
    }
    case 'remove':
      expectReply(await client.remove(id), isKnown ? { status: 200, text: '' } : UNKNOWN);
      return isKnown ? model.remove(id) : undefined;
    case 'player': {
      const reply = await client.player(id);
      if (!isKnown) return expectReply(reply, UNKNOWN);
      expect(reply.body.playerAttributes).toEqual(model.attributes(id));
      return model.identify(id, undefined, reply.body.referralLink);
    }
    case 'coupons': {
      const reply = await client.coupons(id);
      if (!isKnown) return expectReply(reply, UNKNOWN);
      expect(reply.body.coupons.map(({ group }) => group?.handle)).toEqual(model.coupons(id));
      return;
    }
    case 'referrals': {
      const { page, limit } = given;
      const reply = await client.referrals(id, `?page=${page}&limit=${limit}`);
      if (page < 1 || limit < 1 || limit > 200) return expectReply(reply, { status: 400, body: { code: 5 } });
      if (!isKnown) return expectReply(reply, UNKNOWN);
      const { referredFriends, ...totals } = reply.body;
      const friends = referredFriends.map(({ playerUniqueId, status, email }) => ({
        id: playerUniqueId,
        status,
        email,
      }));
      expect({ friends, ...totals }).toEqual(model.referrals(id, page, limit));
      return;
    }
    default:
      throw new Error(`No such operation: ${operation satisfies never}`);
  }
}

function expectReply(reply: Reply, expected: object): void {
  expect(reply).toMatchObject(expected);
}

/** Compares `sequences` random sequences of calls with the model, on each store. */
/** How many sequences the long tests try on each store; MODEL_SEQUENCES=2000 for a run before a release. */
export const SEQUENCES = Number(process.env['MODEL_SEQUENCES'] ?? 200);

export function compareWithModel(sequences: number, stores: typeof STORES): void {
  for (const { name, place } of stores) {
    describe(`on ${name}`, () => {
      let at: Place;
      let reference: RunningReference;
      beforeAll(async () => {
        // The clock moves on with each reading, so that the order of friends is known.
        let time = Date.parse('2025-05-01');
        at = await place();
        reference = await startReference({ store: await at.open(), programme: PROGRAMME, now: () => time++ });
      });
      afterAll(async () => {
        await reference.close();
        await at.remove();
      });

      test(
        `${sequences} sequences of calls (seed ${SEED}) get the answers of the model`,
        async () => {
          const client = clientOf(reference);
          let count = 0;
          const property = fc.asyncProperty(
            fc.array(steps, { minLength: 10, maxLength: 40, size: 'max' }),
            async (sequence) => {
              const model = new Model();
              const name = `s${++count}`;
              for (const step of sequence) await compare(client, model, name, step);
              // In the end everything is compared, whatever the sequence has read.
              for (const id of IDS) {
                await compare(client, model, name, ['player', id, undefined]);
                await compare(client, model, name, ['coupons', id, undefined]);
                await compare(client, model, name, ['referrals', id, { page: 1, limit: 200 }]);
              }
            },
          );
          await fc.assert(property, { numRuns: sequences, seed: SEED });
        },
        60_000 + sequences * 1_000,
      );
    });
  }
}
