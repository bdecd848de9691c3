import { expect, test } from '@jest/globals';
import { enterMemoryCgroup } from '../kit/memory-cgroup.ts';
import { post } from '../kit/post.ts';
import { type GatewayProcess, startProcess } from '../kit/process.ts';
import { bearer, type Signer, secretSigner } from '../kit/tokens.ts';
import { start, upstream } from './setup.ts';

/** Servers read lists of a player that do not fit into the memory. These fail at their fields; the process goes on, and serves others. */
async function expectOverloadedFields(gateway: GatewayProcess, signer: Signer, servers: number): Promise<void> {
  const coupons = Array.from({ length: 9_000 }, (_, n) => ({ code: `${n}`.padEnd(150, '-'), value: n }));
  const raw = JSON.stringify({ coupons });
  upstream.on('GET /coupon', ({ path }) => (path.includes('/heavy-') ? { raw } : 'usual'));
  const query = 'query ($ids: [ID!]!) { players(playerUniqueIds: $ids) { coupons { code } } }';
  const scope = 'players:read coupons:read any-player';
  const jobs = Array.from({ length: servers }, (_, job) => {
    const ids = Array.from({ length: 50 }, (_, n) => `heavy-${job}-${n}`);
    return post(gateway.url, { query, variables: { ids } }, bearer(signer, { sub: `job-${job}`, scope }));
  });
  const codes = new Set((await Promise.all(jobs)).flatMap((answer) => answer.codes));
  expect(codes).toContain('OVERLOADED');
  expect(codes).not.toContain('INTERNAL_SERVER_ERROR');
  const own = bearer(signer, { sub: 'p1', scope: 'players:read coupons:read' });
  expect(await post(gateway.url, { query: '{ me { coupons { code } } }' }, own)).toMatchObject({ codes: [] });
  expect(gateway.child.exitCode).toBeNull();
}

test('lists of a server that do not fit into the heap fail at their fields; the process goes on and serves others', async () => {
  const signer = secretSigner();
  const gateway = await start(signer.env, ['--max-old-space-size=128', '--max-semi-space-size=2']);
  await expectOverloadedFields(gateway, signer, 20);
});

/* The kernel ends a process that takes more memory than its container has. Node's limit of the heap can be larger than that. */
const BYTES = 256 * 2 ** 20;
const isAllowed = enterMemoryCgroup(BYTES) !== undefined;
if (!isAllowed) console.warn('This process may not create a cgroup: the test of a container of 256 MiB is skipped.');

(isAllowed ? test : test.skip)(
  'lists of servers that do not fit into a container of 256 MiB fail at their fields; the process goes on and serves others',
  async () => {
    const signer = secretSigner();
    const env = { REST_BASE_URL: upstream.url, ...signer.env };
    await expectOverloadedFields(await startProcess(env, [], undefined, enterMemoryCgroup(BYTES)), signer, 30);
  },
);

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
