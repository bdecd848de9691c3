import { afterEach, expect, test } from '@jest/globals';
import { clientOf } from './client.ts';
import { type ReferenceOptions, type RunningReference, startReference } from './kit.ts';
import { found } from './personal-data.ts';
import { programmeWith } from './programmes.ts';
import { STORES, sqlitePlace } from './stores.ts';

/** What a test that failed has left open would keep the process running. */
const open = new Set<RunningReference>();
afterEach(async () => {
  for (const reference of open) await reference.close();
  open.clear();
});
async function start(options: ReferenceOptions): Promise<RunningReference> {
  const reference = await startReference(options);
  open.add(reference);
  return reference;
}
async function close(reference: RunningReference): Promise<void> {
  open.delete(reference);
  await reference.close();
}

test('SQLite: neither the file nor its log nor a backup has anything of a deleted player', async () => {
  const at = await sqlitePlace();
  const secrets = {
    email: 'erika.mustermann@secret.example',
    mobile: '4915199988877',
    name: 'Erika-Secret',
    lastName: 'Mustermann-Secret',
    custom: 'custom-secret',
    event: 'event-secret',
    other: 'other-email@secret.example',
    id: 'id-secret',
  };
  const reference = await start({ store: await at.open(), dataDir: at.dataDir });
  const client = clientOf(reference);
  // Neighbours before and after, so that rows of the player move between pages as they grow.
  const neighbours = async (from: number, to: number) => {
    for (let number = from; number < to; number++) {
      const id = `n${(number * 7919) % 1_000}`;
      await client.upsert(id, { email: `${id}@example.com`, city: 'x'.repeat(number % 200), custom: { number } });
    }
  };
  await neighbours(0, 200);
  await client.leave('n0', secrets.email);
  await client.upsert(secrets.id, { email: secrets.other, displayName: secrets.name });
  for (let round = 0; round < 5; round++) {
    await client.upsert(secrets.id, { custom: { [`key${round}`]: `${secrets.custom}${'y'.repeat(round * 300)}` } });
    await client.track(secrets.id, { visit: { note: `${secrets.event} ${round}` } });
  }
  await client.upsert('friend', {
    email: secrets.email,
    mobile: `+${secrets.mobile}`,
    displayName: secrets.name,
    lastName: secrets.lastName,
  });
  expect((await client.referrals('n0')).body.total).toBe(1);
  await neighbours(200, 600);
  expect((await found(at.dataDir, secrets)).length).toBeGreaterThanOrEqual(Object.keys(secrets).length);

  await client.remove(secrets.id);
  await client.remove('friend');
  expect(await found(at.dataDir, secrets)).toEqual([]);
  expect((await client.backup()).status).toBe(200);
  await neighbours(600, 700);
  expect(await found(at.dataDir, secrets)).toEqual([]);
  await close(reference);
  const again = await start({ store: await at.open() });
  expect(await found(at.dataDir, secrets)).toEqual([]);
  await close(again);
  await at.remove();
}, 60_000);

test.each(STORES)(
  '$name: a contact that has expired is deleted, with the next start at the latest',
  async ({ place }) => {
    const at = await place();
    const programme = programmeWith({ contactExpiryDays: 30 });
    const START = Date.parse('2025-05-01');
    const first = await start({ store: await at.open(), programme, now: () => START });
    await clientOf(first).upsert('host');
    await clientOf(first).leave('host', 'gone@secret.example');
    await close(first);
    for (const [day, left] of [
      [30, 1],
      [31, 0],
    ] as const) {
      const now = () => START + day * 24 * 60 * 60 * 1000;
      const later = await start({ store: await at.open(), programme, now });
      const rows = await later.store.read((queries) => queries.selectFrom('contacts').select('value').execute());
      expect(rows).toHaveLength(left);
      await close(later);
    }
    if (at.databaseUrl === undefined) expect(await found(at.dataDir, { contact: 'gone@secret.example' })).toEqual([]);
    await at.remove();
  },
);
