/* Operations of every kind, whose CPU time per charged unit `npm run bench:cost` measures. */
import { LENGTHS } from './upstream.mjs';
import { WORKLOADS } from './workloads.mjs';

const profile = 'id referralLink attributes { displayName firstName lastName email }';
const all =
  'id referralLink attributes { displayName firstName lastName mobile gender email dateOfBirth joinDate tags country city zip totalSpent totalOrders lastOrderDate avgOrderAmount custom }';
const coupon =
  'id code isUsed value currency couponType startAt endAt isExpired creationDate product { productId productName } collections { collectionId collectionName } group { handle title url startDate expiryDate } options { minOrderValue capping platforms combinesWith { orderDiscounts } }';
const friend = 'id playerUniqueId displayName email mobileNumber joinDate status';
const times = (count, write) => Array.from({ length: count }, (_, n) => write(n)).join(' ');
const ids = (count) => Array.from({ length: count }, (_, n) => `p${n}`);
const one = (selection) => `query ($id: ID!) { player(playerUniqueId: $id) { ${selection} } }`;
const many = (selection) => `query ($ids: [ID!]!) { players(playerUniqueIds: $ids) { ${selection} } }`;
const events = (count, nameOf) => Array.from({ length: count }, (_, n) => ({ name: nameOf(n) }));
const track = 'mutation ($input: TrackEventsInput!) { trackEvents(input: $input) { eventNames userErrors { code } } }';
const reports = `mutation ($input: TrackEventsInput!) { ${times(20, (n) => `r${n}: trackEvents(input: $input) { eventNames }`)} }`;
const upsert = 'mutation ($input: UpsertPlayerInput!) { upsertPlayer(input: $input) { userErrors { code field } } }';
const report = (list) => ({ input: { playerUniqueId: 'p1', events: list } });
const members = (count, value) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`m${n}`, value]));
const text = (length) => 'x'.repeat(length);
/** Fragments that spread the next one twice: 2^depth fields. */
const doubled = (depth) =>
  times(depth, (n) => `fragment F${n} on Player { ${n + 1 < depth ? `...F${n + 1} a${n}: id ...F${n + 1}` : 'id'} }`);

/** A selection of a player under 30 names. */
const named = (field, selection = '') =>
  selection
    ? `query ($id: ID!) { player(playerUniqueId: $id) { ${times(30, (n) => `a${n}: ${field} { ...S }`)} } } fragment S on Coupon { ${selection} }`
    : one(times(30, (n) => `a${n}: ${field}`));
const LISTS = {
  ' coupons': ['many', one(`coupons { ${coupon} }`)],
  ' coupons, 30 times': ['many', named('coupons', 'code value currency isUsed startAt endAt creationDate')],
  ' codes of coupons, 30 times': ['many', named('coupons', 'code')],
  ' tags, 30 times': ['tags', one(`attributes { ${times(30, (n) => `a${n}: tags`)} }`)],
  ' collections, 30 times': [
    'wide',
    one(`coupons { ${times(30, (n) => `a${n}: collections { collectionId collectionName }`)} }`),
  ],
  ' platforms, 30 times': ['wide', one(`coupons { options { ${times(30, (n) => `a${n}: platforms`)} } }`)],
};
/** Lists that are longer than their field assumes. */
const lists = Object.entries(LISTS).flatMap(([name, [kind, query]]) =>
  LENGTHS.map((length) => [`${length}${name}`, { query, variables: { id: `${kind}-${length}` } }]),
);

/**
 * By name: the query, its variables and the token (`all` may do everything, `own` only read its own player, without contacts).
 * `body` replaces the whole request.
 */
