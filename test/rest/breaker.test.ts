import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from '@jest/globals';
import type { UpstreamErrorCode } from '../../src/errors.ts';
import { Breaker, createBreakers } from '../../src/rest/breaker.ts';
import type { RestClient } from '../../src/rest/client.ts';
import { resultOf } from '../../src/rest/response.ts';
import { UpstreamError } from '../../src/rest/upstream-error.ts';
import { atEnd } from '../kit/at-end.ts';
import type { Answer, EndpointName } from '../kit/upstream.ts';
import { bound, CALLS, failure, operation, read, server, startWithClock, track } from './setup.ts';

/** Events of this many players, one after the other, which are not retried. */
async function fail(rest: RestClient, players = 10): Promise<void> {
  for (let player = 0; player < players; player += 1) await failure(track(rest, `failing-${player}`));
}

/** A client whose breaker is open. */
async function startOpen() {
  const started = await startWithClock();
  started.upstream.on('POST /event', failed);
  await fail(started.rest);
  started.upstream.on('POST /event', 'usual');
  started.upstream.forget();
  return started;
}

const failed = { status: 500 };
const rejected = { code: 'UPSTREAM_UNAVAILABLE', retryable: true, status: undefined };

test.each<[string, Answer | undefined, opens: boolean]>([
  ['5xx', { status: 503 }, true],
  ['lost connections', { fault: 'reset' }, true],
  ['timeouts', { fault: 'hang' }, true],
  ['refused connections', undefined, true],
  ['429s', { status: 429 }, false],
  ['bodies over the limit', { fault: 'flood' }, false],
])('%s of ten players: %j opens it: %j', async (_behaviour, answer, opens) => {
  const { upstream, rest, seen } = await startWithClock({ timeoutMs: answer?.fault === 'hang' ? 30 : 3_000 });
  if (answer) upstream.on('POST /event', answer);
  else await upstream.stop();
  await fail(rest, 9);
  expect(seen.breaker).toEqual([]);
  await fail(rest, 10);
  expect(seen.breaker).toEqual(opens ? ['open'] : []);
  upstream.forget();
  if (opens) expect(await failure(track(rest))).toEqual({ ...rejected, retryAfterMs: 1_000, outcome: 'NOT_DONE' });
  if (opens) expect(upstream.calls()).toEqual([]);
});

test('it opens after failures of twenty players in a row, though the service was well until then', async () => {
  const { upstream, rest, seen } = await startWithClock();
  await Promise.all(Array.from({ length: 100 }, () => track(rest)));
  upstream.on('POST /event', failed);
  await fail(rest, 30);
  expect(seen.breaker).toEqual(['open']);
  expect(upstream.calls()).toHaveLength(120);
});

test.each<[successes: number, failing: number, states: string[]]>([
  [10, 10, []],
  [10, 11, ['open']],
])('after %i successes and failures of %i players: %j', async (successes, failing, states) => {
  const { upstream, rest, seen } = await startWithClock();
  await Promise.all(Array.from({ length: successes }, () => track(rest)));
  upstream.on('POST /event', failed);
  await fail(rest, failing);
  expect(seen.breaker).toEqual(states);
});

test('a success between the failures of twenty players keeps it closed', async () => {
  const { upstream, rest, seen } = await startWithClock();
  await Promise.all(Array.from({ length: 100 }, () => track(rest)));
  upstream.on('POST /event', failed);
  await fail(rest, 19);
  upstream.on('POST /event', 'usual');
  await track(rest);
  upstream.on('POST /event', failed);
  await failure(track(rest, 'the-twentieth'));
  expect(seen.breaker).toEqual([]);
});

test('it stays closed after failures of one player, or of nine in ten seconds', async () => {
  const { upstream, rest, seen, clock } = await startWithClock();
  clock.ms = 1;
  upstream.on('POST /event', failed);
  for (let call = 0; call < 50; call += 1) await failure(track(rest));
  await fail(rest, 8);
  clock.ms += 10_000;
  await failure(track(rest, 'another'));
  // One player's in each of twenty windows is still one player's.
  for (let window = 0; window < 20; window += 1) {
    clock.ms += 10_001;
    await failure(track(rest));
  }
  expect(seen.breaker).toEqual([]);
});

