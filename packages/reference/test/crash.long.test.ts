import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { startProxyOf } from '../../../test/kit/tcp-proxy.ts';
import { until } from '../../../test/kit/until.ts';
import type { Client, Reply } from './client.ts';
import { endConnections, lockRow, placeOf, STORES, sqlitePlace, startReference } from './kit.ts';
import { environmentOf, forkReference } from './process.ts';

const KILLS = 20;
const CALLERS = 12;

let serial = 0;

/** The friends of `host` whose sign-up was acknowledged in any life of the service, and those whose order was. */
const nobody = () => ({ friends: new Set<string>(), active: new Set<string>() });
type Acknowledged = ReturnType<typeof nobody>;

/** Has friends sign up at the link of `host` and place an order, until it is stopped. */
async function underLoad(client: Client, { friends, active }: Acknowledged) {
  await client.upsert('host');
  const link = await client.linkOf('host');
  const statuses: number[] = [];
  const isAccepted = async (reply: Promise<Reply>) => statuses[statuses.push((await reply).status) - 1] === 200;
  let isDone = false;
  const befriend = async () => {
    while (!isDone) {
      const id = `friend${++serial}`;
      if (!(await isAccepted(client.post(link, `contact=${id}%40example.com`)))) continue;
      if (!(await isAccepted(client.upsert(id, { email: `${id}@example.com` })))) continue;
      friends.add(id);
      if (await isAccepted(client.track(id, { place_order: {} }))) active.add(id);
    }
  };
  const load = Promise.allSettled(Array.from({ length: CALLERS }, befriend));
  const friendsMore = async (count: number) => {
    const goal = friends.size + count;
    await until(() => friends.size >= goal);
  };
  /** Returns the statuses of calls that failed, and why there was no response. */
  const stop = async () => {
    isDone = true;
    const lost = (await load).flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []));
    return { lost, failed: statuses.filter((status) => status !== 200) };
  };
  return { friendsMore, stop };
}

/** What was not acknowledged may be there or not, but never half. */
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

test.each(STORES)(`$name keeps every acknowledged write through ${KILLS} kills`, async ({ place }) => {
  const at = await place();
  const acknowledged = nobody();
  for (let kill = 0; kill < KILLS; kill++) {
    const { client, end } = await forkReference(environmentOf(at));
    const { friendsMore, stop } = await underLoad(client, acknowledged);
    await friendsMore((kill * 37) % 30);
    expect(await end('SIGKILL')).toBe('SIGKILL');
    expect(await stop()).toMatchObject({ failed: [] });
  }
  const { client, end } = await forkReference(environmentOf(at));
  await expectAll(client, acknowledged);
  expect(await end('SIGTERM')).toBe(0);
});

for (const { name, place } of STORES.slice(1)) {
  test(`${name} has no free connection: a request gets 503 after 5 seconds, and 200 when one is free`, async () => {
    const { client, at } = await startReference({ at: await place() });
    await client.upsert('host');
    const unlock = await lockRow(at, 'host');
    const waiting = Array.from({ length: 10 }, () => client.upsert('host'));
    await until(async () => (await client.player('host')).status === 503);
    await unlock();
    for (const { status } of await Promise.all([...waiting, client.player('host')])) expect(status).toBe(200);
  });

  test(`${name} does not answer: requests get 503, and one that was given up does not overwrite a later one`, async () => {
    const at = await place();
    const proxy = await startProxyOf(at.databaseUrl ?? '');
    const { client } = await startReference({ at: placeOf(proxy.url, at.dataDir) });
    proxy.cut();
    const connected = proxy.hang();
    const first = client.upsert('one', { city: 'FIRST' });
    await connected;
    proxy.resume();
    expect([(await client.upsert('one', { city: 'SECOND' })).status, (await first).status]).toEqual([200, 503]);
    void proxy.hang();
    expect((await client.upsert('one', { city: 'THIRD' })).status).toBe(503);
    proxy.resume();
    expect(await client.attributes('one')).toEqual({ city: 'SECOND' });
  });

  test(`${name} ends the connections under load: requests in flight may get 503, no acknowledged write is lost`, async () => {
    const at = await place();
    const acknowledged = nobody();
    const { client, end } = await forkReference(environmentOf(at));
    const { friendsMore, stop } = await underLoad(client, acknowledged);
    for (let time = 0; time < 5; time++) {
      await friendsMore(20);
      expect(await endConnections(at)).toBeGreaterThan(0);
    }
    await friendsMore(20);
    const { lost, failed } = await stop();
    expect([lost, failed.filter((status) => status !== 503)]).toEqual([[], []]);
    expect(failed.length).toBeLessThanOrEqual(5 * CALLERS);
    await expectAll(client, acknowledged);
    expect(await end('SIGTERM')).toBe(0);
  });
}

test('SQLite: a backup made under load has every write acknowledged before it, and the service starts with it', async () => {
  const at = sqlitePlace();
  const acknowledged = nobody();
  const { client, end } = await forkReference(environmentOf(at));
  const { friendsMore, stop } = await underLoad(client, acknowledged);
  await friendsMore(200);
  const before = { friends: new Set(acknowledged.friends), active: new Set(acknowledged.active) };
  const { file } = JSON.parse((await client.backup()).text);
  expect(file).toMatch(new RegExp(`^${at.dataDir}/backups/reference-[\\d-]+T[\\d.-]+Z\\.db$`));
  expect(await stop()).toMatchObject({ lost: [], failed: [] });
  await end('SIGKILL');

  const restored = sqlitePlace();
  await copyFile(file, join(restored.dataDir, 'reference.db'));
  const again = await forkReference(environmentOf(restored));
  await expectAll(again.client, before);
  expect(await again.end('SIGTERM')).toBe(0);
});
