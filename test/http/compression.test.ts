import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startBoth } from '../kit/gateway.ts';

/* A phone on a slow network gets its screen compressed, when it says that it takes that. */
let both: Awaited<ReturnType<typeof startBoth>>;
beforeAll(async () => {
  both = await startBoth();
});
afterAll(() => both.close());

const SCREEN = JSON.stringify({
  query:
    '{ player(playerUniqueId: "p1") { coupons { code group { title } } referredFriends(limit: 50) { nodes { displayName } } } }',
});

async function ask(encoding: string, body = SCREEN) {
  const headers = { 'content-type': 'application/json', 'accept-encoding': encoding };
  const response = await fetch(`${both.gateway.url}/graphql`, { method: 'POST', headers, body });
  return {
    encoding: response.headers.get('content-encoding'),
    vary: response.headers.get('vary'),
    text: await response.text(),
  };
}

test('a large answer is compressed for a client that takes gzip, and is the same', async () => {
  const compressed = await ask('gzip');
  const plain = await ask('identity');
  expect([compressed.encoding, plain.encoding]).toEqual(['gzip', null]);
  expect(compressed.vary).toContain('accept-encoding');
  expect(JSON.parse(compressed.text).data).toEqual(JSON.parse(plain.text).data);
});

test('a small answer and a client that takes no gzip stay plain', async () => {
  expect((await ask('gzip', JSON.stringify({ query: '{ __typename }' }))).encoding).toBeNull();
  expect((await ask('br')).encoding).toBeNull();
});