test.each<[failing: EndpointName, answer: Answer]>([
  ['GET /coupon', failed],
  ['POST /event', failed],
  ['GET /referrals', { fault: 'reset' }],
  ['GET /player', failed],
  ['POST /player', failed],
  ['DELETE /player', failed],
])('failures of %s alone (%j) open its own breaker, and use no retry of another endpoint', async (failing, answer) => {
  const { upstream, rest, seen } = await startWithClock();
  upstream.on(failing, answer);
  for (let player = 0; player < 30; player += 1) await failure(CALLS[failing](rest, `p${player}`));
  const open = [...rest.health().breakers].filter(([, state]) => state !== 'closed');
  expect([open.length, seen.breaker]).toEqual([1, ['open']]);
  upstream.forget();
  const others = Object.entries(CALLS).filter(([name]) => name !== failing);
  for (const [name, call] of others) {
    // Those that may be sent again are, once each.
    if (name.startsWith('GET')) upstream.on(name as EndpointName, failed, 'usual');
    await call(rest);
  }
  expect(upstream.calls()).toHaveLength(5 + others.filter(([name]) => name.startsWith('GET')).length);
});

test('a server whose calls fail for every player has a breaker of its own: those of others go on, in every language', async () => {
  const { upstream, rest, seen } = await startWithClock();
  const readFor = (job: string | undefined, id: string, lang?: string) =>
    rest.getPlayer(id, lang, operation({ caller: job ? server(job) : bound(id) }));
  upstream.on('GET /player', ({ path }) => (path.includes('failing') ? failed : 'usual'));
  for (let player = 0; player < 25; player += 1) await failure(readFor('job', `failing-${player}`));
  expect(seen.breaker).toEqual(['open']);
  expect(await failure(readFor('job', 'p1'))).toMatchObject(rejected);
  expect(await failure(readFor('job', 'p1', 'fr'))).toMatchObject(rejected);
  for (const lang of [undefined, 'fr']) {
    expect(await readFor('shop', 'p1', lang)).toMatchObject({ playerUniqueId: 'p1' });
    expect(await readFor(undefined, 'p1', lang)).toMatchObject({ playerUniqueId: 'p1' });
  }
});

test('a language in which every read fails has a breaker of its own: reads in others go on', async () => {
  const { upstream, rest, seen, clock } = await startWithClock();
  const readIn = (lang: string | undefined, id: string) => rest.getPlayer(id, lang, operation({ caller: bound(id) }));
  const states = () => [...rest.health().breakers.values()].filter((state) => state !== 'closed');
  upstream.on('GET /player', ({ headers }) => (headers['lang'] === 'nl' ? failed : 'usual'));
  for (let player = 0; player < 25; player += 1) await failure(readIn('nl', `p${player}`));
  expect([seen.breaker, states()]).toEqual([['open'], ['open']]);
  for (const lang of [undefined, 'fr']) {
    const players = await Promise.all(Array.from({ length: 30 }, (_, player) => readIn(lang, `p${player}`)));
    expect(players.filter(Boolean)).toHaveLength(30);
  }
  upstream.on('GET /player', 'usual');
  expect(await failure(readIn('nl', 'p1'))).toMatchObject(rejected);
  clock.ms += 1_000;
  await readIn('nl', 'p1');
  expect(states()).toEqual([]);
});

test('while the default language fails, reads in languages that nobody asked for begin with one trial each', async () => {
  const { upstream, rest, clock } = await startWithClock();
  const readIn = (lang: string | undefined, id: string) => rest.getPlayer(id, lang, operation({ caller: bound(id) }));
  upstream.on('GET /player', failed);
  for (let player = 0; player < 15; player += 1) await failure(readIn(undefined, `p${player}`));
  upstream.forget();
  for (let one = 10; one < 40; one += 1) expect(await failure(readIn(`x${one}`, `p${one}`))).toMatchObject(rejected);
  expect(upstream.calls()).toEqual([]);
  // Only the default language fails: the trial in another one ends its wait.
  upstream.on('GET /player', ({ headers }) => (headers['lang'] === undefined ? failed : 'usual'));
  clock.ms += 1_000;
  for (const id of ['p1', 'p2', 'p3']) expect(await readIn('x39', id)).toMatchObject({ playerUniqueId: id });
});

