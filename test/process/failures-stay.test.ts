import { beforeEach, expect, test } from '@jest/globals';
import { post } from '../kit/post.ts';
import { startProcess } from '../kit/process.ts';
import { bearer, secretSigner } from '../kit/tokens.ts';
import { until } from '../kit/until.ts';
import { type Script, startUpstream } from '../kit/upstream.ts';

/*
 * Issue 46 on the built program, with default settings: what fails, is large or is hostile is felt there and nowhere else. What
 * one caller does to others is in other-callers.test.ts; failing endpoints, disconnected writes, open files and Redis have files
 * of their own.
 */

const signer = secretSigner();
const upstream = await startUpstream();
const gateway = await startProcess({ ...signer.env, REST_BASE_URL: upstream.url });
beforeEach(() => upstream.reset());

const WHAT = 'players:read players:delete coupons:read referrals:read';
const as = (sub: string, scope = '') => bearer(signer, { sub, scope: `${WHAT} ${scope}` });
const ask = (query: string, headers = as('shop', 'any-player')) => post(gateway.url, { query }, headers);

/** A script that waits for `release` where `isSlow` says so. */
function slow(isSlow: (id: string | undefined) => boolean) {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const script: Script = ({ playerUniqueId }) =>
    isSlow(playerUniqueId) ? released.then(() => 'usual' as const) : 'usual';
  return { script, release };
}

test('row 2, a slow key: below its fast siblings, REST calls begin as if it were not there', async () => {
  const below = 'attributes { firstName } referredFriends(limit: 1) { nodes { player { attributes { city } } } }';
  const friendsOf = (ids: string[]) => ask(`{ players(playerUniqueIds: ${JSON.stringify(ids)}) { ${below} } }`);
  // As many connections as are used later: a call that opens one arrives late.
  await friendsOf(['p2', 'p3', 'p4']);
  upstream.forget();
  await friendsOf(['p2', 'p3']);
  const alone = upstream.calls();
  upstream.forget();
  const { script, release } = slow((id) => id === 'late');
  upstream.on('GET /player', script);
  const answer = friendsOf(['late', 'p2', 'p3']);
  // Three players, three lists, and the friend of each: also of the slow one, whose list came with the look-ahead.
  await upstream.received(3 + 3 + 1);
  const seen = upstream.calls().filter((call) => !call.includes('late'));
  const inOrder = (calls: string[]) => [calls.slice(0, 4).sort(), ...calls.slice(4)];
  expect(inOrder(seen)).toEqual(inOrder(alone));
  expect(seen.at(-1)).toBe('GET /integrations/player/f1');
  release();
  const { data, errors } = await answer;
  expect([errors, data.players.length]).toEqual([[], 3]);
});

test('row 2, a slow part: a player that is not read exists when the first of its parts arrives', async () => {
  const { script, release } = slow(() => true);
  upstream.on('GET /coupon', script);
  const parts = 'id coupons { code } referredFriends(limit: 2) { nodes { player { attributes { city } } } }';
  const answer = ask(`{ player(playerUniqueId: "p1") { ${parts} } }`);
  await upstream.received(4);
  expect(upstream.calls().sort()).toEqual([
    'GET /integrations/player/f1',
    'GET /integrations/player/f2',
    'GET /integrations/players/p1/referrals?page=1&limit=2',
    'GET /integrations/transactions/p1/coupon',
  ]);
  release();
  expect((await answer).errors).toEqual([]);
});

