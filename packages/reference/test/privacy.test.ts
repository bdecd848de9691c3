import { expect, test } from '@jest/globals';
import { contentOf, found, programmeWith, STORES, startReference } from './kit.ts';

test('SQLite: neither the file nor its log nor a backup has anything of a deleted player', async () => {
  const secrets = {
    ...{ id: 'id-secret', email: 'erika@secret.example', other: 'other@secret.example', mobile: '4915199988877' },
    ...{ name: 'Erika-Secret', lastName: 'Mustermann-Secret', custom: 'custom-secret', event: 'event-secret' },
  };
  const { email, lastName, name: displayName } = secrets;
  const { client, at, close } = await startReference();
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
  await close();
}, 60_000);

test.each(STORES)('$name: an expired contact is deleted with the next start at the latest', async ({ place }) => {
  const at = await place();
  const left: number[] = [];
  for (const day of ['2025-05-01', '2025-05-31', '2025-06-01']) {
    const options = { programme: programmeWith({ contactExpiryDays: 30 }), now: () => Date.parse(day) };
    const reference = await startReference({ at, ...options });
    left.push((await contentOf(reference)).contacts.length);
    await reference.client.upsert('host');
    if (left.length === 1) await reference.client.leave('host', 'gone@secret.example');
    await reference.close();
  }
  expect(left).toEqual([0, 1, 0]);
  if (at.databaseUrl === undefined) expect(await found(at.dataDir, { contact: 'gone@secret.example' })).toEqual([]);
  await at.remove();
});