test.each([
  ['clients that go away', 10_000, 10_000, []],
  ['operations that end after less than half of the timeout', 10_000, 900, []],
  ['operations that end after more than half of it', 3_000, 2_900, ['open']],
])('%s, of %i ms after %i ms: %j', async (what, timeoutMs, inMs, states) => {
  const { upstream, rest, seen } = await startWithClock({ timeoutMs });
  upstream.on('GET /player', { fault: 'hang' });
  const op = operation({ inMs });
  const calls = Array.from({ length: 10 }, (_, index) => failure(read(rest, `p${index}`, op)));
  if (what === 'clients that go away') await upstream.received(10).then(op.abort);
  await Promise.all(calls);
  expect(seen.breaker).toEqual(states);
});

test('it opens when no connection opens in the time of the operations', async () => {
  // Accepts connections, and never answers to TLS.
  const silent = createServer();
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  atEnd(() => silent.close());
  const { port } = Object(silent.address());
  const { rest, seen } = await startWithClock({ baseUrl: `https://127.0.0.1:${port}` });
  // More than there are connections.
  const calls = Array.from({ length: 80 }, (_, index) => failure(track(rest, `p${index}`, operation({ inMs: 2_000 }))));
  expect(await Promise.all(calls)).toMatchObject(Array(80).fill({ code: 'UPSTREAM_TIMEOUT', outcome: 'NOT_DONE' }));
  expect(seen.breaker).toEqual(['open']);
});

test('half-open, it lets one of ten concurrent calls through, and closes when that succeeds', async () => {
  const { upstream, rest, seen, clock } = await startOpen();
  clock.ms += 1_000;
  expect(rest.health().breakers.get('POST /integrations/event')).toBe('half-open');
  expect(seen.breaker).toEqual(['open']);
  const held = upstream.hold('POST /event');
  const trial = track(rest, 'p0');
  const others = Array.from({ length: 9 }, (_, index) => failure(track(rest, `p${index + 1}`)));
  expect(await Promise.all(others)).toEqual(Array(9).fill(expect.objectContaining(rejected)));
  await held.arrived;
  held.release();
  await trial;
  expect(upstream.calls()).toEqual(['POST /integrations/event']);
  expect(seen.breaker).toEqual(['open', 'half-open', 'closed']);
});

test('it opens again when that one call fails: the call is not retried, and the next is a second later', async () => {
  const { upstream, rest, seen, clock } = await startOpen();
  upstream.on('POST /event', failed);
  for (let trial = 1; trial <= 7; trial += 1) {
    clock.ms += 999;
    expect(await failure(track(rest, `p${trial}`))).toMatchObject(rejected);
    clock.ms += 1;
    await failure(track(rest, `p${trial}`));
  }
  const states = ['open', ...Array(7).fill(['half-open', 'open']).flat()];
  expect([upstream.calls().length, seen.retries, seen.breaker]).toEqual([7, [], states]);
});

test('a player whose calls always fail does not keep it open: after its trial, the next is that of another player', async () => {
  const { upstream, rest, seen, clock } = await startOpen();
  upstream.on('POST /event', ({ body }) => (Object(body).playerUniqueId === 'broken' ? failed : 'usual'));
  clock.ms += 1_000;
  await failure(track(rest, 'broken'));
  clock.ms += 1_999;
  expect(await failure(track(rest, 'broken'))).toMatchObject(rejected);
  await track(rest, 'p1');
  await failure(track(rest, 'broken'));
  expect(seen.breaker).toEqual(['open', 'half-open', 'open', 'half-open', 'closed']);
});

