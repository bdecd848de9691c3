import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import {
  CouponsDocument,
  createClient,
  FriendsConnectionDocument,
  type GatewayResponse,
  MobileScreenDocument,
  TrackEventsDocument,
} from '@referral-gateway/client';
import { respond, STATES, type State, type StateResponse } from '@referral-gateway/client/testing';
import { buildSchema, execute, parse } from 'graphql';
import { runScript, startGateway } from '../kit.ts';

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

let gateway: Awaited<ReturnType<typeof startGateway>>;
let token: string;
beforeAll(async () => {
  gateway = await startGateway({ REST_TIMEOUT_MS: '400' });
  token = await gateway.token('--sub', 'p1', '--recipe', 'phone-app', '--events', 'open_app');
}, 60_000);
afterAll(() => gateway?.close());
afterEach(() => {
  for (const endpoint of ['GET /player', 'GET /coupon', 'GET /referrals', 'POST /event'] as const) {
    gateway.upstream.on(endpoint, 'usual');
  }
});

const FAILS = { status: 503 };
const THROTTLED = { status: 429, headers: { 'retry-after': '1' } };
const TRACK = { input: { playerUniqueId: 'p1', events: [{ name: 'open_app' }] } };
const ALL = ['GET /player', 'GET /coupon', 'GET /referrals'] as const;

test.each<[State, () => void, text: string, variables?: Record<string, unknown>]>([
  ['demo-slow-coupons', () => gateway.upstream.on('GET /coupon', { fault: 'hang' }), String(MobileScreenDocument)],
  ['demo-no-coupons', () => gateway.upstream.on('GET /coupon', FAILS), String(MobileScreenDocument)],
  ['demo-no-friends', () => gateway.upstream.on('GET /referrals', FAILS), String(MobileScreenDocument)],
  [
    'demo-throttled',
    () => ALL.forEach((one) => void gateway.upstream.on(one, THROTTLED)),
    String(MobileScreenDocument),
  ],
  ['demo-lost-event', () => gateway.upstream.on('POST /event', { fault: 'hang' }), String(TrackEventsDocument), TRACK],
  [
    'demo-event-then-down',
    () => ALL.forEach((one) => void gateway.upstream.on(one, FAILS)),
    String(TrackEventsDocument),
    TRACK,
  ],
  ['demo-player', () => undefined, String(FriendsConnectionDocument)],
  ['expired-token', () => undefined, String(CouponsDocument)],
])('%s is what the gateway responds', async (state, break_, query, variables = { playerUniqueId: 'p1' }) => {
  break_();
  const authorization = `Bearer ${state === 'expired-token' ? gateway.expired() : token}`;
  const real = await fetch(gateway.uri, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization },
    body: JSON.stringify({ query, variables }),
  });
  const body: GatewayResponse = JSON.parse(await real.text());
  const made = respond(state, query, variables);
  expect({ status: made.status, ...outline(made) }).toEqual({ status: real.status, ...outline({ body }) });
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
  expect({ status: made.status, ...outline(made) }).toEqual({ status: refused?.status, ...outline({ body }) });
  expect(made.headers['retry-after']).toBe(refused?.headers.get('retry-after'));
  await limited.close();
});

/** What a program can tell of a response: the parts that are null, and what its errors say. */
function outline({ body }: Pick<StateResponse<unknown>, 'body'>) {
  const text = JSON.stringify(body.data ?? null);
  return {
    missing: ['player', 'coupons', 'referredFriends', 'trackEvents'].filter((name) => text.includes(`"${name}":null`)),
    errors: body.errors?.map(({ path, extensions: { code, retryable, outcome, retryAfterMs } = {} }) => ({
      path,
      code,
      retryable,
      outcome,
      hasPause: retryAfterMs !== undefined,
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
