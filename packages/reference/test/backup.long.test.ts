import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { newFile, newFolder } from '../../../test/kit/at-end.ts';
import { keyedHash } from '../src/store/contact-key.ts';
import type { Client } from './client.ts';
import { contentOf, type Place, STORES, sqlitePlace, startReference } from './kit.ts';
import { environmentOf, runCommand } from './process.ts';

/* What the README says about backups and exports, done as it is written there. */

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

/** The commands of a section, with their files in a folder: the first block, in a list or indented. */
function commandsOf(heading: string, folder: string): string {
  const section = README.split(`\n### ${heading}\n`)[1] ?? '';
  const [, inList, indented = ''] = /\n\n(?: {3}```sh\n([\s\S]*?) {3}```|((?: {4}.*\n)+))/.exec(section) ?? [];
  return (inList ?? indented).replace(/reference\.(dump|jsonl)/g, (name) => join(folder, name));
}

/** A player with all that a player can have, friends in both states, and one who was deleted. */
async function fill(client: Client): Promise<void> {
  await client.upsert('host', {
    displayName: 'Zoë "🎈" \\\\ \'x\'',
    tags: 'a,b',
    custom: { size: 42.5, no: 9007199254740991 },
  });
  for (const id of ['pending', 'active', 'gone']) {
    await client.leave('host', `${id}@shop.example`);
    await client.upsert(id, { email: `${id}@shop.example` }, { deviceToken: 'd', osType: 'ios' });
  }
  await client.leave('host', 'waiting@shop.example');
  await client.upsert('pending', { email: 'pending-2@shop.example' });
  await client.track('active', { place_order: { amount: 12.5, items: ['a', 1] } });
  await client.remove('gone');
  for (let number = 0; number < 1_100; number++) await client.track('host', { [`event ${number}`]: {} });
}

/** The service goes on as if it were the same one. */
async function expectSame(at: Place, before: Awaited<ReturnType<typeof contentOf>>, link: string): Promise<void> {
  const reference = await startReference({ at });
  const { client } = reference;
  expect(await contentOf(reference)).toEqual(before);
  expect(await client.linkOf('host')).toBe(link);
  // Ids and hashes go on too: nobody who was there counts again, and a new friend does.
  for (const id of ['gone', 'new']) {
    await client.leave('host', `${id}@shop.example`);
    expect((await client.upsert(id, { email: `${id}@shop.example` })).status).toBe(200);
  }
  expect((await client.referrals('host')).body).toMatchObject({ total: 3, totalPending: 2, totalActive: 1 });
  expect((await client.coupons('new')).body.coupons).toHaveLength(1);
  await reference.close();
}

for (const { name, place } of STORES.slice(1)) {
  test(`${name}: the commands of the README dump the database while it is used, restore and check it`, async () => {
    const [from, to] = [await place(), await place()];
    const reference = await startReference({ at: from });
    await fill(reference.client);
    const [before, link] = [await contentOf(reference), await reference.client.linkOf('host')];
    const env = { ...environmentOf(from), NEW_DATABASE_URL: to.databaseUrl };
    const printed = execFileSync('sh', ['-ec', commandsOf('Backup of PostgreSQL', newFolder())], {
      env,
      encoding: 'utf8',
    });
    expect(JSON.parse(printed)).toMatchObject({ players: 3, referrals: 2, due: [] });
    await expectSame(to, before, link);
    // A database where the service had started is refused, whatever was restored into it.
    const used = await place();
    await (await used.open()).close();
    const again = () =>
      execFileSync('sh', ['-ec', commandsOf('Backup of PostgreSQL', newFolder())], {
        env: { ...env, NEW_DATABASE_URL: used.databaseUrl },
        stdio: 'ignore',
      });
    expect(again).toThrow();
  });
}

test('SQLite: the commands of the README put a backup in the place of a database that was changed later', async () => {
  const at = sqlitePlace();
  const first = await startReference({ at });
  await fill(first.client);
  const [before, link] = [await contentOf(first), await first.client.linkOf('host')];
  const { file } = JSON.parse((await first.client.backup()).text);
  await first.client.remove('host');
  await first.close();
  const env = { ...environmentOf(at), BACKUP: file };
  const printed = execFileSync('sh', ['-ec', commandsOf('Backup of SQLite', at.dataDir)], { env, encoding: 'utf8' });
  expect(JSON.parse(printed)).toMatchObject({ database: file, players: 3, referrals: 2, due: [] });
  await expectSame(at, before, link);
});

const pairs = STORES.flatMap((from) => STORES.map((to) => ({ from, to, name: `${from.name} to ${to.name}` })));
test.each(pairs)('all data goes from $name by export and import', async ({ from, to }) => {
  const [source, target] = [await from.place(), await to.place()];
  const reference = await startReference({ at: source });
  await fill(reference.client);
  const [before, link] = [await contentOf(reference), await reference.client.linkOf('host')];
  await reference.close();
  const [exported, imported] = commandsOf('Export and import', newFolder()).trim().split('\n');
  const run = (command = '', { databaseUrl, ...more }: Partial<Place>) => {
    const env = { ...environmentOf({ ...source, ...more, databaseUrl }), NEW_DATABASE_URL: databaseUrl ?? '' };
    return execFileSync('sh', ['-ec', command], { env, encoding: 'utf8' });
  };
  run(exported, source);
  expect(JSON.parse(run(imported, target))).toMatchObject({ players: 3, coupons: 4, referrals: 2, events: 1101 });
  await expectSame(target, before, link);
  expect(() => run(imported, target)).toThrow('The database has players. Import into an empty one.');
});

