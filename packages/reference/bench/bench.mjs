/*
 * Measures the service at the sizes that it must hold, over HTTP and in a process of its own, on SQLite and, with
 * DATABASE_URL (a server where databases may be created), on PostgreSQL. Run it with `npm run bench:reference`; sizes can
 * be given as arguments. Exits with 1 if a median grows by more than 2 × from the first size to the last.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { plansOf, statementsOf } from './plans.mjs';
import { COLLECTORS, seed } from './seed.mjs';
import { source } from './source.mjs';

const { openStore } = await source('store/open.ts');
const { findPlayer } = await source('store/players.ts');
const { listFriends, readTotals } = await source('store/referrals.ts');
const { listCoupons } = await source('store/coupons.ts');

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const KEYS = { APIKey: 'bench-api-key', secretKey: 'bench-secret-key' };
const SIZES = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1_000, 100_000, 1_000_000];
/** Of the hashes of contacts, as in production. */
const CONTACT_HASH_KEY = 'a-key-of-the-benchmark-0123456789';
/** Calls of each case; the first ones warm up and are not counted. */
const CALLS = 520;
const WARM_UP = 120;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** The most that the last median may be of the first. */
const MOST_GROWTH = 2;

function cases(url, players) {
  const base = `${url}/api/v3.0/integrations`;
  // Players all over the table, not the ones that were read before.
  const some = (round) => `player-${(round * 7_919 + 13) % players}`;
  const get = (path) => (round) => send('GET', `${base}${path(round)}`);
  const post = (path, body) => (round) => send('POST', `${base}${path}`, body(round));
  return {
    upsert: post('/player', (round) => ({ playerUniqueId: some(round), playerAttributes: { city: `City ${round}` } })),
    event: post('/event', (round) => ({ playerUniqueId: some(round), events: { visit: { page: '/' } } })),
    player: get((round) => `/player/${some(round)}`),
    coupons: get((round) => `/transactions/player-${(round * 7) % COLLECTORS}/coupon`),
    'page 1': get(() => '/players/referrer0/referrals?page=1&limit=200'),
    'page 500': get(() => '/players/referrer0/referrals?page=500&limit=200'),
  };
}

async function send(method, url, body) {
  const headers = { ...KEYS, ...(body && { 'content-type': 'application/json' }) };
  const sent = request(url, { method, headers, agent }).end(body && JSON.stringify(body));
  const [response] = await once(sent, 'response');
  response.resume();
  await once(response, 'end');
  if (response.statusCode !== 200) throw new Error(`The service answered ${response.statusCode} to ${method} ${url}`);
}

/** Makes calls one after the other and returns the median, in milliseconds. */
async function median(call) {
  const times = [];
  for (let round = 0; round < CALLS; round++) {
    const began = performance.now();
    await call(round);
    if (round >= WARM_UP) times.push(performance.now() - began);
  }
  return times.sort((one, other) => one - other)[Math.floor(times.length / 2)];
}

/** The medians of each case on a new store of this size. */
async function measure(players, databaseUrl) {
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-'));
  const store = await openStore({ databaseUrl, dataDir, contactHashKey: CONTACT_HASH_KEY }, () => {});
  await seed(store, players);
  const statements = await reads(store);
  await store.close();
  if (databaseUrl === undefined && players === SIZES[0]) {
    for (const plan of plansOf(join(dataDir, 'reference.db'), statements)) console.log(`  plan: ${plan}`);
  }
  if (databaseUrl) await query(databaseUrl, 'vacuum analyze');
  const env = {
    ...{ PATH: process.env.PATH, NODE_ENV: 'production', PUBLIC_URL: 'http://127.0.0.1', REFERENCE_PORT: '0' },
    ...{ DATA_DIR: dataDir, REST_API_KEY: KEYS.APIKey, REST_SECRET_KEY: KEYS.secretKey, CONTACT_HASH_KEY },
    ...(databaseUrl && { DATABASE_URL: databaseUrl }),
  };
  const child = fork(MAIN, [], { env });
  const gone = once(child, 'exit');
  const [{ url }] = await once(child, 'message');
  const medians = {};
  for (const [name, call] of Object.entries(cases(url, players))) medians[name] = await median(call);
  child.kill('SIGTERM');
  await gone;
  await rm(dataDir, { recursive: true });
  return medians;
}

/** The statements of the reads. */
function reads(store) {
  return statementsOf(store, async (queries) => {
    const { id } = await findPlayer(queries, 'referrer0');
    await readTotals(queries, id);
    await listFriends(queries, id, 99_800, 200);
    await listCoupons(queries, id);
  });
}

async function query(connectionString, text) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(text);
  await client.end();
}

/** Prints a table of medians in milliseconds; returns whether none grew too much. */
async function bench(name, withDatabase) {
  console.log(`${name}: median in ms of ${CALLS - WARM_UP} calls, by number of players`);
  const columns = [];
  for (const players of SIZES) columns.push(await withDatabase((databaseUrl) => measure(players, databaseUrl)));
  console.log(
    `  ${'call'.padEnd(10)}${SIZES.map((size) => size.toLocaleString('en').padStart(12)).join('')}      growth`,
  );
  let isFlat = true;
  for (const call of Object.keys(columns[0])) {
    const growth = columns.at(-1)[call] / columns[0][call];
    if (growth > MOST_GROWTH) isFlat = false;
    const figures = columns.map((medians) => medians[call].toFixed(2).padStart(12)).join('');
    console.log(`  ${call.padEnd(10)}${figures}${growth.toFixed(2).padStart(10)} ×`);
  }
  return isFlat;
}

async function withPostgres(run) {
  const server = new URL(process.env.DATABASE_URL);
  const name = `bench_${process.pid}`;
  await query(server.href, `create database ${name}`);
  const database = new URL(server);
  database.pathname = `/${name}`;
  try {
    return await run(database.href);
  } finally {
    await query(server.href, `drop database ${name} with (force)`);
  }
}

const results = [await bench('SQLite', (run) => run(undefined))];
if (process.env.DATABASE_URL) results.push(await bench('PostgreSQL', withPostgres));
else console.log('PostgreSQL: not measured; set DATABASE_URL');
if (results.includes(false)) {
  console.log(`A median grew by more than ${MOST_GROWTH} ×`);
  process.exit(1);
}
