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