/** Imports these lines, as an operator does. */
const importInto = (at: Place, content: string[], more: NodeJS.ProcessEnv = {}) => {
  const command = `exec "${process.execPath}" dist/reference/main.js import < "${newFile('lines', content.join('\n'))}"`;
  const env = { ...environmentOf(at), ...more };
  return execFileSync('sh', ['-ec', command], { env, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' });
};

/** Mia referred Noah. Ole, whose contact has counted too, was deleted. The hash has no key of the configuration yet. */
const OF_THE_FIRST_VERSION = {
  service_state: [{ name: 'contact-hash-key', value: 'inner-key' }],
  players: ['mia', 'noah'].map((name, at) => ({
    ...{ id: 7 + at, player_unique_id: name, service_id: `service-${name}`, referral_code: `Code-${name}` },
    ...{ created_at: 1_700_000_000_000, device_token: null, os_type: null, display_name: name },
    ...{ email: `${name}@shop.example`, mobile: null, join_date: null, more_attributes: null },
  })),
  totals: [{ player_id: 7, pending_friends: 1, active_friends: 0, last_position: 4 }],
  counted_contacts: ['noah', 'ole'].map((name) => ({
    ...{ hash: keyedHash('inner-key', `email:${name}@shop.example`), counted_at: 1_700_000_000_000 },
  })),
  referrals: [{ friend_id: 8, referrer_id: 7, status: 'pending', position: 4, referred_at: 1_700_000_000_000 }],
  coupons: [
    {
      ...{ id: 3, code: 'THANKS-MIA', player_id: 7, group_handle: 'a group of then', created_at: 1_700_000_000_000 },
      ...{ start_at: null, end_at: null, usage_limit: 2, uses: 1 },
      definition: JSON.stringify({ handle: 'a group of then', title: 'Then', coupon: { type: 'custom' } }),
    },
  ],
};

test.each(STORES)(
  '$name: an export of the first version is imported, and one of a later version refused',
  async ({ place }) => {
    const rows = Object.entries(OF_THE_FIRST_VERSION).flatMap(([table, list]) =>
      list.map((row: object) => JSON.stringify({ table, row })),
    );
    const linesOf = (version: string) => [JSON.stringify({ version }), ...rows, JSON.stringify({ end: rows.length })];
    const at = await place();
    expect(() => importInto(at, linesOf('0099-later'))).toThrow(
      /Line 1 cannot be imported: it is of the version 0099-later, and this service knows those up to 0/,
    );
    expect(JSON.parse(importInto(at, linesOf('0001-tables')))).toMatchObject({ players: 2, coupons: 1, referrals: 1 });
    const { client } = await startReference({ at });
    expect(await client.linkOf('mia')).toBe('/r/Code-mia');
    expect((await client.coupons('mia')).body.coupons).toMatchObject([{ code: 'THANKS-MIA' }]);
    // Ole does not count again; Pia does.
    for (const id of ['ole', 'pia']) {
      await client.leave('mia', `${id}@shop.example`);
      expect((await client.upsert(id, { email: `${id}@shop.example` })).status).toBe(200);
    }
    expect((await client.referrals('mia')).body).toMatchObject({ total: 2, totalPending: 2 });
  },
);

test.each(STORES)('$name: lines that cannot be imported leave the database empty', async ({ place }) => {
  const reference = await startReference({ at: await place() });
  await fill(reference.client);
  await reference.close();
  const { stdout } = await runCommand(environmentOf(reference.at), 'export');
  const lines = stdout.trimEnd().split('\n');
  const at = await place();
  const run =
    (content: string[], more: NodeJS.ProcessEnv = {}) =>
    () =>
      importInto(at, content, more);
  expect(run(lines.slice(1))).toThrow('Line 1 cannot be imported: it is of the version undefined');
  expect(run([...lines, '{'])).toThrow(`Line ${lines.length + 1} cannot be imported`);
  expect(run([...lines.slice(0, -1), '{"table":"form_counts","row":{}}'])).toThrow('it has no row of a table');
  const keyless = lines.filter((line) => !line.includes('service_state'));
  const end = JSON.stringify({ end: keyless.length - 2 });
  expect(run([...keyless.slice(0, -1), end])).toThrow('The database has no key for contact hashes');
  for (const cut of [lines.slice(0, -1), lines.slice(0, lines.length / 2), lines.slice(0, 1), []]) {
    expect(run(cut)).toThrow('The export is not complete: its last line is missing');
  }
  expect(run(lines.filter((line) => !line.includes('"table":"coupons"')))).toThrow(/it counts \d+ rows, and \d+ came/);
  expect(run([...lines, lines[1] ?? ''])).toThrow('it follows the end');
  expect(run(lines)()).toBeDefined();
  const other = { DATABASE_URL: (await place()).databaseUrl, DATA_DIR: newFolder() };
  expect(run(lines, { ...other, CONTACT_HASH_KEY: 'another-key-of-at-least-32-characters' })).toThrow(
    'CONTACT_HASH_KEY is not the key',
  );
});
