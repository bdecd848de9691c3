import { beforeEach, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { createPersistedQueryStore } from '../../src/persisted-operations/automatic.ts';
import { createRedisTimeout } from '../../src/redis-timeout.ts';
import { atEnd } from '../kit/at-end.ts';
import { startBoth } from '../kit/gateway.ts';
import { get, post } from '../kit/post.ts';
import { redisIsInstalled, startRedis } from '../kit/redis.ts';
import { bearer, secretSigner, sha256 } from '../kit/tokens.ts';

const signer = secretSigner();
const app = bearer(signer, { scope: 'players:read' });
const hashed = (text: string) => ({ extensions: { persistedQuery: { version: 1, sha256Hash: sha256(text) } } });

const both = await startBoth(signer.env);
beforeEach(() => both.upstream.forget());

const send = (body: object, headers: Record<string, string> = app) => post(both.gateway.url, body, headers);
const isKnown = async (query: string) => !(await send(hashed(query))).codes.includes('PERSISTED_QUERY_NOT_FOUND');

test('a query that was sent once with its hash is known by its hash, with GET too', async () => {
  const query = '{ me { id } } # once';
  const found = { me: { id: 'p1' } };
  expect((await send(hashed(query))).codes).toEqual(['PERSISTED_QUERY_NOT_FOUND']);
  expect((await send({ query, ...hashed(query) })).data).toEqual(found);
  expect((await send(hashed(query))).data).toEqual(found);
  const extensions = JSON.stringify(hashed(query).extensions);
  expect((await get(both.gateway.url, { extensions }, app)).data).toEqual(found);
});

test('without a token nothing is registered, and nothing registered is run', async () => {
  const query = '{ me { id } } # without a token';
  expect(await send({ query, ...hashed(query) }, {})).toMatchObject({ status: 401 });
  expect(await isKnown(query)).toBe(false);
  await send({ query, ...hashed(query) });
  both.upstream.forget();
  expect(await send(hashed(query), {})).toMatchObject({ status: 401, codes: ['UNAUTHENTICATED'] });
  expect(both.upstream.calls()).toEqual([]);
});

test.each([
  ['is not valid', '{ nobody }', 'GRAPHQL_VALIDATION_FAILED'],
  ['is no GraphQL', '{{', 'GRAPHQL_PARSE_FAILED'],
  ['is over a limit', `{ ${Array.from({ length: 40 }, (_, i) => `a${i}: me { id }`)} }`, 'OPERATION_TOO_COMPLEX'],
])('a query that %s is not registered', async (_name, query, code) => {
  expect((await send({ query, ...hashed(query) })).codes).toContain(code);
  expect(await isKnown(query)).toBe(false);
});

test('a query under another one’s hash is refused and registers nothing', async () => {
  const query = '{ me { id } } # under another hash';
  const answer = await send({ query: '{ me { referralLink } }', ...hashed(query) });
  expect(answer).toMatchObject({ status: 400, codes: ['BAD_REQUEST'] });
  expect(both.upstream.calls()).toEqual([]);
  expect(await isKnown(query)).toBe(false);
});

test('a query longer than what is kept runs, and is sent whole again', async () => {
  const query = `{ me { id } } # ${'x'.repeat(20_000)}`;
  expect((await send({ query, ...hashed(query) })).data).toEqual({ me: { id: 'p1' } });
  expect(await isKnown(query)).toBe(false);
});

const version = 1;
test.each<[string, unknown]>([
  ['a number', { version, sha256Hash: 5 }],
  ['too long', { version, sha256Hash: 'a'.repeat(100_000) }],
  ['upper case', { version, sha256Hash: sha256('').toUpperCase() }],
  ['of another version', { version: 2, sha256Hash: sha256('') }],
  ['a text', sha256('')],
])('a hash that is %s is refused with 400', async (_name, persistedQuery) => {
  for (const query of [undefined, '{ me { id } }']) {
    const { status, codes, text } = await send({ query, extensions: { persistedQuery } });
    expect([status, codes]).toEqual([400, ['BAD_REQUEST']]);
    expect(text.length).toBeLessThan(1_000);
  }
  expect(both.upstream.calls()).toEqual([]);
});

test('the store forgets what was asked for longest ago, and never holds more than its bytes', async () => {
  const store = createPersistedQueryStore(undefined);
  const queries = Array.from({ length: 2_000 }, (_, i) => `${i} ${'x'.repeat(16_000)}`);
  for (const query of queries) {
    await store.set(`apq:${sha256(query)}`, query);
    await store.get(`apq:${sha256(queries[0] ?? '')}`);
  }
  const kept = await Promise.all(queries.map((query) => store.get(`apq:${sha256(query)}`)));
  const bytes = kept.reduce((sum, query) => sum + (query?.length ?? 0), 0);
  expect(bytes).toBeLessThanOrEqual(16 * 1_024 * 1_024);
  expect(bytes).toBeGreaterThan(15 * 1_024 * 1_024);
  expect([kept[0], kept[1], kept.at(-1)]).toEqual([queries[0], undefined, queries.at(-1)]);
});

(redisIsInstalled ? test : test.skip)(
  'Redis keeps the 10,000 texts that were used last, and deletes no text that came again',
  async () => {
    const redis = new Redis((await startRedis()).port);
    atEnd(() => redis.disconnect());
    const replica = () => createPersistedQueryStore({ redis, withTimeout: createRedisTimeout(10_000) });
    const keyOf = (text: string) => `apq:${sha256(text)}`;
    const first = replica();
    const register = (texts: string[]) => Promise.all(texts.map((text) => first.set(keyOf(text), text)));
    const isKept = async (text: string) => (await replica().get(keyOf(text))) === text;
    const others = Array.from({ length: 10_000 }, (_, index) => `{ other${index} }`);
    await register(['{ used }', '{ unused }', '{ again }', ...others.slice(0, 1_000)]);
    // A text whose 24 hours are over leaves its entry in the list of all texts.
    await redis.del(keyOf('{ again }'));
    await register(['{ again }']);
    expect(await isKept('{ used }')).toBe(true);
    await register(others.slice(1_000, 9_998));
    expect([await isKept('{ used }'), await isKept('{ again }')]).toEqual([true, true]);
    await register(others.slice(9_998));
    expect(await redis.dbsize()).toBeLessThanOrEqual(10_001);
    expect([await isKept('{ used }'), await isKept('{ again }')]).toEqual([true, true]);
  },
  30_000,
);
