import { afterEach, expect, test } from '@jest/globals';
import type { Client, Reply } from './client.ts';
import { environmentOf, forkReference, killLeftovers } from './process.ts';
import { type Place, STORES } from './stores.ts';

const KILLS = 20;
const WRITERS = 8;
const PLAYERS = 20;

/** What the service has acknowledged over all its lives. */
interface Acknowledged {
  /** The custom members of each player. */
  custom: Map<string, Record<string, number>>;
  /** The friends that signed up, and those who placed an order. */
  friends: Set<string>;
  active: Set<string>;
}

afterEach(killLeftovers);

test.each(STORES)(
  `$name keeps every acknowledged write through ${KILLS} kills`,
  async ({ place }) => {
    const at = await place();
    await survivesKills(at);
    await at.remove();
  },
  120_000,
);

/**
 * Kills the service at different moments while it acknowledges writes, starts it again, and looks for every write that was
 * ever acknowledged. What was not acknowledged may be there or not, but never half.
 */
async function survivesKills(place: Place): Promise<void> {
  const acknowledged: Acknowledged = { custom: new Map(), friends: new Set(), active: new Set() };
  let serial = 0;
  for (let kill = 0; kill <= KILLS; kill++) {
    const service = await forkReference(environmentOf(place));
    await service.client.upsert('host');
    await expectAll(service.client, acknowledged);
    if (kill === KILLS) {
      expect(await service.end('SIGTERM')).toBe(0);
      return;
    }
    let writesLeft = 5 + ((kill * 37) % 60);
    let ended: Promise<unknown> | undefined;
    const write = async (writer: number) => {
      while (!ended) {
        await (writer % 2 ? update : befriend)(service.client, acknowledged, ++serial).catch(refusedConnection);
        if (--writesLeft <= 0) ended ??= service.end('SIGKILL');
      }
    };
    await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
    expect(await ended).toBe('SIGKILL');
  }
}

async function update(client: Client, { custom }: Acknowledged, serial: number): Promise<void> {
  const id = `player ${serial % PLAYERS}`;
  accepted(await client.upsert(id, { custom: { [`write${serial}`]: serial } }));
  custom.set(id, { ...custom.get(id), [`write${serial}`]: serial });
}

async function befriend(client: Client, { friends, active }: Acknowledged, serial: number): Promise<void> {
  const id = `friend ${serial}`;
  accepted(await client.leave('host', `friend${serial}@example.com`));
  accepted(await client.upsert(id, { email: `friend${serial}@example.com` }));
  friends.add(id);
  accepted(await client.track(id, { place_order: {} }));
  active.add(id);
}

async function expectAll(client: Client, { custom, friends, active }: Acknowledged): Promise<void> {
  for (const [id, members] of custom) {
    expect((await client.player(id)).body.playerAttributes.custom).toMatchObject(members);
  }
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
