import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { clientAddress } from '../src/limits/address.ts';
import { createBuckets } from '../src/limits/buckets.ts';
import { post, startBoth } from './kit/gateway.ts';
import { secretSigner, token } from './kit/tokens.ts';

const signer = secretSigner();
const folder = mkdtempSync(join(tmpdir(), 'rates-'));
afterAll(() => rmSync(folder, { recursive: true }));

const bearer = (text: string) => ({ authorization: `Bearer ${text}` });
const player = (sub: string, scope = 'players:read coupons:read') => bearer(token(signer, { sub, scope }));
const readPlayer = (id: string, selection = 'id') => `{ player(playerUniqueId: "${id}") { ${selection} } }`;

describe('a bucket', () => {
  test('gives its burst at once, then its rate, and is never fuller than its burst', async () => {
    let now = 5_000;
    const { take, wait } = createBuckets({ perSecond: 4, burst: 3 }, () => now);
    const takenAt = (time: number) => {
      now = time;
      return take('a');
    };
    expect([0, 0, 0, 0].map(() => takenAt(5_000))).toEqual([0, 0, 0, 250]);
    expect(takenAt(5_249)).toBe(1);
    expect(takenAt(5_250)).toBe(0);
    expect(takenAt(5_250)).toBe(250);
    expect([0, 0, 0, 0].map(() => takenAt(999_000))).toEqual([0, 0, 0, 250]);
    expect(take('b')).toBe(0);
    expect([wait('a'), wait('a'), wait('b')]).toEqual([250, 250, 0]);
  });
});

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:DB8:1:2::1', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['unknown', 'unknown'],
])('the client at %s is %s', (address, client) => {
  expect(clientAddress(address)).toBe(client);
});

test('what a proxy sends in the place of an address is not remembered at length', () => {
  expect(clientAddress('x'.repeat(1_000))).toHaveLength(64);
});

describe('operations', () => {
  test('over a player’s limit are refused with 429, tell when to come back, and reach nobody', async () => {
    const both = await startBoth({ ...signer.env, MAX_OPERATIONS_PER_SECOND: '1', MAX_OPERATIONS_BURST: '2' });
    const began = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => both.gateway.query(readPlayer('p1'), {}, player('p1'))),
    );
    const seconds = (performance.now() - began) / 1_000;
    const refused = answers.filter(({ status }) => status === 429);
    expect(20 - refused.length).toBeGreaterThanOrEqual(2);
    expect(20 - refused.length).toBeLessThanOrEqual(2 + Math.ceil(seconds));
    expect(both.upstream.calls().length).toBeLessThanOrEqual(20 - refused.length);
    for (const { errors, headers, data } of refused) {
      expect(data).toBeUndefined();
      expect(errors.map(({ extensions }) => extensions)).toEqual([
        { code: 'RATE_LIMITED', retryable: true, retryAfterMs: expect.any(Number) },
      ]);
      expect(Number(errors[0]?.extensions['retryAfterMs'])).toBeGreaterThan(0);
      expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    }
    const other = await both.gateway.query(readPlayer('p2'), {}, player('p2'));
    expect(other).toMatchObject({ status: 200, data: { player: { id: 'p2' } } });
    await both.close();
  });

  test('of a client and of a player with its name are counted apart, and servers have a limit of their own', async () => {
    const file = join(folder, 'clients.json');
    const sha256 = createHash('sha256').update('client-token').digest('hex');
    writeFileSync(file, JSON.stringify([{ name: 'p1', sha256, scopes: ['players:read'] }]));
    const both = await startBoth({
      ...signer.env,
      CLIENT_TOKENS_FILE: file,
      MAX_OPERATIONS_PER_SECOND: '1',
      MAX_OPERATIONS_BURST: '1',
    });
    const exhaust = async (headers: Record<string, string>) => {
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => both.gateway.query('{ __typename }', {}, headers)),
      );
      return answers.map(({ status }) => status);
    };
    expect(await exhaust(player('p1'))).toContain(429);
    expect((await both.gateway.query('{ __typename }', {}, bearer('client-token'))).status).toBe(200);
    expect(await exhaust(bearer('client-token'))).toContain(429);
    const server = player('p1', 'players:read any-player');
    expect(new Set(await exhaust(server))).toEqual(new Set([200]));
    await both.close();
  });
});