export const SHAPES = {
  'no field of a player': { query: '{ __typename }' },
  ...Object.fromEntries(Object.entries(WORKLOADS).map(([name, query]) => [name, { query, variables: { id: 'p1' } }])),
  'the own player': { query: '{ me { id } }' },
  'a player with everything': {
    query: one(`${all} coupons { ${coupon} } referredFriends { total nodes { ${friend} } }`),
  },
  'all coupons': { query: one(`coupons { ${coupon} }`) },
  'coupons that can be used': { query: one('coupons(filter: { usableNow: true, isUsed: false }) { code }') },
  '30 aliases of one attribute': { query: one(`attributes { ${times(30, (n) => `a${n}: displayName`)} }`) },
  '20 aliases of a player': {
    query: `{ ${times(20, (n) => `a${n}: player(playerUniqueId: "p${n}") { ${profile} }`)} }`,
  },
  '20 aliases of one player': { query: `{ ${times(20, (n) => `a${n}: player(playerUniqueId: "p1") { ${all} }`)} }` },
  'fragments in fragments': {
    query: `${one('...F0')} ${times(8, (n) => `fragment F${n} on Player { id ${n < 7 ? `...F${n + 1}` : profile} }`)}`,
  },
  'fragments that double': { query: `${one('...F0')} ${doubled(9)}` },
  'inline fragments': { query: one(times(20, () => `... on Player { ${profile} }`)) },
  'directives with a variable': {
    query: `query ($id: ID!, $yes: Boolean!) { player(playerUniqueId: $id) { id attributes { ${times(30, () => 'displayName @include(if: $yes) @skip(if: false)')} } } }`,
    variables: { id: 'p1', yes: true },
  },
  'a node': { query: 'query ($id: ID!) { node(id: $id) { id ... on Player { attributes { displayName } } } }' },
  '50 players': { query: many(profile), variables: { ids: ids(50) } },
  '200 players, ids alone': {
    query: `{ ${times(4, (n) => `a${n}: players(playerUniqueIds: ${JSON.stringify(ids(200).slice(50 * n, 50 * n + 50))}) { id }`)} }`,
  },
  '30 pages of friends': {
    query: `{ me { ${times(30, (n) => `p${n}: referredFriends(page: ${1 + n * 40}, limit: 3) { count }`)} } }`,
  },
  '45 pages of 45 players': { query: many('referredFriends(limit: 1) { total }'), variables: { ids: ids(45) } },
  '50 players, coupons': { query: many('id coupons { code value }'), variables: { ids: ids(50) } },
  '50 players, 50 friends each': {
    query: many('id referredFriends(limit: 50) { total }'),
    variables: { ids: ids(50) },
  },
  'one player 50 times': { query: many(all), variables: { ids: Array(50).fill('p1') } },
  'page 3': { query: one(`referredFriends(page: 3, limit: 50) { total hasNextPage nodes { ${friend} } }`) },
  '200 friends with everything': { query: one(`referredFriends(limit: 200) { total nodes { ${friend} } }`) },
  'a connection of 200': {
    query: one(
      `referredFriendsConnection(first: 200) { totalCount pageInfo { endCursor } edges { cursor node { ${friend} } } }`,
    ),
  },
  '30 cursors of deleted friends': {
    query: `{ me { ${times(30, (n) => `c${n}: referredFriendsConnection(first: 1, after: "${Buffer.from(JSON.stringify([200 * n + 199, 'gone', 100_000])).toString('base64url')}") { totalCount }`)} } }`,
  },
  "20 friends' players": {
    query: one('referredFriends(limit: 20) { nodes { player { attributes { displayName } } } }'),
  },
  'contacts of 200 friends, not allowed': {
    query: one('referredFriends(limit: 200) { nodes { email mobileNumber } }'),
    variables: { id: 'own' },
    token: 'own',
  },
  '50 players, not allowed': { query: many('id attributes { email }'), variables: { ids: ids(50) }, token: 'own' },
  'no query': { body: '{}' },
  'a batch': { body: JSON.stringify(Array(100).fill({ query: '{ me { id } }' })) },
  'no JSON of 100 KB': { body: `{"query":"${text(100_000)}` },
  'a number that is not exact': { query: one('id'), variables: { id: 2 ** 53 } },
  'an unknown hash': {
    body: JSON.stringify({ extensions: { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } } }),
  },
  'a syntax error': { query: '{ player(playerUniqueId: ' },
  'an unknown field': { query: one('nothing') },
  '100 rejected fields': { query: one(times(100, (n) => `nothing${n}`)) },
  '15,500 lines and 100 rejected fields': { query: `${'\n'.repeat(15_500)}${one(times(100, (n) => `nothing${n}`))}` },
  'a document over the tokens': { query: one(times(6_000, () => 'id')) },
  'too deep': { query: one(`${times(20, () => 'referredFriends { nodes { player {')} id ${'} } }'.repeat(20)}`) },
  'too complex': {
    query: many(`referredFriends(limit: 200) { nodes { player { ${all} coupons { ${coupon} } } } }`),
    variables: { ids: ids(50) },
  },
  'a list of 130,000 items': { query: many('id'), variables: { ids: Array(130_000).fill('p') } },
  'a wrong variable': { query: one('id'), variables: { id: { a: 1 } } },
  'a missing variable': { query: one('id'), variables: {} },
  '9,900 variables that are not used': { query: '{ __typename }', variables: members(9_900, 1) },
  introspection: { query: '{ __schema { types { name fields { name type { name } } } } }' },
  'one event': { query: track, variables: report(events(1, () => 'share')) },
  '500 events': { query: track, variables: report(events(500, (n) => `event_${n}`)) },
  '20 reports of 330 names, not allowed': {
    query: reports,
    variables: report(events(330, (n) => `event_${n}`)),
    token: 'own',
  },
  '20 reports of 330 equal names': { query: reports, variables: report(events(330, () => 'share')) },
  'an upsert': {
    query: upsert,
    variables: { input: { playerUniqueId: 'p1', attributes: { displayName: 'A', tags: ['b'] } } },
  },
  '20 upserts': {
    query: `mutation ($input: UpsertPlayerInput!) { ${times(20, (n) => `u${n}: upsertPlayer(input: $input) { serviceId }`)} }`,
    variables: { input: { playerUniqueId: 'p1', attributes: { displayName: 'A' } } },
  },
  'an upsert with long texts': {
    query: upsert,
    variables: {
      input: { playerUniqueId: 'p1', attributes: { displayName: text(2_000), custom: { text: text(20_000) } } },
    },
  },
  '30 upserts of 9,900 invalid members': {
    query: `mutation ($input: UpsertPlayerInput!) { ${times(30, (n) => `u${n}: upsertPlayer(input: $input) { serviceId }`)} }`,
    variables: { input: { playerUniqueId: 'p1', attributes: { custom: members(9_900, true) } } },
  },
  '30 upserts of 9,900 members': {
    query: `mutation ($input: UpsertPlayerInput!) { ${times(30, (n) => `u${n}: upsertPlayer(input: $input) { serviceId }`)} }`,
    variables: { input: { playerUniqueId: 'p1', attributes: { custom: members(9_900, 1) } } },
  },
  '30 upserts of 1,400 members': {
    query: `mutation ($input: UpsertPlayerInput!) { ${times(30, (n) => `u${n}: upsertPlayer(input: $input) { serviceId }`)} }`,
    variables: { input: { playerUniqueId: 'p1', attributes: { custom: members(1_400, 1) } } },
  },
  '20 reports of 9,900 invalid members': {
    query: reports,
    variables: report([{ name: 'share', metadata: members(9_900, true) }]),
  },
  '20 reports of 9,900 members': {
    query: reports,
    variables: report([{ name: 'share', metadata: members(9_900, 1) }]),
  },
  'one report of 9,900 members': { query: track, variables: report([{ name: 'share', metadata: members(9_900, 1) }]) },
  ...Object.fromEntries(lists),
  'all of the schema 30 times': {
    query: `{ ${times(30, (n) => `s${n}: __schema { ...S }`)} } fragment S on __Schema { types { name description fields { name description args { name description } } inputFields { name } enumValues { name } } }`,
  },
};
