import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { contentOf, found, programmeWith, STORES, startReference } from './kit.ts';

test('SQLite: of 500 players that were changed and deleted, no file, log or backup has a trace', async () => {
  const { client, at } = await startReference();
  // The same numbers each time: rows that grow and move between pages.
  let state = 7;
  const random = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
  const update = async (number: number) => {
    const custom = { [`k${random(5)}`]: `CUSTOM${number}Z${'q'.repeat(random(900))}` };
    await client.upsert(`ID${number}Z`, { email: `MAIL${number}Z@x.y`, lastName: `LAST${number}Z`, custom });
  };
  const friend = {
    email: 'erika@secret.example',
    mobile: '4915199988877',
    name: 'Erika-Secret',
    event: 'event-secret',
  };
  const { email, mobile, name: displayName } = friend;
  await client.upsert('host');
  await client.leave('host', email);
  await client.upsert('friend', { email, mobile: `+${mobile}`, displayName });
  await client.track('friend', { visit: { note: friend.event } });
  expect((await client.referrals('host')).body.total).toBe(1);
  for (let count = 0; count < 3_000; count++) await update(random(1_000));
  expect((await found(at.dataDir, friend)).length).toBeGreaterThanOrEqual(4);

  await client.remove('friend');
  const secrets: Record<string, string> = { ...friend };
  for (let number = 0; number < 1_000; number += 2) {
    if ((await client.remove(`ID${number}Z`)).status !== 200) continue;
    for (const kind of ['ID', 'MAIL', 'LAST', 'CUSTOM']) secrets[kind + number] = `${kind}${number}Z`;
    if (number % 4 === 0) await update(random(500) * 2 + 1);
  }
  expect(Object.keys(secrets).length).toBeGreaterThan(1_500);
  expect(await found(at.dataDir, secrets)).toEqual([]);
  expect((await client.backup()).status).toBe(200);
  expect(await found(at.dataDir, secrets)).toEqual([]);
});

test('SQLite: a file of more than 16 MB, which is not rebuilt, has no trace of a deleted player', async () => {
  const { client, at } = await startReference();
  const custom = { text: 'x'.repeat(16_000) };
  const secrets = { id: 'id-secret', email: 'secret@example.com', custom: 'custom-secret' };
  for (let count = 0; count < 1_100; count++) {
    await client.upsert(`p${count}`, { custom });
    if (count === 500) await client.upsert(secrets.id, { email: secrets.email, custom: { more: secrets.custom } });
  }
  expect((await stat(join(at.dataDir, 'reference.db'))).size).toBeGreaterThan(16 * 1024 * 1024);
  expect(await found(at.dataDir, secrets)).not.toEqual([]);
  await client.remove(secrets.id);
  expect(await found(at.dataDir, secrets)).toEqual([]);
});

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
});
