import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Client } from './client.ts';
import { onEachStore, programmeWith } from './kit.ts';

/** The same sequences each time, unless another seed is given. MODEL_SEQUENCES=2000 for a run before a release. */
const SEED = Number(process.env['PROPERTY_SEED'] ?? 20_250_501);
const SEQUENCES = Number(process.env['MODEL_SEQUENCES'] ?? 60);

const [WELCOME, THANKS] = ['welcome', 'thanks'];
const PROGRAMME = programmeWith({
  groups: [WELCOME, THANKS].map((handle) => ({ handle, title: handle, maxPerPlayer: 1, coupon: { type: 'custom' } })),
  rewards: [
    { at: 'pending', to: 'friend', group: WELCOME },
    { at: 'active', to: 'referrer', group: THANKS },
    { at: 'active', to: 'friend', group: THANKS },
  ],
});

type Attributes = Record<string, unknown>;
interface Player {
  id: string;
  attributes: Attributes | undefined;
  coupons: Set<string>;
  hasOrdered: boolean;
  referrer: Player | undefined;
  status: 'pending' | 'active';
}
const compared = (email: unknown) => String(email).trim().toLowerCase();

/** The service in memory, written from the interface document and the README. */
class Model {
  readonly players = new Map<string, Player>();
  #contacts: { referrer: Player; email: string; owner?: Player }[] = [];
  /** Every e-mail that has ever counted or that a deleted player had, also for a time. */
  readonly #counted = new Set<string>();
  /** All friends, in the order in which they were referred. */
  #friends: Player[] = [];

  upsert(id: string, attributes: Attributes = {}): void {
    const player = this.#take(id);
    const { attributes: known } = player;
    const sent = Object.entries(attributes).filter(([, value]) => value !== null && value !== '');
    if (sent.length === 0) return;
    player.attributes = { ...known, ...Object.fromEntries(sent) };
    const email = compared(player.attributes['email']);
    const winner = this.#contacts.find((contact) => contact.email === email && contact.referrer !== player);
    for (const contact of known && compared(known['email']) !== email ? this.#contacts : []) {
      if (contact.email === compared(known?.['email'])) contact.owner ??= player;
    }
    if (known || !winner || this.#counted.has(email)) return;
    this.#counted.add(email);
    for (const contact of this.#contacts) if (contact.email === email) contact.owner = player;
    player.referrer = winner.referrer;
    this.#friends.push(player);
    player.coupons.add(WELCOME);
    if (player.hasOrdered) this.#activate(player);
  }

  track(id: string, names: string[]): void {
    const player = this.#take(id);
    if (!names.includes('place_order')) return;
    player.hasOrdered = true;
    this.#activate(player);
  }

  leave(id: string, contact: string): void {
    const [referrer, email] = [this.#take(id), compared(contact)];
    const isLeft = this.#contacts.some((left) => left.referrer === referrer && left.email === email);
    if (!isLeft) this.#contacts.push({ referrer, email });
  }

  remove(id: string): void {
    const gone = this.#take(id);
    this.players.delete(id);
    if (gone.attributes?.['email']) this.#counted.add(compared(gone.attributes['email']));
    for (const { owner, email } of this.#contacts) if (owner === gone) this.#counted.add(email);
    this.#contacts = this.#contacts.filter(({ referrer }) => referrer !== gone);
    this.#friends = this.#friends.filter((friend) => friend !== gone && friend.referrer !== gone);
    for (const player of this.players.values()) if (player.referrer === gone) player.referrer = undefined;
  }

  referrals(player: Player, page: number, limit: number) {
    const all = this.#friends.filter(({ referrer }) => referrer === player);
    const friends = all.slice((page - 1) * limit, page * limit);
    const totalActive = all.filter(({ status }) => status === 'active').length;
    return {
      referredFriends: friends.map(({ id, status, attributes }) => [id, status, attributes?.['email']]),
      ...{ count: friends.length, total: all.length, totalPending: all.length - totalActive, totalActive },
    };
  }

  #activate(player: Player): void {
    if (!player.referrer || player.status === 'active') return;
    player.status = 'active';
    for (const rewarded of [player.referrer, player]) rewarded.coupons.add(THANKS);
  }

  #take(id: string): Player {
    const none = { attributes: undefined, coupons: new Set<string>(), hasOrdered: false, referrer: undefined };
    const player = this.players.get(id) ?? { id, ...none, status: 'pending' };
    this.players.set(id, player);
    return player;
  }
}

// Few players and contacts, so that they often meet: guests, late matches, deletions, players created again.
const IDS = ['ann', 'Ann', 'cat/dog', 'e@x.y'];
const ids = fc.constantFrom(...IDS);
const emails = fc.constantFrom('a@x.y', 'A@X.Y ', 'b@x.y');
const nullable = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null, freq: 4 });
const texts = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0'));
const attributes = fc.record(
  {
    email: nullable(emails),
    city: nullable(texts),
    totalSpent: nullable(fc.double({ noDefaultInfinity: true, noNaN: true, min: 0, max: 1e9 })),
  },
  { requiredKeys: [] },
);
/** Half of the time an e-mail alone, which decides a referral. */
const sent = fc.oneof(fc.record({ email: emails }), fc.option(attributes, { nil: undefined }));
const names = fc.uniqueArray(fc.constantFrom('place_order', 'visit', 'toString'), { minLength: 1 });
const pages = fc.record({ page: fc.integer({ min: 1, max: 3 }), limit: fc.constantFrom(1, 2, 200) });

