import { expect, test } from '@jest/globals';
import { post } from '../kit/gateway.ts';
import { bearer, secretSigner } from '../kit/tokens.ts';
import { start, upstream } from './setup.ts';

test('lists of a server that do not fit into the heap fail at their fields; the process goes on and serves others', async () => {
  const signer = secretSigner();
  const gateway = await start(signer.env, ['--max-old-space-size=128', '--max-semi-space-size=2']);
  const coupons = Array.from({ length: 9_000 }, (_, n) => ({ code: `${n}`.padEnd(150, '-'), value: n }));
  const raw = JSON.stringify({ coupons });
  upstream.on('GET /coupon', ({ path }) => (path.includes('/heavy-') ? { raw } : 'usual'));
  const query = 'query ($ids: [ID!]!) { players(playerUniqueIds: $ids) { coupons { code } } }';
  const scope = 'players:read coupons:read any-player';
  const jobs = Array.from({ length: 20 }, (_, job) => {
    const ids = Array.from({ length: 50 }, (_, n) => `heavy-${job}-${n}`);
    return post(gateway.url, { query, variables: { ids } }, bearer(signer, { sub: `job-${job}`, scope }));
  });
  const codes = new Set((await Promise.all(jobs)).flatMap((answer) => answer.codes));
  expect(codes).toContain('OVERLOADED');
  expect(codes).not.toContain('INTERNAL_SERVER_ERROR');
  const own = bearer(signer, { sub: 'p1', scope: 'players:read coupons:read' });
  expect(await post(gateway.url, { query: '{ me { coupons { code } } }' }, own)).toMatchObject({ codes: [] });
  expect(gateway.child.exitCode).toBeNull();
});

test('while the lists of one server fill the memory, 0 of 20 large lists of others are refused', async () => {
  const signer = secretSigner();
  const gateway = await start(signer.env, ['--max-old-space-size=128', '--max-semi-space-size=2']);
  const listOf = (items: number) => JSON.stringify({ coupons: Array(items).fill({ code: ''.padEnd(5_000, '-') }) });
  const [heavy, ordinary] = [listOf(350), listOf(60)];
  let release = () => {};
  const after = new Promise<void>((resolve) => {
    release = resolve;
  });
  // Each operation of the server keeps what it has read, until the response about its last player.
  upstream.on('GET /coupon', ({ path }) => {
    if (path.includes('/late')) return { raw: ordinary, after };
    return { raw: path.includes('/heavy-') ? heavy : ordinary };
  });
  const query = 'query ($ids: [ID!]!) { players(playerUniqueIds: $ids) { coupons { code } } }';
  const scope = 'players:read coupons:read any-player';
  const server = bearer(signer, { sub: 'job', scope });
  const read = (ids: string[], headers: Record<string, string>) =>
    post(gateway.url, { query, variables: { ids } }, headers);
  const jobs = Array.from({ length: 5 }, (_, job) =>
    read([...Array.from({ length: 40 }, (_, n) => `heavy-${job}-${n}`), 'late'], server),
  );
  await upstream.received(5 * 41);
  const codes = [];
  for (let n = 0; n < 10; n += 1) {
    codes.push(...(await read([`p${n}`], bearer(signer, { sub: `p${n}`, scope: 'players:read coupons:read' }))).codes);
    codes.push(...(await read(['p1'], bearer(signer, { sub: `shop-${n}`, scope }))).codes);
  }
  expect(codes).toEqual([]);
  release();
  expect((await Promise.all(jobs)).flatMap((answer) => answer.codes)).toContain('OVERLOADED');
});
