import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { until } from '../../../test/kit/until.ts';
import type { Client, Reply } from './client.ts';
import { endConnections, lockRow, type Place, STORES, sqlitePlace } from './kit.ts';
import { environmentOf, forkReference } from './process.ts';

const KILLS = 20;

/** What the service has acknowledged over all its lives. */
interface Acknowledged {
  /** The friends that signed up, and those who placed an order. */
  friends: Set<string>;
  active: Set<string>;
}

test.each(STORES)(`$name keeps every acknowledged write through ${KILLS} kills`, async ({ place }) => {
  const at = await place();
  await survivesKills(at);
  await at.remove();
});

/**
 * Kills the service at different moments while it acknowledges writes, starts it again, and looks for every write that was
 * ever acknowledged. What was not acknowledged may be there or not, but never half.
 */
async function survivesKills(place: Place): Promise<void> {
  const acknowledged: Acknowledged = { friends: new Set(), active: new Set() };
  let serial = 0;
  for (let kill = 0; kill <= KILLS; kill++) {
    const { client, end } = await forkReference(environmentOf(place));
    await client.upsert('host');
    await expectAll(client, acknowledged);
    if (kill === KILLS) return expect(await end('SIGTERM')).toBe(0);
    let writesLeft = 5 + ((kill * 37) % 60);
    let ended: Promise<unknown> | undefined;
    const write = async () => {
      while (!ended) {
        await befriend(client, acknowledged, ++serial).catch(refusedConnection);
        if (--writesLeft <= 0) ended ??= end('SIGKILL');
      }
    };
    await Promise.all(Array.from({ length: 8 }, write));
    expect(await ended).toBe('SIGKILL');
  }
}

async function befriend(client: Client, { friends, active }: Acknowledged, serial: number): Promise<void> {
  const id = `friend ${serial}`;
  accepted(await client.leave('host', `friend${serial}@example.com`));
  accepted(await client.upsert(id, { email: `friend${serial}@example.com` }));
  friends.add(id);
  accepted(await client.track(id, { place_order: {} }));
  active.add(id);
}

async function expectAll(client: Client, { friends, active }: Acknowledged): Promise<void> {
  const statuses = new Map<string, string>();
  for (let page = 1; page === 1 || statuses.size === (page - 1) * 200; page++) {
    for (const friend of (await client.referrals('host', `?limit=200&page=${page}`)).body.referredFriends) {
      statuses.set(friend.playerUniqueId, friend.status);
    }
  }
  expect([...friends].filter((id) => !statuses.has(id))).toEqual([]);
  expect([...active].filter((id) => statuses.get(id) !== 'active')).toEqual([]);
  const totalActive = [...statuses.values()].filter((status) => status === 'active').length;
  const { body } = await client.referrals('host');
  expect(body).toMatchObject({ total: statuses.size, totalActive, totalPending: statuses.size - totalActive });
}

function accepted({ status, text }: Reply): void {
  if (status !== 200) throw new Error(`The service answered ${status}: ${text}`);
}

/** While the service is being killed calls fail; what it answers before that must not. */
function refusedConnection(error: unknown): void {
  // By its name: the error comes from outside of the test's realm, where `instanceof` knows other classes.
  if (!String(error).startsWith('TypeError: ')) throw error;
}

/** Clients that write and read until they are told to stop. */
function underLoad(client: Client) {
  const acknowledged: string[] = [];
  const statuses: number[] = [];
  let isDone = false;
  const write = async (writer: number) => {
    for (let number = 0; !isDone; number++) {
      const id = `player ${writer}.${number}`;
      const { status } = await client.upsert(id, { email: `${writer}.${number}@example.com` });
      statuses.push(status);
      if (status === 200) acknowledged.push(id);
      if (statuses.length % 10 === 0) statuses.push((await client.player('host')).status);
    }
  };
  const load = Promise.all(Array.from({ length: 16 }, (_, writer) => write(writer)));
  const stop = async () => {
    isDone = true;
    await load;
  };
  return { acknowledged, statuses, stop, reaches: (count: number) => until(() => acknowledged.length >= count) };
}

for (const { name, place } of STORES.slice(1)) {
  test(`${name} ends all connections 3 times under load: alive, few errors, no acknowledged write lost`, async () => {
    const at = await place();
    const { client, end } = await forkReference(environmentOf(at));
    await client.upsert('host');
    const { acknowledged, statuses, reaches, stop } = underLoad(client);
    for (let round = 0; round < 3; round++) {
      await reaches(acknowledged.length + 150);
      expect(await endConnections(at)).toBeGreaterThan(0);
    }
    await reaches(acknowledged.length + 150);
    await stop();
    const errors = statuses.filter((status) => status !== 200);
    expect(errors.filter((status) => status !== 503)).toEqual([]);
    expect(errors.length).toBeLessThanOrEqual(statuses.length * 0.05);
    for (const id of acknowledged) expect((await client.player(id)).status).toBe(200);
    expect((await client.call('GET', '/readyz')).text).toBe('{"ready":true}');
    expect(await end('SIGTERM')).toBe(0);
    await at.remove();
  });

  test(`${name} has no free connection: a request gets 503 after 5 seconds, and 200 when one is free`, async () => {
    const at = await place();
    const { client, end } = await forkReference(environmentOf(at));
    await client.upsert('host');
    const unlock = await lockRow(at, 'host');
    const waiting = Array.from({ length: 10 }, () => client.upsert('host'));
    await until(async () => (await client.player('host')).status === 503);
    await unlock();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect((await client.player('host')).status).toBe(200);
    expect(await end('SIGTERM')).toBe(0);
    await at.remove();
  });
}

test('a backup made under load has every write acknowledged before it, and the service starts with it', async () => {
  const at = await sqlitePlace();
  const { client, end } = await forkReference(environmentOf(at));
  await client.upsert('host');
  const { acknowledged, reaches, stop } = underLoad(client);
  await reaches(200);
  const before = [...acknowledged];
  const { text } = await client.backup();
  await stop();
  const { file } = JSON.parse(text);
  expect(file).toMatch(new RegExp(`^${at.dataDir}/backups/reference-[\\d-]+T[\\d.-]+Z\\.db$`));
  await end('SIGKILL');

  const dataDir = await mkdtemp(join(tmpdir(), 'restored-'));
  await copyFile(file, join(dataDir, 'reference.db'));
  const again = await forkReference(environmentOf({ databaseUrl: undefined, dataDir }));
  for (const id of before) expect((await again.client.player(id)).status).toBe(200);
  // What has counted is known in the copy too: the key of the hashes is in the store.
  expect((await again.client.upsert('new', { email: 'new@example.com' })).status).toBe(200);
  expect(await again.end('SIGTERM')).toBe(0);
  await rm(dataDir, { recursive: true });
  await at.remove();
});
