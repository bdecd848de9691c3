import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, test } from '@jest/globals';
import pg from 'pg';
import { atEnd, newFolder } from '../../../test/kit/at-end.ts';
import { createOperatorApp, createReferenceApp } from '../src/app.ts';
import { Key } from '../src/keys.ts';
import { loadProgramme, type Programme, type ProgrammeFile, programme } from '../src/programme/file.ts';
import type { Service } from '../src/routes/service.ts';
import { openStore } from '../src/store/open.ts';
import { type Client, clientOf, KEYS } from './client.ts';

interface Options extends Omit<Parameters<typeof createReferenceApp>[0], 'service'> {
  /** Where its data is. Default: a file of its own. */
  at?: Place | undefined;
  programme?: Programme;
  now?: () => number;
}

export type Reference = Awaited<ReturnType<typeof startReference>>;

/** The service in this process, on a free port of this machine. */
export async function startReference({ at = sqlitePlace(), programme, now = Date.now, ...options }: Options = {}) {
  const store = await at.open();
  let [url, operatorUrl] = ['', ''];
  const service: Service = {
    ...{ store, backupKeep: 2, now, publicUrl: () => url },
    programme: programme ?? loadProgramme(undefined),
    keys: { apiKey: new Key(KEYS.APIKey), secretKey: new Key(KEYS.secretKey) },
  };
  const app = createReferenceApp({ service, ...options });
  const operatorApp = createOperatorApp({ service });
  url = await app.listen({ host: '127.0.0.1', port: 0 });
  operatorUrl = await operatorApp.listen({ host: '127.0.0.1', port: 0 });
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= Promise.all([app.close(), operatorApp.close()]).then(store.close));
  atEnd(close);
  const client = clientOf(
    () => url,
    () => operatorUrl,
  );
  return { url, operatorUrl, app, service, store, at, client, close };
}

/** A programme with one generous group and no rewards, and what a test wants to be different. */
export function programmeWith(parts: Partial<ProgrammeFile>): Programme {
  const groups: ProgrammeFile['groups'] = [{ handle: 'any', title: 'Any', coupon: { type: 'custom' } }];
  const languages = ['en', 'de'];
  return programme.parse({ contact: 'email', actionEvent: 'place_order', languages, groups, rewards: [], ...parts });
}

export const CONTACT_HASH_KEY = 'contact-hash-key-of-the-tests-000';

/** The location of a database of its own, as in the environment of the service. */
export function placeOf(databaseUrl: string | undefined, dataDir: string) {
  return {
    databaseUrl,
    dataDir,
    open: () => openStore({ databaseUrl, dataDir, contactHashKey: CONTACT_HASH_KEY }, () => {}),
  };
}
export type Place = ReturnType<typeof placeOf>;

export const sqlitePlace = () => placeOf(undefined, newFolder());

const POSTGRES_URL = process.env['TEST_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/test';

async function postgresPlace(): Promise<Place> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await query(`create database ${name} template template0`);
  const { href } = new URL(`/${name}`, POSTGRES_URL);
  atEnd(() => query(`drop database ${name} with (force)`));
  return placeOf(href, tmpdir());
}

/** Both kinds of store; SQLite alone, and a skipped test that says so, where no PostgreSQL is reachable. */
export const STORES = [{ name: 'SQLite', place: async () => sqlitePlace() }];
const isReachable = await query('select 1').then(Boolean, () => false);
if (isReachable) STORES.push({ name: 'PostgreSQL', place: postgresPlace });
else test.skip(`PostgreSQL: none is reachable at ${POSTGRES_URL} (TEST_DATABASE_URL)`, () => {});

/** Describes the same behaviour over each kind of store, with one service for all tests in it, which runs when they do. */
export function onEachStore(
  name: string,
  define: (client: Client, service: () => Reference) => void,
  options: Omit<Options, 'at'> = {},
): void {
  describe.each(STORES)(`${name}, on $name`, ({ place }) => {
    let reference: Reference;
    beforeAll(async () => {
      reference = await startReference({ ...options, at: await place() });
    });
    define(
      clientOf(
        () => reference.url,
        () => reference.operatorUrl,
      ),
      () => reference,
    );
  });
}

/** Runs a statement on a connection of its own, to no database of a test. */
export async function query(sql: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: POSTGRES_URL, connectionTimeoutMillis: 2_000 });
  await client.connect();
  return client.query(sql).finally(() => client.end());
}

/** Ends the connections of a service to its database; returns how many there were. */
export async function endConnections({ databaseUrl }: Place): Promise<number> {
  const sessions = `pg_stat_activity where datname = '${databaseUrl?.split('/').at(-1)}'`;
  return (await query(`select pg_terminate_backend(pid) from ${sessions}`)).rowCount ?? 0;
}

/** Locks the row of a player until the returned function is called. */
export async function lockRow({ databaseUrl }: Place, playerUniqueId: string) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('begin');
  await client.query('select id from players where player_unique_id = $1 for update', [playerUniqueId]);
  return () => client.end();
}

/** Every row of every table with data of players. */
export function contentOf({ store }: Reference) {
  return store.read(async (queries) => ({
    players: await queries.selectFrom('players').selectAll().orderBy('id').execute(),
    events: await queries.selectFrom('events').selectAll().orderBy('id').execute(),
    contacts: await queries.selectFrom('contacts').selectAll().orderBy('id').execute(),
    coupons: await queries.selectFrom('coupons').selectAll().orderBy('id').execute(),
    referrals: await queries.selectFrom('referrals').selectAll().orderBy('friend_id').execute(),
    totals: await queries.selectFrom('totals').selectAll().orderBy('player_id').execute(),
    counted: await queries
      .selectFrom('counted_contacts')
      .selectAll()
      .where('counted_at', '>', 0)
      .orderBy('hash')
      .execute(),
  }));
}

/** The names of the personal values that any file of the folder holds. */
export async function found(folder: string, secrets: Record<string, string>): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const contents = await Promise.all(paths.map((path) => readFile(path, 'latin1')));
  return Object.entries(secrets).flatMap(([name, secret]) =>
    contents.flatMap((content, index) => (content.includes(secret) ? [`${name} in ${paths[index]}`] : [])),
  );
}
