import { expect, test } from '@jest/globals';
import { contentOf, found, programmeWith, STORES, sqlitePlace, startReference } from './kit.ts';

test('SQLite: neither the file nor its log nor a backup has anything of a deleted player', async () => {
  const at = await sqlitePlace();
  const secrets = {
    ...{ id: 'id-secret', email: 'erika@secret.example', other: 'other@secret.example', mobile: '4915199988877' },
    ...{ name: 'Erika-Secret', lastName: 'Mustermann-Secret', custom: 'custom-secret', event: 'event-secret' },
  };
  const { email, lastName, name: displayName } = secrets;
  const reference = await startReference({ at });
  const { client } = reference;
  // Neighbours before and after, so that rows of the player move between pages as they grow.
  const neighbours = async (from: number, to: number) => {
    for (let number = from; number < to; number++) {
      const id = `n${(number * 7919) % 1_000}`;
      await client.upsert(id, { email: `${id}@example.com`, city: 'x'.repeat(number % 200), custom: { number } });
    }
  };
  await neighbours(0, 100);
  await client.leave('n0', email);
  await client.upsert(secrets.id, { email: secrets.other, displayName });
  for (let round = 0; round < 5; round++) {
    await client.upsert(secrets.id, { custom: { [`key${round}`]: `${secrets.custom}${'y'.repeat(round * 300)}` } });
    await client.track(secrets.id, { visit: { note: `${secrets.event} ${round}` } });
  }
  await client.upsert('friend', { email, mobile: `+${secrets.mobile}`, displayName, lastName });
  expect((await client.referrals('n0')).body.total).toBe(1);
  await neighbours(100, 300);
  expect((await found(at.dataDir, secrets)).length).toBeGreaterThanOrEqual(Object.keys(secrets).length);

  await client.remove(secrets.id);
  await client.remove('friend');
  expect(await found(at.dataDir, secrets)).toEqual([]);
  expect((await client.backup()).status).toBe(200);
  await neighbours(300, 350);
  expect(await found(at.dataDir, secrets)).toEqual([]);
  await reference.close();
  expect(await found(at.dataDir, secrets)).toEqual([]);
  await at.remove();
}, 60_000);

test.each(STORES)('$name: an expired contact is deleted with the next start at the latest', async ({ place }) => {
  const at = await place();
  const programme = programmeWith({ contactExpiryDays: 30 });
  for (const [day, left] of [
    [0, 0],
    [30, 1],
    [31, 0],
  ] as const) {
    const now = () => Date.parse('2025-05-01') + day * 24 * 60 * 60 * 1000;
    const reference = await startReference({ at, programme, now });
    expect((await contentOf(reference)).contacts).toHaveLength(left);
    if (day === 0) {
      await reference.client.upsert('host');
      await reference.client.leave('host', 'gone@secret.example');
    }
    await reference.close();
  }
  if (at.databaseUrl === undefined) expect(await found(at.dataDir, { contact: 'gone@secret.example' })).toEqual([]);
  await at.remove();
});
