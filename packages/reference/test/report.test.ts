import { expect, test } from '@jest/globals';
import { programmeWith } from './programmes.ts';
import { onEachStore } from './stores.ts';

let clock = Date.parse('2025-05-01T00:00:00.000Z');

onEachStore(
  'the report of a player',
  (service) => {
    const lines = async (id: string) => (await service().client.report(id)).text.split('\n').map((line) => line.trim());
    const HASH = '[\\w-]{12}';

    test('tells a referral from both sides: links, contacts by hash, states with times, rewards and why', async () => {
      const { client } = service();
      await client.upsert('ann', { email: 'ann@example.com' });
      clock = Date.parse('2025-05-02T00:00:00.000Z');
      await client.leave('ann', 'bob@example.com');
      clock = Date.parse('2025-05-03T00:00:00.000Z');
      await client.upsert('bob', { email: 'Bob@Example.com', mobile: '0151 1234567' });
      clock = Date.parse('2025-05-04T00:00:00.000Z');
      await client.track('bob', { place_order: {} });

      const bob = await lines('bob');
      expect(bob).toEqual([
        'Player bob, created 2025-05-03T00:00:00.000Z',
        expect.stringMatching(/^service id [\da-f-]{36}, referral code [\w-]{16}$/),
        'Contacts (keyed hashes; a mobile number has one for each way to write it)',
        expect.stringMatching(`^email ${HASH}$`),
        expect.stringMatching(`^mobile ${HASH}$`),
        'Referred by',
        'ann: active, referred 2025-05-03T00:00:00.000Z, active 2025-05-04T00:00:00.000Z',
        'counted',
        'Contacts left at the link',
        'none',
        'Friends: 0 pending, 0 active',
        'none',
        'Coupons',
        expect.stringMatching(
          /^2025-05-03T00:00:00\.000Z \w{12} of one: reward: the player's referral became pending; used 0, 3 uses left$/,
        ),
        'Rewards not issued',
        'one: the referral of bob became active, but the group was not available to the player (maxPerPlayer, dates or active)',
      ]);
      const ann = await lines('ann');
      expect(ann).toContain(`2025-05-02T00:00:00.000Z ${bob[3]} counted for bob`);
      expect(ann).toContain('bob: active, referred 2025-05-03T00:00:00.000Z, active 2025-05-04T00:00:00.000Z');
      expect(ann.join('\n')).toMatch(
        / of any: reward: the referral of bob became active; used 0, any number of uses left/,
      );
      expect(`${ann}${bob}`).not.toContain('example.com');
    });

    const at = (day: string) => `(first attributes, 2025-06-${day}T00:00:00.000Z)`;
    const contact = 'its e-mail address or mobile number';
    test.each<[string, string, (id: string, email: string) => Promise<unknown>, string]>([
      [
        'no contact',
        '01',
        (id) => service().client.upsert(id, { city: 'Bonn', email: 'no address' }),
        `not counted ${at('01')}: the attributes had neither an e-mail address nor a mobile number`,
      ],
      [
        'a contact left nowhere',
        '02',
        (id, email) => service().client.upsert(id, { email }),
        `not counted ${at('02')}: ${contact} had not been left at any link`,
      ],
      [
        'a contact left at the own link',
        '03',
        async (id, email) => {
          await service().client.upsert(id);
          await service().client.leave(id, email);
          await service().client.upsert(id, { email });
        },
        `not counted ${at('03')}: ${contact} was left only at the player's own link`,
      ],
      [
        'a contact that has counted',
        '04',
        async (id, email) => {
          await service().client.upsert(`first ${id}`);
          await service().client.leave(`first ${id}`, email);
          await service().client.upsert(id, { email });
          await service().client.remove(id);
          await service().client.upsert(id, { email });
        },
        `not counted ${at('04')}: ${contact} has counted before, and a contact counts once`,
      ],
      [
        'a referrer who was deleted',
        '05',
        async (id, email) => {
          await service().client.upsert(`gone ${id}`);
          await service().client.leave(`gone ${id}`, email);
          await service().client.upsert(id, { email });
          await service().client.remove(`gone ${id}`);
        },
        `counted ${at('05')}, and the referrer was deleted later`,
      ],
      [
        'no attributes',
        '06',
        (id) => service().client.track(id, { place_order: {} }),
        'not decided: the player has no attributes yet',
      ],
    ])('says why a friend did not count: %s', async (name, day, act, why) => {
      clock = Date.parse(`2025-06-${day}`);
      await act(name, `${name.replaceAll(' ', '-')}@example.com`);
      const report = await lines(name);
      expect(report.slice(report.indexOf('Referred by') + 1, report.indexOf('Contacts left at the link'))).toEqual([
        'nobody',
        why,
      ]);
    });

    test('of an unknown player is an error', async () => {
      expect(await service().client.report('nobody')).toMatchObject({ status: 404, body: { code: 101 } });
    });
  },
  {
    now: () => clock,
    programme: programmeWith({
      groups: [
        { handle: 'any', title: 'Any', coupon: { type: 'custom' } },
        { handle: 'one', title: 'One', maxPerPlayer: 1, coupon: { type: 'custom', options: { UsageLimit: 3 } } },
      ],
      rewards: [
        { at: 'pending', to: 'friend', group: 'one' },
        { at: 'active', to: 'friend', group: 'one' },
        { at: 'active', to: 'referrer', group: 'any' },
      ],
    }),
  },
);
