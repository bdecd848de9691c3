import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import pg from 'pg';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { type Client, clientOf } from './client.ts';
import { type ReferenceOptions, type RunningReference, startReference } from './kit.ts';

/** The location of a database of its own, as in the environment of the service. */
export interface Place {
  databaseUrl: string | undefined;
  dataDir: string;
  open(): Promise<Store>;
  /** Removes everything; the store must be closed. */
  remove(): Promise<void>;
}

const POSTGRES_URL = process.env['TEST_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/test';

/** Both kinds of store; SQLite alone, and a skipped test that says so, where no PostgreSQL is reachable. */
export const STORES: { name: string; place(): Promise<Place> }[] = [{ name: 'SQLite', place: sqlitePlace }];
if (await isReachable(POSTGRES_URL)) STORES.push({ name: 'PostgreSQL', place: postgresPlace });
else test.skip(`PostgreSQL: none is reachable at ${POSTGRES_URL} (TEST_DATABASE_URL)`, () => {});

/** PostgreSQL if it is reachable, else nothing: for loops, since `test.each` refuses an empty list. */
export const POSTGRES = STORES.filter(({ name }) => name === 'PostgreSQL');

/** A running service, and a client that calls it. */
export interface Service {
  reference: RunningReference;
  client: Client;
  place: Place;
}

/**
 * Describes the same behaviour over each kind of store, with one service for all tests in it. The service is there once
 * the tests run.
 */
export function onEachStore(
  name: string,
  define: (service: () => Service) => void,
  options: Omit<ReferenceOptions, 'store'> = {},
): void {
  describe.each(STORES)(`${name}, on $name`, ({ place }) => {
    let service: Service | undefined;
    beforeAll(async () => {
      const at = await place();
      const reference = await startReference({ ...options, store: await at.open() });
      service = { reference, client: clientOf(reference), place: at };
    });
    afterAll(async () => {
      await service?.reference.close();
      await service?.place.remove();
    });
    define(() => {
      if (!service) throw new Error('The service is there only while tests run');
      return service;
    });
  });
}

/** A file of its own. */
export async function sqlitePlace(): Promise<Place> {
  const dataDir = await mkdtemp(join(tmpdir(), 'reference-'));
  return {
    databaseUrl: undefined,
    dataDir,
    open: () => openStore({ databaseUrl: undefined, dataDir }, () => {}),
    remove: () => rm(dataDir, { recursive: true }),
  };
}

/** A database of its own, so that tests that run at the same time do not meet. */
async function postgresPlace(): Promise<Place> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await query(`create database ${name} template template0`);
  const url = new URL(POSTGRES_URL);
  url.pathname = `/${name}`;
  return {
    databaseUrl: url.href,
    dataDir: tmpdir(),
    open: () => openStore({ databaseUrl: url.href, dataDir: '' }, () => {}),
    remove: () => query(`drop database ${name} with (force)`),
  };
}

async function isReachable(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
}

async function query(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: POSTGRES_URL });
  await client.connect();
  await client.query(sql);
  await client.end();
}
