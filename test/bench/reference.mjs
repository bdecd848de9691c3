/*
 * Measures the reference service at the sizes that it must hold, over HTTP and in a process of its own, and shows how
 * its queries find their rows. Run it with `npm run bench:reference`; it needs a build.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import Database from 'libsql';
import { request } from 'undici';
import { seedReference } from './seed-reference.mjs';
import { source } from './source.mjs';

const { DEFAULT_PROGRAMME } = await source('reference/programme/load.ts');
const { saveGroup } = await source('reference/store/coupons.ts');
const { loadReferenceConfig } = await source('reference/config.ts');
const { openStore } = await source('reference/store/open.ts');

const MAIN = fileURLToPath(new URL('../../dist/reference/main.js', import.meta.url));
const KEYS = { APIKey: 'bench-api-key', secretKey: 'bench-secret-key' };
/** Calls of each case; the first ones warm up and are not counted. */
const CALLS = 420;
const WARM_UP = 20;

/** Measures a store (default: a new libsql file) and returns the figures; `print` gets a line at a time. */
export async function benchReference({ databaseUrl, print = console.log } = {}) {
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-'));
  const store = await openStore({ ...loadReferenceConfig({}), databaseUrl, dataDir });
  const began = performance.now();
  await store.write(async (queries) => {
    for (const group of DEFAULT_PROGRAMME.groups)
      await saveGroup(queries, group.handle, JSON.stringify({ active: true, ...group }));
  });
  await seedReference(store);
  print(
    `reference service on ${databaseUrl ? 'PostgreSQL' : 'libsql'}, seeded in ${Math.round(performance.now() - began)} ms`,
  );
  await store.close();
  if (!databaseUrl) for (const line of queryPlans(join(dataDir, 'reference.db'))) print(line);

  const service = await startService({ dataDir, databaseUrl });
  const figures = {};
  for (const [name, limit, call] of cases(service.url)) {
    const cpuBefore = cpuMs(service.child.pid);
    const { median, p99 } = await measure(call);
    const cpu = (cpuMs(service.child.pid) - cpuBefore) / CALLS;
    figures[name] = median;
    print(
      `  ${name.padEnd(40)} ${median.toFixed(2).padStart(7)} ms median ${p99.toFixed(2).padStart(7)} ms p99 ${cpu.toFixed(2).padStart(6)} ms CPU   ${limit}`,
    );
  }
  figures['memory'] = residentMb(service.child.pid);
  print(
    `  ${'memory of the process'.padEnd(40)} ${String(figures['memory']).padStart(7)} MB resident   at most 200 MB`,
  );
  const gone = once(service.child, 'exit');
  service.child.kill('SIGTERM');
  await gone;
  await rm(dataDir, { recursive: true });
  return figures;
}

/** What is measured: a name, the most that is allowed, and the call by its round. */
function cases(url) {
  const base = `${url}/api/v3.0/integrations`;
  const get = (path) => () => request(`${base}${path}`, { headers: KEYS });
  const post = (path, body) => (round) =>
    request(`${base}${path}`, {
      method: 'POST',
      headers: { ...KEYS, 'content-type': 'application/json' },
      body: JSON.stringify(body(round)),
    });
  return [
    ['a player', 'at most 1 ms', (round) => get(`/player/player-${round * 13}`)()],
    [
      'an upsert of a known player',
      'at most 2 ms',
      post('/player', (round) => ({
        playerUniqueId: `player-${round * 17}`,
        playerAttributes: { city: `City ${round}` },
      })),
    ],
    [
      'an upsert of a new player',
      'at most 2 ms',
      post('/player', (round) => ({
        playerUniqueId: `new-${round}`,
        playerAttributes: { email: `new-${round}@example.com` },
      })),
    ],
    [
      'an event',
      '',
      post('/event', (round) => ({ playerUniqueId: `player-${round * 19}`, events: { visit: { page: '/' } } })),
    ],
    ['page 1 of 100,000 friends, limit 200', 'at most 10 ms', get('/players/big-referrer/referrals?page=1&limit=200')],
    [
      'page 250 of 100,000 friends, limit 200',
      'at most 10 ms',
      get('/players/big-referrer/referrals?page=250&limit=200'),
    ],
    [
      'page 500 of 100,000 friends, limit 200',
      'at most 10 ms',
      get('/players/big-referrer/referrals?page=500&limit=200'),
    ],
    ['2,000 coupons of one player', '', get('/transactions/big-collector/coupon')],
  ];
}

/** Makes calls one after the other and returns the median and the 99th percentile, in milliseconds. */
async function measure(call) {
  const times = [];
  for (let round = 0; round < CALLS; round++) {
    const began = performance.now();
    const response = await call(round);
    await response.body.arrayBuffer();
    if (response.statusCode !== 200) throw new Error(`The service answered ${response.statusCode}`);
    if (round >= WARM_UP) times.push(performance.now() - began);
  }
  times.sort((one, other) => one - other);
  return { median: times[Math.floor(times.length / 2)], p99: times[Math.floor(times.length * 0.99)] };
}

async function startService({ dataDir, databaseUrl }) {
  const env = {
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    REFERENCE_PORT: '0',
    DATA_DIR: dataDir,
    ...(databaseUrl && { DATABASE_URL: databaseUrl }),
    REST_API_KEY: KEYS.APIKey,
    REST_SECRET_KEY: KEYS.secretKey,
  };
  const child = fork(MAIN, [], { env });
  const [{ url }] = await once(child, 'message');
  return { child, url };
}

/** CPU time of a process so far, in ticks of 10 ms. Unlike the latency, it does not depend on other programs. */
function cpuMs(pid) {
  try {
    const [utime, stime] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ').slice(11, 13);
    return (Number(utime) + Number(stime)) * 10;
  } catch {
    return Number.NaN;
  }
}

function residentMb(pid) {
  try {
    const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Math.round(Number(kilobytes) / 1024);
  } catch {
    // Only Linux tells this without a tool.
    return Number.NaN;
  }
}

/** How SQLite finds the rows of each query that grows with the data; a SCAN of a table would be a lost index. */
function queryPlans(path) {
  const database = new Database(path);
  const lines = QUERIES.map(([name, sql]) => {
    const steps = database.prepare(`explain query plan ${sql}`).all();
    return `  plan of ${name}: ${steps.map(({ detail }) => detail).join('; ')}`;
  });
  database.close();
  return lines;
}

const QUERIES = [
  ['a player', "select * from players where player_unique_id = 'x'"],
  ['a referral link', "select * from players where referral_code = 'x'"],
  [
    'a page of friends',
    `select players.player_unique_id, players.attributes, players.created_at, referrals.status
     from (select friend_id, referred_at from referrals where referrer_id = 1 order by referred_at, friend_id limit 200 offset 99800) as stretch
     inner join referrals on referrals.friend_id = stretch.friend_id
     inner join players on players.id = stretch.friend_id
     order by stretch.referred_at, stretch.friend_id`,
  ],
  [
    'a contact',
    "select id from contacts where kind = 'email' and value = 'x' and referrer_id != 1 order by id limit 1",
  ],
  ['a player’s coupons', 'select * from coupons where player_id = 1 order by id'],
  ['a coupon', "select * from coupons where code = 'x'"],
];

if (process.argv[1] === fileURLToPath(import.meta.url)) await benchReference();
