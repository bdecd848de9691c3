import { expect, test } from '@jest/globals';
import { player, startWithCallers } from '../kit/callers.ts';
import type { Received } from '../kit/upstream.ts';
import { coupons } from '../kit/upstream-data.ts';

/*
 * Lists whose length no argument says: their cost is estimated before the operation and counted while it runs. Player `c500`
 * has 500 coupons, `n500` as many whose codes are not ASCII, `w500` a coupon with as many collections and platforms.
 */

const repeat = (count: number, write: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => write(n)).join(' ');
const [coupon] = coupons('p1');
const list = <T>(length: number, item: (n: number) => T) => Array.from({ length }, (_, n) => item(n));

const all = await startWithCallers({ MAX_OPERATIONS_PER_SECOND: '10', MAX_OPERATIONS_BURST: '60' });
const lengthIn = ({ path }: Received, kind: string) => Number(new RegExp(`/${kind}(\\d+)`).exec(path)?.[1] ?? 0);
all.upstream.on('GET /coupon', (request) => {
  const [many, wide] = [lengthIn(request, 'c'), lengthIn(request, 'w')];
  const collections = list(wide, (n) => ({ collectionId: n + 1, collectionName: `Set ${n}` }));
  const wider = { ...coupon, collections, options: { ...coupon?.options, Platforms: list(wide, (n) => `on ${n}`) } };
  if (wide) return { json: { coupons: [wider] } };
  const named = lengthIn(request, 'n');
  if (named) return { json: { coupons: list(named, (n) => ({ code: `Prämie für 5 € 🎁 ${n}` })) } };
  return many ? { json: { coupons: list(many, () => coupon) } } : 'usual';
});

const backend = player('backend', 'players:read', 'coupons:read', 'any-player');
const read = (id: string, selection: string) =>
  all.as(backend, `query ($id: ID!) { player(playerUniqueId: $id) { ${selection} } }`, { id });
const tooMany = { code: 'OPERATION_TOO_COMPLEX', limit: 'items', max: 50_000 };

const COUPON = 'code value currency isUsed isExpired startAt endAt creationDate';
const CASES: [what: string, id: string, selection: string][] = [
  ['coupons', 'c950', repeat(12, (n) => `a${n}: coupons { ${COUPON} }`)],
  ['collections', 'w950', `coupons { ${repeat(25, (n) => `a${n}: collections { collectionId collectionName }`)} }`],
  ['platforms', 'w2800', `coupons { options { ${repeat(25, (n) => `a${n}: platforms`)} } }`],
];

test.each(CASES)(
  'too many %s end the fields that read them, and leave what was read before',
  async (_what, id, selection) => {
    // Also compiled: after some requests the same operation is executed by graphql-jit.
    for (let time = 0; time < 5; time += 1) {
      expect(await read('c40', selection)).toMatchObject({ status: 200, errors: [] });
      const { status, data, errors } = await read(id, selection);
      expect([status, errors[0]?.extensions]).toEqual([200, expect.objectContaining(tooMany)]);
      const names = new Set(errors.map(({ path }) => path?.at(-1)));
      const [parent] = [data.player.coupons?.[0]?.options ?? data.player.coupons?.[0] ?? data.player];
      for (const [name, value] of Object.entries(parent))
        expect([name, value === null]).toEqual([name, names.has(name)]);
      expect(names.size).toBeLessThan(Object.keys(parent).length);
    }
    expect(await all.gateway.metrics()).toMatch(/gateway_operations_executed_total\{engine="graphql-jit"\} [1-9]/);
  },
);

test('one list of a thousand coupons is read to its end', async () => {
  const { data, errors, extensions } = await read('c1000', `coupons { ${COUPON} }`);
  expect([data.player.coupons.length, errors]).toEqual([1_000, []]);
  expect(extensions['cost']).toMatchObject({ operations: expect.any(Number) });
});

test('what the lists take beyond the estimate is consumed from the caller alone', async () => {
  const [one, other] = [player('c900', 'players:read', 'coupons:read'), player('p2', 'players:read', 'coupons:read')];
  const cost = async (caller: typeof one) => {
    const { status, extensions } = await all.as(caller, `{ me { a: coupons { ${COUPON} } b: coupons { ${COUPON} } } }`);
    return [status, Object(extensions['cost']).operations];
  };
  // Two lists of 900 coupons with 8 fields each are 29 operations.
  expect(await cost(other)).toEqual([200, 1]);
  const [status, operations] = await cost(one);
  expect([status, operations > 20]).toEqual([200, true]);
  const statuses = [];
  for (let time = 0; time < 3; time += 1) statuses.push((await cost(one))[0]);
  expect(statuses).toContain(429);
  expect(await cost(other)).toEqual([200, 1]);
});

test('a long response of other alphabets arrives whole', async () => {
  const { status, data, errors } = await read('n3000', 'coupons { code currency }');
  expect([status, errors]).toEqual([200, []]);
  expect(data.player.coupons.map(({ code }: { code: string }) => code)).toEqual(
    list(3_000, (n) => `Prämie für 5 € 🎁 ${n}`),
  );
});