test('a call that hangs is not the only trial: after a second, that of another player closes it, whatever becomes of the first', async () => {
  const { upstream, rest, seen, clock } = await startOpen();
  clock.ms += 1_000;
  const held = upstream.hold('POST /event', failed);
  const hanging = failure(track(rest, 'hanging'));
  await held.arrived;
  clock.ms += 999;
  expect(await failure(track(rest))).toMatchObject(rejected);
  clock.ms += 1;
  expect(await failure(track(rest, 'hanging'))).toMatchObject(rejected);
  await track(rest);
  held.release();
  expect(await hanging).toMatchObject({ status: 500, outcome: 'UNKNOWN' });
  await track(rest, 'p2');
  expect(seen.breaker).toEqual(['open', 'half-open', 'half-open', 'closed']);
});

test('a player alone has a trial every two seconds', async () => {
  const { upstream, rest, seen, clock } = await startOpen();
  upstream.on('POST /event', failed);
  clock.ms += 1_000;
  await failure(track(rest));
  upstream.on('POST /event', 'usual');
  clock.ms += 1_999;
  expect(await failure(track(rest))).toMatchObject(rejected);
  clock.ms += 1;
  await track(rest);
  expect(seen.breaker.at(-1)).toBe('closed');
});

test('a read that is that one call is not sent again either, and has the error of its response', async () => {
  const { upstream, rest, seen, clock } = await startWithClock();
  upstream.on('GET /player', failed);
  for (let player = 0; player < 10; player += 1) await failure(read(rest, `failing-${player}`));
  const [calls, retries] = [upstream.calls().length, seen.retries.length];
  // Time for a trial, and for a full budget of retries.
  clock.ms += 60_000;
  expect(await failure(read(rest))).toMatchObject({ ...rejected, status: 500 });
  expect([upstream.calls().length, seen.retries.length]).toEqual([calls + 1, retries]);
});

test('it stays open when the client of that one call goes away', async () => {
  const { upstream, rest, seen, clock } = await startOpen();
  upstream.on('POST /event', { fault: 'hang' });
  clock.ms += 1_000;
  const op = operation();
  const trial = failure(track(rest, 'p1', op));
  await upstream.received(1);
  op.abort();
  await trial;
  expect(seen.breaker).toEqual(['open', 'half-open', 'open']);
});

test('calls that wait for a connection when it opens are not sent', async () => {
  const { upstream, rest, seen } = await startWithClock({ connections: 1 });
  upstream.on('POST /event', failed);
  await fail(rest, 9);
  const held = upstream.hold('POST /event', failed);
  const tenth = failure(track(rest, 'the-tenth'));
  await held.arrived;
  const waiting = ['p2', 'p3'].map((id) => failure(track(rest, id)));
  held.release();
  await tenth;
  expect(await Promise.all(waiting)).toEqual(Array(2).fill(expect.objectContaining(rejected)));
  expect(upstream.calls()).toHaveLength(10);
  expect(seen.calls.map(({ attempts }) => attempts)).toEqual([...Array(10).fill(1), 0, 0]);
});

test('reads that wait for a connection when it opens are rejected at once, and use no retries', async () => {
  const { upstream, rest, seen, clock } = await startWithClock({ connections: 1 });
  upstream.on('GET /player', failed);
  for (let player = 0; player < 9; player += 1) await failure(read(rest, `failing-${player}`));
  const retries = seen.retries.length;
  // A budget for some, in the same window of the breaker.
  clock.ms += 5_000;
  const held = upstream.hold('GET /player', failed);
  const tenth = failure(read(rest, 'the-tenth'));
  await held.arrived;
  const waiting = ['p2', 'p3'].map((id) => failure(read(rest, id)));
  held.release();
  await tenth;
  expect(await Promise.all(waiting)).toEqual(Array(2).fill(expect.objectContaining(rejected)));
  // That of the tenth itself.
  expect(seen.retries).toHaveLength(retries + 1);
});

test('what was sent before it opened says nothing once it is closed again', async () => {
  const { upstream, rest, seen, clock } = await startWithClock();
  const held = Array.from({ length: 10 }, () => upstream.hold('POST /event', failed));
  const before = held.map((_, index) => failure(track(rest, `before-${index}`)));
  await Promise.all(held.map(({ arrived }) => arrived));
  upstream.on('POST /event', failed);
  await fail(rest);
  upstream.on('POST /event', 'usual');
  clock.ms += 1_000;
  await track(rest);
  for (const { release } of held) release();
  await Promise.all(before);
  expect(seen.breaker).toEqual(['open', 'half-open', 'closed']);
});