describe('reads of coupons', () => {
  const env = { ...signer.env, MAX_COUPON_READS_PER_SECOND: '1', MAX_COUPON_READS_BURST: '3' };
  const server = { ...signer.env, MAX_SERVER_COUPON_READS_PER_SECOND: '1', MAX_SERVER_COUPON_READS_BURST: '3' };
  const aliases = ['a', 'b', 'c', 'd', 'e'];

  test.each([
    ['aliases of the field', readPlayer('p1', `id ${aliases.map((a) => `${a}: coupons { code }`).join(' ')}`)],
    [
      'aliases of the player',
      `{ ${aliases.map((a) => `${a}: player(playerUniqueId: "p1") { id coupons { code } }`).join(' ')} }`,
    ],
    [
      'a fragment spread under aliases',
      `{ ${aliases.map((a) => `${a}: player(playerUniqueId: "p1") { ...F }`).join(' ')} }
       fragment F on Player { id coupons { code } }`,
    ],
  ])('are counted for each of %s', async (_name, operation) => {
    const both = await startBoth(env);
    const { status, errors, data } = await both.gateway.query(operation, {}, player('p1'));
    expect(status).toBe(200);
    expect(errors.map(({ extensions }) => extensions)).toEqual(
      [1, 2].map(() => ({ code: 'RATE_LIMITED', retryable: true, retryAfterMs: expect.any(Number) })),
    );
    expect(JSON.stringify(data)).toContain('"id":"p1"');
    expect(data).not.toBeNull();
    await both.close();
  });

  test('over the limit are an error at their field, beside the rest, and cause no call', async () => {
    const both = await startBoth(server);
    const operation = `{ players(playerUniqueIds: ["p1", "p2", "p3", "p4", "p5"]) { id coupons { code } } }`;
    const { status, errors, data } = await both.gateway.query(
      operation,
      {},
      player('server', 'players:read coupons:read any-player'),
    );
    expect(status).toBe(200);
    expect(errors.map(({ path }) => path)).toEqual([
      ['players', 3, 'coupons'],
      ['players', 4, 'coupons'],
    ]);
    expect(data.players.map(({ id }: { id: string }) => id)).toEqual(['p1', 'p2', 'p3', 'p4', 'p5']);
    expect(data.players.map(({ coupons }: { coupons: unknown }) => coupons === null)).toEqual([
      false,
      false,
      false,
      true,
      true,
    ]);
    const couponCalls = both.upstream.calls().filter((call) => call.endsWith('/coupon'));
    expect(couponCalls.sort()).toEqual(['p1', 'p2', 'p3'].map((id) => `GET /integrations/transactions/${id}/coupon`));
    await both.close();
  });

  test.each([
    ['a field', readPlayer('p1', 'id coupons { code }')],
    ['a field that stands twice', readPlayer('p1', 'id coupons { code } coupons { value }')],
    ['a field below a player that stands twice', `{ ${[1, 2].map(() => 'me { coupons { code } }').join(' ')} }`],
  ])('take one of the allowance for %s', async (_name, operation) => {
    const both = await startBoth({ ...env, MAX_COUPON_READS_BURST: '1' });
    const { errors } = await both.gateway.query(operation, {}, player('p1'));
    expect(errors).toEqual([]);
    expect(both.upstream.calls().filter((call) => call.endsWith('/coupon'))).toHaveLength(1);
    await both.close();
  });

  test('that access refuses take nothing', async () => {
    const both = await startBoth({ ...env, MAX_COUPON_READS_BURST: '1' });
    const refused = await both.gateway.query(readPlayer('p2', 'coupons { code }'), {}, player('p1'));
    expect(refused.errors.map(({ extensions }) => extensions['code'])).not.toContain('RATE_LIMITED');
    const allowed = await both.gateway.query(readPlayer('p1', 'coupons { code }'), {}, player('p1'));
    expect(allowed.errors).toEqual([]);
    await both.close();
  });
});

describe('failed authentications', () => {
  const env = { ...signer.env, MAX_FAILED_AUTHENTICATIONS_PER_SECOND: '1', MAX_FAILED_AUTHENTICATIONS_BURST: '3' };
  const guess = { authorization: 'Bearer guess' };
  const from = (address: string, headers: Record<string, string>) => ({ ...headers, 'x-forwarded-for': address });
  const ask = (url: string, headers: Record<string, string>) => post(url, { query: '{ __typename }' }, headers);
  const flood = async (url: string, headers: Record<string, string>) => {
    const statuses: number[] = [];
    for (let i = 0; i < 20 && !statuses.includes(429); i++) statuses.push((await ask(url, headers)).status);
    return statuses;
  };

  test('are limited by address; nobody learns whether a further token would have been right', async () => {
    const { gateway, close } = await startBoth({ ...env, TRUST_PROXY: 'true' });
    const statuses = await flood(gateway.url, from('203.0.113.7', guess));
    expect(statuses.slice(0, 3)).toEqual([401, 401, 401]);
    expect(statuses.at(-1)).toBe(429);
    expect(await flood(gateway.url, from('203.0.113.8', {}))).toContain(429);
    expect((await ask(gateway.url, from('203.0.113.9', player('p1')))).status).toBe(200);
    await close();
  });

  test('do not count for those who have a token, however many share an address', async () => {
    const { gateway, close } = await startBoth(env);
    for (let i = 0; i < 20; i++) expect((await ask(gateway.url, player(`p${i}`))).status).toBe(200);
    await close();
  });

  test('are counted by the address of the connection unless a proxy is trusted', async () => {
    const { gateway, close } = await startBoth(env);
    const statuses: number[] = [];
    for (let i = 0; i < 20 && !statuses.includes(429); i++) {
      statuses.push((await ask(gateway.url, from(`203.0.113.${i}`, guess))).status);
    }
    expect(statuses).toContain(429);
    await close();
  });
});
