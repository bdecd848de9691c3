import { describe, expect, test } from '@jest/globals';
import type { RestClient } from '../../src/rest/client.ts';
import { CouponMembers } from '../../src/rest/decode/coupon.ts';
import type { EndpointName } from '../kit/upstream.ts';
import { failure, operation, start, type TestOperation } from './setup.ts';

type Read = (rest: RestClient, op?: TestOperation) => Promise<unknown>;
const player: Read = (rest, op = operation()) => rest.getPlayer('p1', undefined, op);
const coupons: Read = (rest, op = operation()) => rest.listCoupons('p1', op);
const referrals: Read = (rest, op = operation()) => rest.listReferrals('p1', 1, 50, op);
const reads: [EndpointName, Read][] = [
  ['GET /player', player],
  ['GET /coupon', coupons],
  ['GET /referrals', referrals],
];

describe.each(reads)('%s in flight', (endpoint, read) => {
  test('is shared by everyone who asks the same', async () => {
    const { upstream, rest } = await start();
    const held = upstream.hold(endpoint);
    const ops = [operation(), operation(), operation()];
    const answers = ops.map((op) => read(rest, op));
    await held.arrived;
    answers.push(read(rest, operation()));
    held.release();
    const [first, ...others] = await Promise.all(answers);
    expect(others.every((other) => other === first)).toBe(true);
    expect(upstream.calls()).toHaveLength(1);
    expect(ops.map((op) => op.own)).toEqual([1, 0, 0]);
    expect(ops.map((op) => op.records.map((record) => record.shared))).toEqual([[false], [true], [true]]);
  });

  test('is asked for anew when it has ended, well or badly', async () => {
    const { upstream, rest } = await start();
    upstream.on(endpoint, { status: 400 }, 'usual');
    await Promise.all([failure(read(rest)), failure(read(rest))]);
    expect(upstream.calls()).toHaveLength(1);
    await read(rest);
    await read(rest);
    expect(upstream.calls()).toHaveLength(3);
  });
});

test('what selects the answer keeps reads apart: language, page, size and player', async () => {
  const { upstream, another } = await start();
  const rest = another();
  const op = operation();
  const answers = [
    rest.getPlayer('p1', undefined, op),
    rest.getPlayer('p1', 'en', op),
    rest.getPlayer('p1', 'fr', op),
    rest.getPlayer('p2', undefined, op),
    rest.listReferrals('p1', 1, 50, op),
    rest.listReferrals('p1', 2, 50, op),
    rest.listReferrals('p1', 1, 51, op),
  ];
  await Promise.allSettled(answers);
  expect(upstream.calls()).toHaveLength(7);
});

test('reads of coupons are shared by operations that need the same members', async () => {
  const { upstream, rest } = await start();
  const needing = (...fields: string[]) => operation({ couponMembers: new CouponMembers(new Set(fields)) });
  const [withTitle, same, without] = await Promise.all([
    rest.listCoupons('p1', needing('title', 'code')),
    rest.listCoupons('p1', needing('isUsed', 'title')),
    rest.listCoupons('p1', needing('code')),
  ]);
  expect(same).toBe(withTitle);
  expect([withTitle?.[0]?.group?.title, without?.[0]?.group?.title]).toEqual(['Welcome', undefined]);
  expect(upstream.calls()).toHaveLength(2);
});

