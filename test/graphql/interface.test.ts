import { beforeEach, expect, test } from '@jest/globals';
import { startBoth } from '../kit/gateway.ts';
import { attributes, coupons, friend } from '../kit/upstream-data.ts';

/*
 * Every property of the interface document, and where it arrives in GraphQL: what is read, compared with the JSON of the
 * scripted service; what is written, by the body that the service received.
 */
const both = await startBoth();
beforeEach(() => both.upstream.forget());

type Row = Record<string, unknown>;
const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value);
const camelCase = (name: string) => name.charAt(0).toLowerCase() + name.slice(1);

/** The selection of every property of a JSON object, in camelCase. */
const selectionOf = (row: Row): string =>
  Object.entries(row)
    .map(([name, value]) => {
      const inner = Array.isArray(value) ? value[0] : value;
      return `${camelCase(name)}${isRow(inner) && name !== 'custom' ? ` { ${selectionOf(inner)} }` : ''}`;
    })
    .join(' ');

/** The same in GraphQL: camelCase, ids as text, enum values in upper case. */
const inGraphQL = (value: unknown, name = ''): unknown => {
  if (/^(?:product|variant|collection)Id$/i.test(name)) return String(value);
  if (name === 'couponType' || name === 'status') return String(value).toUpperCase();
  if (Array.isArray(value)) return value.map((item) => inGraphQL(item));
  if (!isRow(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [camelCase(key), inGraphQL(one, key)]));
};

async function send(operation: string, variables?: Row) {
  const { data, errors } = await both.gateway.query(operation, variables);
  expect(errors).toEqual([]);
  return data;
}
const read = async (selection: string) => (await send(`{ player(playerUniqueId: "p1") { ${selection} } }`)).player;

test('every property of a player is read', async () => {
  const player = await read(`playerUniqueId referralLink attributes { ${selectionOf(attributes('p1'))} }`);
  const all = { ...attributes('p1'), tags: ['vip', 'early bird'] };
  expect(player).toEqual({ playerUniqueId: 'p1', referralLink: 'https://refer.example/r/p1', attributes: all });
});

test('every property of a coupon is read', async () => {
  const all = coupons('p1');
  const withProduct = all.find(({ product }) => product) ?? {};
  const player = await read(`coupons { ${selectionOf(withProduct)} }`);
  expect(player.coupons).toEqual(all.map((coupon) => inGraphQL({ product: null, ...coupon })));
});

test('every property of a page of referrals is read', async () => {
  const page = 'count total totalPending totalActive page limit hasNextPage';
  const player = await read(`referredFriends(page: 2, limit: 20) { ${page} nodes { ${selectionOf(friend(1))} } }`);
  const totals = { count: 20, total: 60, totalPending: 40, totalActive: 20, page: 2, limit: 20, hasNextPage: true };
  const nodes = Array.from({ length: 20 }, (_, index) => inGraphQL(friend(21 + index)));
  expect(player.referredFriends).toEqual({ ...totals, nodes });
});

/** Responses are decoded by what an operation selects. */
test.each([
  ['attributes', 'attributes', selectionOf(attributes('p1'))],
  ['coupons', 'coupons', `id ${selectionOf(coupons('p1').find(({ product }) => product) ?? {})}`],
  ['friends', 'referredFriends { nodes', `id ${selectionOf(friend(1))} player { id }`],
  ['edges', 'referredFriendsConnection { edges', 'cursor node { displayName }'],
])('each property of the %s is the same without the others', async (_what, field, all) => {
  const fields = all.match(/\w+(?: \{[^{}]*(?:\{[^{}]*\}[^{}]*)?\})?/g) ?? [];
  const select = (selection: string) => read(`${field} { ${selection} }${field.includes('{') ? ' }' : ''}`);
  const whole = await select(all);
  for (const one of fields) expect(whole).toMatchObject(await select(one));
});

test('every property of the create request is written, and every property of its response read', async () => {
  const { dateOfBirth: _, tags, city: __, ...rest } = attributes('p1');
  const playerUniqueId = 'new player/1';
  const given = { ...rest, dateOfBirth: '1990-12-10T01:00:00+01:00', tags: [' vip ', 'early bird'], city: null };
  const input = { playerUniqueId, device: { token: 'fcm-token', osType: 'android' }, attributes: given };
  const payload = '{ serviceId player { playerUniqueId referralLink } userErrors { code } }';
  const mutation = `mutation ($input: UpsertPlayerInput!) { upsertPlayer(input: $input) ${payload} }`;
  const data = await send(mutation, { input });
  const player = { playerUniqueId, referralLink: 'https://refer.example/r/new player/1' };
  expect(data.upsertPlayer).toEqual({ serviceId: 'service-new player/1', player, userErrors: [] });
  const playerAttributes = { ...rest, dateOfBirth: '1990-12-10T00:00:00.000Z', tags };
  const body = { playerUniqueId, deviceToken: 'fcm-token', osType: 'android', playerAttributes };
  expect(both.upstream.requests[0]?.body).toEqual(body);
});

test('events are sent as a map from name to metadata, from literals and from variables', async () => {
  await send(
    `mutation ($amount: EventMetadata, $category: String, $absent: String) {
      trackEvents(input: { playerUniqueId: "p1", events: [
        { name: "place_order", metadata: { amount: 49.9, categories: ["toys", $category], note: "gift", to: $absent } }
        { name: "visit", metadata: $amount }
        { name: "login" }
      ] }) { eventNames }
    }`,
    { amount: { pages: [1, 2], from: 'mail' }, category: 'books' },
  );
  const place_order = { amount: 49.9, categories: ['toys', 'books'], note: 'gift' };
  const events = { place_order, visit: { pages: [1, 2], from: 'mail' }, login: {} };
  expect(both.upstream.requests[0]?.body).toEqual({ playerUniqueId: 'p1', events });
});
