import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  CouponsDocument,
  createClient,
  DeletePlayerDocument,
  type GatewayResponse,
  MobileScreenDocument,
  TrackEventsDocument,
  UpsertPlayerDocument,
} from '@referral-gateway/client';
import { respond, STATES, type State } from '@referral-gateway/client/testing';
import { buildSchema, executeSync, parse } from 'graphql';
import { runScript, startDemo, startGateway } from '../kit.ts';

/* The responses of /testing: valid for the schema, and those of the built gateway. */

const file = createRequire(import.meta.url).resolve('@referral-gateway/client/schema.graphql');
const schema = buildSchema(readFileSync(file, 'utf8'));
const EXAMPLES = new URL('../../../schema/operations/', import.meta.url);
const examples = readdirSync(EXAMPLES)
  .filter((name) => name.endsWith('.graphql'))
  .map((name) => {
    const variables = new URL(name.replace('.graphql', '.json'), EXAMPLES);
    const json = /09|10|11/.test(name) ? JSON.parse(readFileSync(variables, 'utf8')) : {};
    return { name, text: readFileSync(new URL(name, EXAMPLES), 'utf8'), variables: json };
  });

test('the package has correct types, with every library', () => runScript('', 'types:package'), 60_000);
test('the test has correct types', () => runScript('package', 'types'), 60_000);

test.each(STATES.flatMap((state) => examples.map((example) => ({ state, ...example }))))(
  '$state: $name has every field of the document, of the right type',
  ({ state, text, variables }) => {
    const { status, body } = respond(state, text, variables);
    for (const error of body.errors ?? [])
      expect([typeof error.message, typeof error.extensions?.['code']]).toEqual(['string', 'string']);
    if (status !== 200) return expect(body).not.toHaveProperty('data');
    // What the document or the schema does not allow: the response is the source of another execution.
    const { data, errors } = executeSync({
      schema,
      document: parse(text),
      rootValue: body.data,
      variableValues: { ...variables },
      fieldResolver: (source, _args, _context, { path }) => source[path.key],
      typeResolver: ({ __typename = 'Player' }) => __typename,
    });
    expect([errors, JSON.stringify(data)]).toEqual([undefined, JSON.stringify(body.data)]);
  },
);

/** The status of a real response to an operation, and what a program can tell of it. */
async function post(uri: string, query: string, variables: object, token?: string) {
  const response = await fetch(uri, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify({ query, variables }),
  });
  const retryAfter = response.headers.get('retry-after') ?? undefined;
  return { status: response.status, retryAfter, ...outline(JSON.parse(await response.text())) };
}
/** The same of a response of /testing. */
function made(state: State, query: string, variables: object) {
  const { status, headers, body } = respond(state, query, { ...variables });
  return { status, retryAfter: headers['retry-after'], ...outline(body) };
}

const track = (playerUniqueId: string, name = 'check_in') => ({ input: { playerUniqueId, events: [{ name }] } });
const [TRACK, BLANK] = [String(TrackEventsDocument), { input: { playerUniqueId: ' ' } }];

describe('the demo of `npm start`', () => {
  let demo: Awaited<ReturnType<typeof startDemo>>;
  beforeAll(async () => {
    demo = await startDemo();
  }, 60_000);
  afterAll(() => demo?.stop());

  const SCREEN = `query Screen($playerUniqueId: ID!) {
    player(playerUniqueId: $playerUniqueId) {
      id attributes { displayName } coupons { id isUsed isExpired } referredFriends { total totalActive totalPending count hasNextPage }
    }
  }`;
  type Row = [State, text: string, variables: object];

  test.each<Row>([
    ...STATES.filter((state) => state.startsWith('demo-')).map((id): Row => [id, SCREEN, { playerUniqueId: id }]),
    ...(['demo-player', 'demo-lost-event', 'demo-event-then-down', 'demo-throttled'] as const).map(
      (id): Row => [id, TRACK, track(id)],
    ),
    ['invalid-input', TRACK, track('demo-player', ' ')],
    ['invalid-input', String(UpsertPlayerDocument), BLANK],
    ['invalid-input', String(DeletePlayerDocument), BLANK],
  ])('responds as %s', async (state, query, variables) => {
    expect(made(state, query, variables)).toEqual(await post(demo.uri, query, variables));
  });
});

describe('a gateway with tokens', () => {
  let gateway: Awaited<ReturnType<typeof startGateway>>;
  beforeAll(async () => {
    gateway = await startGateway({ MAX_OPERATIONS_BURST: '1', MAX_OPERATIONS_PER_SECOND: '1' });
  }, 60_000);
  afterAll(() => gateway?.close());
  const P1 = { playerUniqueId: 'p1' };
  const tokenFor = (scopes: string) => gateway.token('--sub', `p${scopes.length}`, '--scopes', scopes);

  test.each<[State, token: () => Promise<string> | string, text: string, variables: object]>([
    ['expired-token', () => gateway.expired(), String(CouponsDocument), P1],
    ['forbidden', () => tokenFor('players:read referrals:read any-player'), String(MobileScreenDocument), P1],
    ['forbidden', () => tokenFor('players:read coupons:read any-player'), TRACK, track('p1')],
  ])('responds as %s', async (state, token, query, variables) => {
    const { lengths: _, ...real } = await post(gateway.uri, query, variables, await token());
    const { lengths: __, ...shape } = made(state, query, variables);
    expect(shape).toEqual(real);
  });

  test('responds as rate-limited', async () => {
    const token = await gateway.token();
    const responses = await Promise.all([1, 2, 3].map(() => post(gateway.uri, '{ me { id } }', {}, token)));
    const refused = responses.find(({ status }) => status !== 200);
    // A window's rest.
    const { errors, ...expected } = made('rate-limited', '{ me { id } }', {});
    const waiting = errors?.map((error) => ({ ...error, retryAfterMs: expect.any(Number) }));
    expect(refused).toEqual({ ...expected, errors: waiting });
  });
});

/** What a program can tell of a response: the parts that are null, how many there are, and what its errors say. */
function outline({ data = null, errors }: GatewayResponse<unknown>) {
  const text = JSON.stringify(data);
  const numbers = /"(?:total\w*|count)":\d+|"is(?:Used|Expired)":true|"userErrors":\[[^\]]+\]|"id":null/g;
  return {
    lengths: [text.match(/"isUsed"/g)?.length, ...(text.match(numbers) ?? []).sort()],
    missing: ['player', 'coupons', 'referredFriends', 'trackEvents'].filter((name) => text.includes(`"${name}":null`)),
    errors: errors?.map(({ path, extensions: { code, retryable, outcome, retryAfterMs } = {} }) => ({
      path,
      code,
      retryable,
      outcome,
      retryAfterMs,
    })),
  };
}

test('a document that the schema does not allow is an error; createClient takes the responses', async () => {
  expect(() => respond('demo-player', '{ me { nothing } }')).toThrow('nothing');
  const fetch = async (_url: unknown, init?: RequestInit) => {
    const { query, variables } = JSON.parse(String(init?.body));
    const { body, status, headers } = respond('demo-slow-coupons', query, variables);
    return Response.json(body, { status, headers });
  };
  const { data, errors } = await createClient({ url: 'https://gateway.example', fetch }).request(MobileScreenDocument);
  expect(data.player?.attributes?.displayName).toBe('Demo Player');
  expect(errors).toMatchObject([{ code: 'UPSTREAM_TIMEOUT', path: ['player', 'coupons'] }]);
});
