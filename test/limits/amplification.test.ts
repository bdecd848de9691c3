/* What a client can make long, or repeat, without adding to the complexity of its operation. */
import { describe, expect, jest, test } from '@jest/globals';
import { player, startWithCallers } from '../kit/callers.ts';

const LARGEST = 4 * 1_024 * 1_024;
/** May not read contacts of friends. */
const walker = player('p1', 'players:read', 'referrals:read');
/** One window of limits for the whole file. */
const limits = { MAX_OPERATIONS_PER_SECOND: '1', MAX_OPERATIONS_BURST: '10000' };
const all = await startWithCallers({ NODE_ENV: 'production', ...limits }, { friends: 200 });

/** The longest text that `JSON.stringify` returns while `work` is done. */
async function longestText(work: () => Promise<unknown>): Promise<number> {
  const made = jest.spyOn(JSON, 'stringify');
  await work();
  const longest = Math.max(...made.mock.results.map(({ value }) => String(value).length));
  made.mockRestore();
  return longest;
}

describe('fields of friends without authorization', () => {
  test('create one error for all friends', async () => {
    const created = jest.spyOn(Error, 'captureStackTrace');
    const { errors } = await all.as(walker, '{ me { referredFriends(limit: 200) { nodes { email } } } }');
    const count = created.mock.calls.filter(([error]) => Object(error).code === 'FORBIDDEN').length;
    created.mockRestore();
    expect(errors).toHaveLength(101);
    expect(errors.slice(0, 100).map(({ path }) => path?.[3])).toEqual(Array.from({ length: 100 }, (_, at) => at));
    expect(count).toBeLessThanOrEqual(1);
  });

  test('below an alias of 100,000 characters are no response of 10 MB: its text is never made', async () => {
    const query = `{ me { ${'a'.repeat(100_000)}: referredFriends(limit: 200) { nodes { email } } } }`;
    const longest = await longestText(async () => {
      const { data, errors } = await all.as(walker, query);
      expect({ data, errors }).toMatchObject({
        data: null,
        errors: [{ extensions: { code: 'OPERATION_TOO_COMPLEX', limit: 'response' } }],
      });
    });
    expect(longest).toBeLessThan(LARGEST);
  });
});

test('a response of three million characters consumes twelve units more', async () => {
  const left = async (alias: string) => {
    const query = `{ me { referredFriends(limit: 200) { nodes { ${alias}: displayName } } } }`;
    const { headers, text } = await all.as(walker, query);
    return { units: Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]), length: text.length };
  };
  const before = await left('short');
  const after = await left('a'.repeat(15_000));
  expect(after.length).toBeGreaterThan(3_000_000);
  expect(before.units - after.units).toBe(13);
});

test('of a cursor of 200,000 characters, the beginning alone is read', async () => {
  const server = player('p1', 'players:read', 'referrals:read', 'any-player');
  const query =
    'query ($after: String) { player(playerUniqueId: "p1") { referredFriendsConnection(after: $after) { totalCount } } }';
  const parsed = jest.spyOn(JSON, 'parse');
  const { codes } = await all.as(server, query, { after: Buffer.from('['.repeat(150_000)).toString('base64url') });
  const lengths = parsed.mock.calls.map(([text]) => String(text)).filter((text) => text.startsWith('[['));
  parsed.mockRestore();
  expect(codes).toEqual(['BAD_USER_INPUT']);
  expect(lengths).not.toEqual([]);
  expect(Math.max(...lengths.map(({ length }) => length))).toBeLessThan(2_048);
});