const steps = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(fc.constant('upsert' as const), ids, sent) },
  { weight: 4, arbitrary: fc.tuple(fc.constant('leave' as const), ids, emails) },
  { weight: 4, arbitrary: fc.tuple(fc.constant('track' as const), ids, names) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('remove' as const), ids, fc.constant(undefined)) },
  { weight: 3, arbitrary: fc.tuple(fc.constant('read' as const), ids, pages) },
);
type Step = typeof steps extends fc.Arbitrary<infer Value> ? Value : never;

const UNKNOWN = { status: 404, body: { code: 101 } };

/** Makes a call at the service and at the model, and compares the responses. */
async function compare(client: Client, model: Model, sequence: string, [operation, plainId, given]: Step) {
  // Each sequence has its own players and contacts, so that all can use one service.
  const id = `${sequence} ${plainId}`;
  const known = model.players.get(id);
  if (operation === 'upsert') {
    const ofSequence = given?.email ? { ...given, email: `${sequence}${given.email}` } : given;
    expect(await client.upsert(id, ofSequence)).toMatchObject({ status: 200, body: { playerUniqueId: id } });
    model.upsert(id, ofSequence);
  } else if (operation === 'track') {
    expect((await client.track(id, Object.fromEntries(given.map((name) => [name, {}])))).status).toBe(200);
    model.track(id, given);
  } else if (operation === 'leave') {
    if (!known) return;
    expect((await client.leave(id, `${sequence}${given}`)).status).toBe(200);
    model.leave(id, `${sequence}${given}`);
  } else if (operation === 'remove') {
    expect(await client.remove(id)).toMatchObject(known ? { status: 200 } : UNKNOWN);
    if (known) model.remove(id);
  } else {
    const page = await client.referrals(id, `?page=${given.page}&limit=${given.limit}`);
    const [player, coupons] = [await client.player(id), await client.coupons(id)];
    if (!known) return expect([player, coupons, page]).toMatchObject([UNKNOWN, UNKNOWN, UNKNOWN]);
    expect(player.body.playerAttributes).toEqual(known.attributes ?? {});
    expect(coupons.body.coupons.map(({ group }) => group?.handle)).toEqual([...known.coupons]);
    const friends = page.body.referredFriends;
    const referredFriends = friends.map(({ playerUniqueId, status, email }) => [playerUniqueId, status, email]);
    expect({ ...page.body, referredFriends }).toEqual(model.referrals(known, given.page, given.limit));
  }
}

// The clock moves on with each reading, so that the order of friends is known.
let time = Date.parse('2025-05-01');
onEachStore(
  'a property',
  (client) => {
    test(
      `${SEQUENCES} sequences of calls (seed ${SEED}) get the responses of the model`,
      async () => {
        let count = 0;
        const property = fc.asyncProperty(
          fc.array(steps, { minLength: 10, maxLength: 40, size: 'max' }),
          async (calls) => {
            const model = new Model();
            const name = `s${++count}`;
            // In the end everything is compared, whatever the sequence has read.
            const reads = IDS.map((id): Step => ['read', id, { page: 1, limit: 200 }]);
            for (const step of [...calls, ...reads]) await compare(client, model, name, step);
          },
        );
        await fc.assert(property, { numRuns: SEQUENCES, seed: SEED });
      },
      60_000 + SEQUENCES * 4_000,
    );
  },
  { programme: PROGRAMME, now: () => time++ },
);
