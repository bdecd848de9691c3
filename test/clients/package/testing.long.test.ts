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
import { respond, STATES, type State, type StateResponse } from '@referral-gateway/client/testing';
import { buildSchema, execute, parse } from 'graphql';
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
  async ({ state, text, variables }) => {
    const { status, body } = respond(state, text, variables);
    expect(body.errors ?? []).toEqual((body.errors ?? []).map(() => expect.objectContaining(ERROR)));
    if (status !== 200) return expect(body).not.toHaveProperty('data');
    expect(await problems(text, variables, body)).toEqual([]);
  },
);
const ERROR = { message: expect.any(String), extensions: expect.objectContaining({ code: expect.any(String) }) };

/** What of a response the document or the schema does not allow: it is executed with the response as its source. */
async function problems(text: string, variableValues: object, { data }: GatewayResponse): Promise<unknown> {
  const result = await execute({
    schema,
    document: parse(text),
    rootValue: data,
    variableValues: { ...variableValues },
    fieldResolver: (source, _args, _context, { path }) => source[path.key],
    typeResolver: ({ __typename = 'Player' }) => __typename,
  });
  return JSON.stringify(result.data) === JSON.stringify(data) ? (result.errors ?? []) : [result];
}

/** Responds to an operation as a gateway does. */
async function post(url: string, query: string, variables: object, token?: string) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify({ query, variables }),
  });
  const body: GatewayResponse = JSON.parse(await response.text());
  return { status: response.status, ...outline({ body }) };
}

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
  const track = (playerUniqueId: string, name = 'check_in') => ({ input: { playerUniqueId, events: [{ name }] } });
  const ofDemo = STATES.filter((state) => state.startsWith('demo-'));

  test.each<[State, text: string, variables: Record<string, unknown>]>([
    ...ofDemo.map((state): [State, string, Record<string, unknown>] => [state, SCREEN, { playerUniqueId: state }]),
    ...(['demo-player', 'demo-lost-event', 'demo-event-then-down', 'demo-throttled'] as const).map(
      (state): [State, string, Record<string, unknown>] => [state, String(TrackEventsDocument), track(state)],
    ),
    ['invalid-input', String(TrackEventsDocument), track('demo-player', ' ')],
    ['invalid-input', String(UpsertPlayerDocument), { input: { playerUniqueId: ' ' } }],
    ['invalid-input', String(DeletePlayerDocument), { input: { playerUniqueId: ' ' } }],
  ])('responds as %s', async (state, query, variables) => {
    const { status, ...made } = respond(state, query, variables);
    expect({ status, ...outline(made) }).toEqual(await post(`${demo.url}/graphql`, query, variables));
  });
});

let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  gateway = await startGateway();
}, 60_000);
afterAll(() => gateway?.close());

test.each<[State, token: () => Promise<string> | string, text: string, variables: Record<string, unknown>]>([
  ['expired-token', () => gateway.expired(), String(CouponsDocument), { playerUniqueId: 'p1' }],
  [
    'forbidden',
    () => gateway.token('--sub', 'p1', '--scopes', 'players:read referrals:read'),
    String(MobileScreenDocument),
    { playerUniqueId: 'p1' },
  ],
  [
    'forbidden',
    () => gateway.token('--sub', 'p1', '--scopes', 'players:read coupons:read'),
    String(TrackEventsDocument),
    { input: { playerUniqueId: 'p1', events: [{ name: 'open_app' }] } },
  ],
])('%s is what the gateway responds', async (state, token, query, variables) => {
  const real = await post(gateway.uri, query, variables, await token());
  const { status, ...made } = respond(state, query, variables);
  const { lengths: _, ...shape } = outline(made);
  expect({ status, ...shape }).toEqual({ status: real.status, missing: real.missing, errors: real.errors });
});

test('rate-limited is what the gateway responds', async () => {
  const limited = await startGateway({ MAX_OPERATIONS_BURST: '1', MAX_OPERATIONS_PER_SECOND: '1' });
  const limitedToken = await limited.token('--sub', 'p1', '--recipe', 'phone-app');
  const responses = await Promise.all(
    [1, 2, 3].map(() =>
      fetch(limited.uri, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${limitedToken}` },
        body: JSON.stringify({ query: '{ me { id } }' }),
      }),
    ),
  );
  const refused = responses.find(({ status }) => status !== 200);
  const body: GatewayResponse = JSON.parse((await refused?.text()) ?? '{}');
  const made = respond('rate-limited', '{ me { id } }');
  const { errors } = outline(made);
  expect(made.status).toBe(refused?.status);
  // A window's rest.
  expect(outline({ body }).errors).toEqual(errors?.map((error) => ({ ...error, retryAfterMs: expect.any(Number) })));
  expect(made.headers['retry-after']).toBe(refused?.headers.get('retry-after'));
  await limited.close();
});

/** What a program can tell of a response: the parts that are null, how many there are, and what its errors say. */
function outline({ body }: Pick<StateResponse<unknown>, 'body'>) {
  const text = JSON.stringify(body.data ?? null);
  const numbers = /"(?:total\w*|count)":\d+|"is(?:Used|Expired)":true|"userErrors":\[[^\]]+\]|"id":null/g;
  return {
    lengths: [text.match(/"isUsed"/g)?.length, ...(text.match(numbers) ?? []).sort()],
    missing: ['player', 'coupons', 'referredFriends', 'trackEvents'].filter((name) => text.includes(`"${name}":null`)),
    errors: body.errors?.map(({ path, extensions: { code, retryable, outcome, retryAfterMs } = {} }) => ({
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