describe('those who share a call do not depend on each other', () => {
  test('one goes away: the others get the answer', async () => {
    const { upstream, rest } = await start();
    const held = upstream.hold('GET /player');
    const [leaving, staying] = [operation(), operation()];
    const left = failure(player(rest, leaving));
    const stayed = player(rest, staying);
    await held.arrived;
    leaving.abort();
    expect(await left).toMatchObject({ code: 'CANCELLED' });
    held.release();
    expect(await stayed).toMatchObject({ id: 'p1' });
    expect(upstream.calls()).toHaveLength(1);
  });

  test('one has less time: the others wait on', async () => {
    const { upstream, rest } = await start();
    const held = upstream.hold('GET /player');
    const hurried = failure(player(rest, operation({ inMs: 20 })));
    const patient = player(rest, operation());
    expect(await hurried).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
    held.release();
    expect(await patient).toMatchObject({ id: 'p1' });
    expect(upstream.calls()).toHaveLength(1);
  });

  test('the last one goes away: the request ends, and whoever comes next asks anew', async () => {
    const { upstream, rest } = await start();
    upstream.on('GET /player', { fault: 'hang' }, 'usual');
    const ops = [operation(), operation()];
    const left = ops.map((op) => failure(player(rest, op)));
    await upstream.received(1);
    for (const op of ops) op.abort();
    const next = player(rest);
    await upstream.requests[0]?.gone;
    await Promise.all(left);
    expect(await next).toMatchObject({ id: 'p1' });
    expect(upstream.calls()).toHaveLength(2);
  });
});

const writes: [EndpointName, (rest: RestClient) => Promise<unknown>][] = [
  [
    'POST /player',
    (rest) => rest.upsertPlayer({ playerUniqueId: 'p1', playerAttributes: { city: 'Rome' } }, operation()),
  ],
  ['POST /event', (rest) => rest.trackEvents({ playerUniqueId: 'p1', events: { order: {} } }, operation())],
  ['DELETE /player', (rest) => rest.deletePlayer('p1', operation())],
];

describe.each(writes)('%s', (writing, write) => {
  test.each(reads)(
    'ends the sharing of %s when it is sent, and again when it is acknowledged',
    async (reading, read) => {
      const { upstream, rest } = await start();
      const before = upstream.hold(reading);
      const answers = [read(rest)];
      await before.arrived;

      const written = upstream.hold(writing);
      const acknowledged = write(rest);
      await written.arrived;

      const beside = upstream.hold(reading);
      answers.push(read(rest), read(rest));
      await beside.arrived;

      written.release();
      await acknowledged;
      const after = upstream.hold(reading);
      answers.push(read(rest), read(rest));
      await after.arrived;

      for (const held of [after, beside, before]) held.release();
      const [, b, sharingB, c, sharingC] = await Promise.all(answers);
      expect(sharingB).toBe(b);
      expect(sharingC).toBe(c);
      expect(upstream.calls()).toHaveLength(4);
    },
  );
});

test('nobody who asks after an acknowledgement is given an answer from before it', async () => {
  const { upstream, rest } = await start();
  const slow = upstream.hold('GET /player');
  const old = player(rest);
  await slow.arrived;
  await rest.upsertPlayer({ playerUniqueId: 'p1', playerAttributes: { city: 'Rome' } }, operation());
  const fresh = player(rest);
  slow.release();
  expect(await old).toMatchObject({ attributes: { city: 'London' } });
  expect(await fresh).toMatchObject({ attributes: { city: 'Rome' } });
});

test('a write that fails may have been carried out: it ends the sharing all the same', async () => {
  const { upstream, rest } = await start();
  const written = upstream.hold('POST /player', { status: 500 });
  const failed = failure(rest.upsertPlayer({ playerUniqueId: 'p1' }, operation()));
  await written.arrived;
  const beside = upstream.hold('GET /player');
  const first = player(rest);
  await beside.arrived;
  written.release();
  await failed;
  const second = player(rest);
  beside.release();
  await Promise.all([first, second]);
  expect(upstream.calls()).toHaveLength(3);
});

test("another player's write leaves the player's own read shared, but not lists: they may show that player", async () => {
  const { upstream, rest } = await start();
  const held = reads.map(([endpoint]) => upstream.hold(endpoint));
  const answers = reads.map(([, read]) => read(rest));
  await Promise.all(held.map((one) => one.arrived));
  await rest.trackEvents({ playerUniqueId: 'p2', events: { place_order: {} } }, operation());
  upstream.forget();
  answers.push(...reads.map(([, read]) => read(rest)));
  await upstream.received(2);
  for (const one of held) one.release();
  await Promise.all(answers);
  expect(upstream.calls().sort()).toEqual([
    'GET /integrations/players/p1/referrals?page=1&limit=50',
    'GET /integrations/transactions/p1/coupon',
  ]);
});
