import { expect, test } from '@jest/globals';
import { post } from '../kit/gateway.ts';
import { enterMemoryCgroup } from '../kit/memory-cgroup.ts';
import { startProcess } from '../kit/process.ts';
import { bearer, secretSigner } from '../kit/tokens.ts';
import { upstream } from './setup.ts';

/* The kernel ends a process that takes more memory than its container has. Node's own limit of the heap can be larger than that. */

const BYTES = 256 * 2 ** 20;
const isAllowed = enterMemoryCgroup(BYTES) !== undefined;
if (!isAllowed) console.warn('This process may not create a cgroup: the test of a container of 256 MiB is skipped.');

(isAllowed ? test : test.skip)(
  'in a container of 256 MiB, large lists of a server end at their fields, and the process goes on',
  async () => {
    const enter = enterMemoryCgroup(BYTES);
    const signer = secretSigner();
    const gateway = await startProcess({ REST_BASE_URL: upstream.url, ...signer.env }, [], undefined, enter);
    // 1.8 MB, a little less than the largest response that is read.
    const raw = JSON.stringify({ coupons: Array(9_000).fill({ code: ''.padEnd(180, '-'), value: 5 }) });
    upstream.on('GET /coupon', ({ path }) => (path.includes('/large-') ? { raw } : 'usual'));
    const query = 'query ($ids: [ID!]!) { players(playerUniqueIds: $ids) { coupons { code } } }';
    const scope = 'players:read coupons:read any-player';
    const jobs = Array.from({ length: 30 }, (_, job) => {
      const ids = Array.from({ length: 40 }, (_, n) => `large-${job}-${n}`);
      return post(gateway.url, { query, variables: { ids } }, bearer(signer, { sub: `job-${job}`, scope }));
    });
    const codes = new Set((await Promise.all(jobs)).flatMap((response) => response.codes));
    expect(codes).toContain('OVERLOADED');
    expect(codes).not.toContain('INTERNAL_SERVER_ERROR');
    const own = bearer(signer, { sub: 'p1', scope: 'players:read coupons:read' });
    expect(await post(gateway.url, { query: '{ me { coupons { code } } }' }, own)).toMatchObject({ codes: [] });
    expect(gateway.child.exitCode).toBeNull();
  },
);
