import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { post } from './kit/gateway.ts';
import { startProcess } from './kit/process.ts';
import { startUpstream } from './kit/upstream.ts';

/*
 * V8 gives objects that are made alike one hidden class. Some ways of making an object give every object a class of its
 * own: a literal with a getter, a spread that is followed by more members, on Node 20. All code that reads such an object
 * becomes slow, and the classes fill the old generation: two of these once cost a third of all CPU time. No other test
 * would see it.
 */

/** What is loaded and compiled after the start makes classes too: as many requests go before, and are not looked at. */
const REQUESTS = 300;
/** None with a text in it: those are never compiled, and Apollo Server's own pipeline answers them. */
const OPERATIONS = [
  'query ($id: ID!) { player(playerUniqueId: $id) { id attributes { displayName email } } }',
  'query ($id: ID!) { player(playerUniqueId: $id) { id coupons { code } referredFriends(limit: 5) { total nodes { displayName } } } }',
  'query ($id: ID!) { player(playerUniqueId: $id) { referredFriendsConnection(first: 2) { nodes { displayName } } } }',
];

const directory = await mkdtemp(join(tmpdir(), 'hidden-classes-'));
const file = join(directory, 'maps.log');
const upstream = await startUpstream();
const spawned = performance.now();
const gateway = await startProcess(
  { REST_BASE_URL: upstream.url, MAX_OPERATIONS_PER_SECOND: '100000', MAX_COUPON_READS_PER_SECOND: '100000' },
  ['--log-maps', '--no-log-maps-details', `--logfile=${file}`, '--no-logfile-per-isolate'],
);
afterAll(async () => {
  await gateway.kill();
  await upstream.close();
  await rm(directory, { recursive: true });
});

async function send(requests: number): Promise<void> {
  for (let sent = 0; sent < requests; sent += 1) {
    const query = OPERATIONS[sent % OPERATIONS.length];
    const { errors } = await post(gateway.url, { query, variables: { id: `p${sent}` } });
    expect(errors).toEqual([]);
  }
}

test('no request makes hidden classes', async () => {
  await send(REQUESTS);
  // In microseconds of the process, as its log has them.
  const from = (performance.now() - spawned) * 1_000;
  await send(REQUESTS);
  gateway.child.kill('SIGTERM');
  await gateway.ended;

  const log = await readFile(file, 'utf8');
  expect(log).toMatch(/^map,Transition,\d+,/m);
  const made = new Map<string, number>();
  for (const line of log.split('\n')) {
    const [kind, how, time, , , , row, column, , name] = line.split(',');
    if (kind !== 'map' || how !== 'Transition' || Number(time) < from) continue;
    const place = `${name}, at ${row}:${column} of its file`;
    made.set(place, (made.get(place) ?? 0) + 1);
  }
  expect([...made].filter(([, times]) => times >= REQUESTS / OPERATIONS.length / 2)).toEqual([]);
}, 60_000);