const error = (code: UpstreamErrorCode, options = {}) => new UpstreamError(code, 'GET /x', options);
const refused = new Error('no connection was opened');

test.each([
  ['500', 'failure', { status: 500, headers: {}, body: Buffer.from('') }, false],
  ['404', 'success', { status: 404, headers: {}, body: Buffer.from('') }, false],
  ['a body that cannot be used', 'success', error('UPSTREAM_INVALID_RESPONSE'), true],
  ['a lost connection', 'failure', error('UPSTREAM_UNAVAILABLE'), false],
  ['a call that an open breaker skipped', 'none', error('UPSTREAM_UNAVAILABLE', { skipped: true }), true],
  ['a timeout after half of its time', 'failure', error('UPSTREAM_TIMEOUT'), true],
  ['a timeout before that, as of an operation that is over', 'none', error('UPSTREAM_TIMEOUT'), false],
  ['a timeout because no connection opened', 'failure', error('UPSTREAM_TIMEOUT', { cause: refused }), false],
  ['a client that left', 'none', error('CANCELLED'), true],
  ['the end of the wait for a connection', 'none', error('OVERLOADED', { skipped: true }), true],
] as const)('%s is a %s for the breaker', (_, result, response, wasInFlight) => {
  expect(resultOf(response, wasInFlight)).toBe(result);
});

test('a trial that fails late does not delay the next one: there is one each second', () => {
  let now = 0;
  const breaker = new Breaker(
    () => now,
    () => undefined,
    true,
  );
  const admitAt = (ms: number) => {
    now = ms;
    return breaker.admit(`player-${ms}`);
  };
  const hanging = [1_000, 2_000, 3_000].map(admitAt);
  for (const [index, trial] of hanging.entries()) {
    now = 4_000 + 1_000 * index;
    breaker.end(trial, 'failure');
    expect(admitAt(now).isTrial).toBe(true);
  }
  expect(() => admitAt(6_999)).toThrow('the breaker is open');
});

/** What returns the breaker of a language and a caller; without arguments, the one of all players with tokens of their own. */
function startBreakers(now = () => 0) {
  const breakers = createBreakers(now, () => undefined);
  return (language?: string, caller = bound('own')) => breakers.of(caller).breakerOf(language);
}

test('long after an outage in which nobody called again, all calls of a first burst are sent', async () => {
  const { upstream, rest, clock } = await startOpen();
  clock.ms += 60_999;
  expect(rest.health().breakers.get('POST /integrations/event')).toBe('half-open');
  clock.ms += 1;
  expect(rest.health().breakers.get('POST /integrations/event')).toBe('closed');
  await Promise.all(Array.from({ length: 20 }, (_, player) => track(rest, `p${player}`)));
  expect(upstream.calls()).toHaveLength(20);
  // When it is not over, it takes as many failures as before.
  upstream.on('POST /event', failed);
  for (let player = 0; player < 50; player += 1) await failure(track(rest, `q${player}`));
  expect(rest.health().breakers.get('POST /integrations/event')).toBe('open');
});

test('while the breaker of players with tokens of their own is open, that of a new server is too, not that of an older one', () => {
  const breakerOf = startBreakers();
  const ofOlder = breakerOf(undefined, server('older'));
  for (let n = 0; n < 10; n += 1) breakerOf().end(breakerOf().admit(`player-${n}`), 'failure');
  const ofNew = breakerOf(undefined, server('new'));
  expect([breakerOf(), ofNew, ofOlder].map(({ state }) => state)).toEqual(['open', 'open', 'closed']);
});

test('reads of players in 100 languages do not evict the open breaker of a server', () => {
  const breakerOf = startBreakers();
  const ofShop = () => breakerOf(undefined, server('shop'));
  for (let n = 0; n < 10; n += 1) ofShop().end(ofShop().admit(`player-${n}`), 'failure');
  for (let n = 0; n < 100; n += 1) breakerOf(`language-${n}`);
  expect([ofShop().state, breakerOf('en', server('shop')).state, breakerOf('en').state]).toEqual([
    'open',
    'open',
    'closed',
  ]);
});
