import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import {
  CouponsDocument,
  DeletePlayerDocument,
  type GatewayResponse,
  MobileScreenDocument,
  TrackEventsDocument,
  UpsertPlayerDocument,
} from '@referral-gateway/client';
import { respond, STATES, type State } from '@referral-gateway/client/testing';
import { buildSchema, executeSync, parse } from 'graphql';
import { startDemo } from '../../kit/demo.ts';
import { post } from '../../kit/post.ts';
import { EXPIRED, ME, runScript, startRecorded, tokenOf } from '../kit.ts';

/* The responses of /testing: valid for the schema, and those of a gateway. */

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const schema = buildSchema(read('src/generated/schema.graphql'));
const files = readdirSync(new URL('../../../schema/operations/', import.meta.url));
const examples = files
  .filter((name) => name.endsWith('.graphql'))
  .map((name) => {
    const variables = name.replace('.graphql', '.json');
    const given = files.includes(variables) ? JSON.parse(read(`schema/operations/${variables}`)) : {};
    return { name, text: read(`schema/operations/${name}`), variables: given };
  });
const demo = await startDemo();
const { gateway } = await startRecorded({ MAX_OPERATIONS_BURST: '1', MAX_OPERATIONS_PER_SECOND: '1' });

test('the package has correct types, with every library', () => runScript('', 'types:package'));
test('the test has correct types', () => runScript('package', 'types'));

test.each(STATES)('%s has every field of each example, of the right type', (state) => {
  for (const { name, text, variables } of examples) {
    const { status, body } = respond(state, text, variables);
    for (const { message, extensions } of body.errors ?? []) {
      expect([typeof message, typeof extensions?.['code']]).toEqual(['string', 'string']);
    }
    expect(body.data === undefined).toBe(status !== 200);
    if (status !== 200) continue;
    // What the document or the schema does not allow: the response is the source of another execution.
    const { data, errors } = executeSync({
      schema,
      document: parse(text),
      rootValue: body.data,
      variableValues: variables,
      fieldResolver: (source, _args, _context, { path }) => source[path.key],
      typeResolver: ({ __typename = 'Player' }) => __typename,
    });
    expect([name, errors, JSON.stringify(data)]).toEqual([name, undefined, JSON.stringify(body.data)]);
  }
});

test('a document that the schema does not allow is an error', () => {
  expect(() => respond('demo-player', '{ me { nothing } }')).toThrow('nothing');
});

/** What a program can tell of a response: the parts that are null, how many there are, and what its errors say. */
function outline(
  status: number,
  retryAfter: string | null = null,
  { data = null, errors = [] }: GatewayResponse<unknown>,
) {
  const text = JSON.stringify(data);
  const numbers = /"(?:total\w*|count)":\d+|"is(?:Used|Expired)":true|"userErrors":\[[^\]]+\]|"id":null/g;
  return {
    status,
    retryAfter,
    lengths: [text.match(/"isUsed"/g)?.length, ...(text.match(numbers) ?? []).sort()],
    missing: ['player', 'coupons', 'referredFriends', 'trackEvents'].filter((name) => text.includes(`"${name}":null`)),
    errors: errors.map(({ path, extensions: { code, retryable, outcome, retryAfterMs } = {} }) => ({
      ...{ path, code, retryable, outcome, retryAfterMs },
    })),
  };
}
async function real(url: string, query: string, variables: object, token?: string) {
  const headers = token && { authorization: `Bearer ${token}` };
  const response = await post(url, { query, variables }, headers || {});
  return outline(response.status, response.headers.get('retry-after'), response);
}
function made(state: State, query: string, variables: object) {
  const { status, headers, body } = respond(state, query, { ...variables });
  return outline(status, headers['retry-after'], body);
}

const track = (playerUniqueId: string, name = 'check_in') => ({ input: { playerUniqueId, events: [{ name }] } });
const [TRACK, BLANK] = [String(TrackEventsDocument), { input: { playerUniqueId: ' ' } }];
const TRACK_WITH_FRAGMENT = `mutation ($input: TrackEventsInput!) { trackEvents(input: $input) { player { ...Name } } }
fragment Name on Player { id attributes { displayName } }`;
const TRACK_WITH_FRIENDS = `mutation ($input: TrackEventsInput!) {
  trackEvents(input: $input) { player { id referredFriends { nodes { player { attributes { displayName } } } } } }
}`;
const SCREEN = `query Screen($playerUniqueId: ID!) {
  player(playerUniqueId: $playerUniqueId) {
    id attributes { displayName } coupons { id isUsed isExpired } referredFriends { total totalActive totalPending count hasNextPage }
  }
}`;
type Row = [State, text: string, variables: object];

test.each<Row>([
  ...STATES.filter((state) => state.startsWith('demo-')).map((id): Row => [id, SCREEN, { playerUniqueId: id }]),
  ...(['demo-player', 'demo-no-coupons', 'demo-lost-event', 'demo-event-then-down', 'demo-throttled'] as const).map(
    (id): Row => [id, TRACK, track(id)],
  ),
  ['demo-throttled', '{ player(playerUniqueId: "demo-throttled") { id coupons { id } } }', {}],
  ['demo-throttled', '{ players(playerUniqueIds: ["demo-throttled", "demo-throttled"]) { id } }', {}],
  [
    'demo-throttled',
    '{ players(playerUniqueIds: ["demo-throttled"]) { ...on Player { referredFriends { total } } } }',
    {},
  ],
  ['demo-event-then-down', TRACK_WITH_FRAGMENT, track('demo-event-then-down')],
  ['demo-event-then-down', TRACK_WITH_FRIENDS, track('demo-event-then-down')],
  ['invalid-input', TRACK, track('demo-player', ' ')],
  ['invalid-input', String(UpsertPlayerDocument), BLANK],
  ['invalid-input', String(DeletePlayerDocument), BLANK],
])('the demo responds as %s', async (state, query, variables) => {
  expect(made(state, query, variables)).toEqual(await real(demo.url, query, variables));
});

test.each<[...Row, token: string]>([
  ['expired-token', String(CouponsDocument), ME, EXPIRED],
  ['forbidden', String(MobileScreenDocument), ME, tokenOf({ scope: 'players:read referrals:read' })],
  ['forbidden', TRACK, track('p2'), tokenOf({ sub: 'p2', scope: 'players:read coupons:read' })],
])('a gateway with tokens responds as %s', async (state, query, variables, token) => {
  const { lengths } = made(state, query, variables);
  expect(made(state, query, variables)).toEqual({ ...(await real(gateway.url, query, variables, token)), lengths });
});

test('a gateway with limits responds as rate-limited', async () => {
  const ask = () => real(gateway.url, '{ me { id } }', {}, tokenOf({ scope: 'players:read' }));
  const responses = await Promise.all([ask(), ask(), ask()]);
  const expected = made('rate-limited', '{ me { id } }', {});
  // The rest of a window.
  const errors = expected.errors.map((error) => ({ ...error, retryAfterMs: expect.any(Number) }));
  expect(responses.find(({ status }) => status !== 200)).toEqual({ ...expected, errors });
});