test('row 4, the id of an operation: of every type and depth, 0 responses of 500 or more', async () => {
  const nested = (levels: number, leaf: unknown): unknown => (levels === 0 ? leaf : [nested(levels - 1, leaf)]);
  const leaves = [null, true, 0, '', 'x', {}, { x: 'x' }];
  const bodies = [0, 1, 2, 1_000].flatMap((levels) =>
    leaves
      .map((leaf) => nested(levels, leaf))
      .flatMap((value) => [
        ...[{ id: value }, { documentId: value }, { doc_id: value }, { query: value }],
        ...[{ query: '{ __typename }', operationName: value }, { extensions: { persistedQuery: value } }],
        { extensions: { persistedQuery: { version: 1, sha256Hash: value } } },
      ]),
  );
  const answers = await Promise.all(bodies.map((body) => post(gateway.url, body, as('shop', 'any-player'))));
  const failed = answers.flatMap(({ status, codes }, at) =>
    status < 429 ? [] : [[JSON.stringify(bodies[at]).slice(0, 80), status, codes]],
  );
  expect([failed, answers.length]).toEqual([[], 196]);
  expect((await post(gateway.url, { id: [['x']] }, as('shop', 'any-player'))).status).toBe(400);
});

test('row 5, the audit: one line for each requested deletion, with the outcome that its client is told', async () => {
  const fields = (id: string) =>
    `deletePlayer(input: { playerUniqueId: "${id}" }) { deletedPlayerUniqueId userErrors { code } }`;
  const told: string[] = [];
  const remove = async (script: Script, ...ids: string[]) => {
    upstream.on('DELETE /player', script);
    const named = ids.map((id, n) => `d${n}: ${fields(id)}`);
    const { data, errors } = await ask(`mutation { ${named.join(' ')} }`, as('p1'));
    for (const [n] of ids.entries()) {
      const { deletedPlayerUniqueId, userErrors } = data?.[`d${n}`] ?? {};
      const error = errors.find(({ path }) => path?.[0] === `d${n}`);
      told.push(String(deletedPlayerUniqueId ? 'DELETED' : (userErrors?.[0].code ?? error?.extensions['outcome'])));
    }
  };
  await remove({ status: 200 }, 'p1');
  await remove({ status: 404, json: { code: 101, message: 'unknown' } }, 'p1');
  await remove({ status: 500 }, 'p1');
  await remove({ status: 401 }, 'p1');
  // Another player, by access rules; then both in one operation.
  await remove({ status: 200 }, 'p2');
  await remove({ status: 200 }, 'p2', 'p1');
  const audit = () => gateway.log().flatMap((line) => (line.audit ? [line.outcome] : []));
  await until(() => audit().length >= told.length);
  expect([told, audit()]).toEqual([
    ['DELETED', 'NOT_FOUND', 'UNKNOWN', 'NOT_DONE', 'NOT_DONE', 'NOT_DONE', 'DELETED'],
    ['DELETED', 'NOT_FOUND', 'UNKNOWN', 'FAILED', 'REFUSED', 'REFUSED', 'DELETED'],
  ]);
});

test('row 17, repeated fields: a document with __typename 500 times is refused', async () => {
  const { status, errors } = await ask(`{ me { id } ${'__typename '.repeat(500)} }`);
  const extensions = { code: 'OPERATION_TOO_COMPLEX', limit: 'repetitions' };
  expect([status, errors, upstream.calls()]).toMatchObject([400, [{ extensions }], []]);
});

test('row 24, what is refused: each request of a valid token consumes a unit, until its caller gets 429 and no other', async () => {
  const refused = async (n: number) => (await post(gateway.url, n % 2 ? [] : { query: 1 }, as('noisy'))).status;
  const statuses: number[] = [];
  const began = performance.now();
  // One player may have 125 in flight.
  while (statuses.length < 300) statuses.push(...(await Promise.all(Array.from({ length: 50 }, (_, n) => refused(n)))));
  expect(new Set(statuses)).toEqual(new Set([400, 429]));
  // A window of 100 units ends after two seconds, and a busy machine may need several.
  const windows = 1 + Math.ceil((performance.now() - began) / 2_000);
  expect(statuses.filter((status) => status === 400).length).toBeLessThanOrEqual(100 * windows);
  expect((await ask('{ me { id } }', as('calm'))).status).toBe(200);
});
