import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { startBoth } from '../../../test/kit/gateway.ts';
import { now, secretSigner, token, UNLIMITED } from '../../../test/kit/tokens.ts';
import {
  type ClientOptions,
  createClient,
  createIdempotencyKey,
  GatewayError,
  gatewayErrors,
  MobileScreenDocument,
  TrackEventsDocument,
  type TrackEventsMutation,
  UpsertPlayerDocument,
} from '../src/index.ts';

/* The client without a library, against a gateway in front of a scripted REST service. */

const signer = secretSigner();
const ME = { playerUniqueId: 'p1' };
const OPEN_APP = { input: { ...ME, events: [{ name: 'open_app' }] } };

const both = await startBoth({ ...signer.env, ...UNLIMITED, REST_TIMEOUT_MS: '400' });
afterAll(both.close);
afterEach(() => both.upstream.reset());

/** A client, and the requests that it sent. */
function connect(options: Partial<ClientOptions> = {}, lost = 0) {
  const bodies: { query?: string; documentId?: string; variables: typeof OPEN_APP }[] = [];
  let left = lost;
  const client = createClient({
    url: `${both.gateway.url}/graphql`,
    token: token(signer),
    fetch: async (url, init) => {
      bodies.push(JSON.parse(String(init?.body)));
      const response = await fetch(url, init);
      await response.clone().text();
      left -= 1;
      if (left >= 0) throw new TypeError('fetch failed');
      return response;
    },
    ...options,
  });
  return { client, bodies };
}
const events = () => both.upstream.calls().filter((call) => call === 'POST /integrations/event').length;
const rejection = async (promise: Promise<unknown>) => {
  const error = await promise.catch((reason: unknown) => reason);
  if (!(error instanceof GatewayError)) throw new Error(`Not rejected with a GatewayError: ${String(error)}`);
  return error;
};
const REQUEST_ID = expect.stringMatching(/^[\w-]{8,}$/);

test('a document of the package has typed data, a text works too; an unknown player is data, not an error', async () => {
  const { client } = connect();
  const { data, errors } = await client.request(MobileScreenDocument, ME);
  expect(data.player?.attributes?.displayName?.toUpperCase()).toBe('PLAYER P1');
  expect([data.player?.referredFriends?.nodes.length, errors]).toEqual([3, []]);
  const unknown = await client.request<{ player: null }>('{ player(playerUniqueId: "nobody") { id } }');
  expect(unknown).toEqual({ data: { player: null }, errors: [] });
});

describe('retries', () => {
  test('what there is comes at once, with an error that says which part is missing', async () => {
    both.upstream.on('GET /coupon', { fault: 'hang' });
    const { client, bodies } = connect();
    const { data, errors } = await client.request(MobileScreenDocument, ME);
    expect(data.player).toMatchObject({ id: 'p1', coupons: null });
    const known = { code: 'UPSTREAM_TIMEOUT', retryable: true, path: ['player', 'coupons'], requestId: REQUEST_ID };
    expect(errors).toMatchObject([known]);
    expect(errors[0]).toBeInstanceOf(GatewayError);
    expect(bodies).toHaveLength(1);
  });

  test('a query without data is sent five times before its error is rejected; a mistake is sent once', async () => {
    both.upstream.on('GET /player', { status: 500 });
    const { client, bodies } = connect();
    const error = await rejection(client.request(MobileScreenDocument, ME));
    expect(error).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', retryable: true, path: ['player'] });
    expect(bodies).toHaveLength(5);
    const known = { code: 'GRAPHQL_VALIDATION_FAILED', retryable: false, outcome: undefined, requestId: REQUEST_ID };
    expect(await rejection(client.request('{ player { id } }'))).toMatchObject(known);
    expect(bodies).toHaveLength(6);
  }, 60_000);

  test('the pause is as long as the gateway asks', async () => {
    const sent: number[] = [];
    const extensions = { code: 'OVERLOADED', retryable: true, retryAfterMs: 1_500 };
    const fetch = async () => {
      const isFirst = sent.push(performance.now()) === 1;
      return Response.json(isFirst ? { errors: [{ message: 'Busy', extensions }] } : { data: { me: null } });
    };
    expect((await connect({ fetch }).client.request('{ me { id } }')).data).toEqual({ me: null });
    const [first = 0, second = 0] = sent;
    expect(second - first).toBeGreaterThanOrEqual(1_499);
  });

  test('a lost response of a query is asked for again; HTML of a proxy counts as lost', async () => {
    const pages = [new Response('<h1>502</h1>', { status: 502 })];
    const proxied = connect({ fetch: async (url, init) => pages.shift() ?? fetch(url, init) });
    for (const { client } of [connect({}, 2), proxied]) {
      expect((await client.request(MobileScreenDocument, ME)).data.player?.id).toBe('p1');
    }
  });

  test('the signal ends the request and its pauses', async () => {
    both.upstream.on('GET /player', { status: 500 });
    const abort = new AbortController();
    const { client, bodies } = connect();
    const request = client.request(MobileScreenDocument, ME, { signal: abort.signal });
    await both.upstream.received(1);
    abort.abort(new Error('left the screen'));
    await expect(request).rejects.toThrow('left the screen');
    expect(bodies).toHaveLength(1);
  });
});

describe('watch', () => {
  test('shows what there is, asks for the rest with growing pauses, and ends when it is there', async () => {
    both.upstream.on('GET /coupon', { status: 500 });
    both.upstream.on('GET /referrals', { status: 500 });
    const { client, bodies } = connect();
    const shown: string[][] = [];
    await client.watch(MobileScreenDocument, ME, ({ data, errors }) => {
      shown.push(errors.map(({ path }) => path?.join('.') ?? '').sort());
      expect(data.player?.attributes?.displayName).toBe('Player p1');
      both.upstream.on(shown.length === 1 ? 'GET /coupon' : 'GET /referrals', 'usual');
    });
    expect(shown).toEqual([['player.coupons', 'player.referredFriends'], ['player.referredFriends'], []]);
    expect(bodies).toHaveLength(3);
  });

  test('never takes away what was shown, and ends with its signal', async () => {
    both.upstream.on('GET /coupon', { status: 500 });
    both.upstream.on('GET /referrals', { status: 500 });
    const abort = new AbortController();
    const shown: unknown[] = [];
    const { client } = connect();
    const done = client.watch(MobileScreenDocument, ME, ({ data }) => shown.push(data.player?.id), abort);
    await both.upstream.received(3);
    const held = both.upstream.hold('GET /player', { status: 500 });
    await held.arrived;
    held.release();
    both.upstream.on('GET /player', { status: 500 });
    // The response without a player has fewer errors. It is sent again, as one without data.
    await both.upstream.received(3 + 6);
    abort.abort();
    await done;
    expect(shown).toEqual(['p1']);
  });

  test('rejects when there is no data, and refuses a mutation', async () => {
    const { client, bodies } = connect();
    const watching = client.watch('{ player { id } }', {}, () => undefined);
    expect(await rejection(watching)).toMatchObject({ code: 'GRAPHQL_VALIDATION_FAILED' });
    await expect(client.watch(TrackEventsDocument, OPEN_APP, () => undefined)).rejects.toThrow(TypeError);
    expect(bodies).toHaveLength(1);
  });
});

test('a wrong URL is told with the status, after one request', async () => {
  const pages = [new Response('<h1>Not found</h1>', { status: 404 })];
  const { client } = connect({ fetch: async () => pages.shift() ?? Response.json({ data: { player: null } }) });
  const message = `${both.gateway.url}/graphql responded with the status 404, but not as a gateway.`;
  const known = { code: 'NO_RESPONSE', retryable: false, outcome: undefined, message };
  expect(await rejection(client.request(MobileScreenDocument, ME))).toMatchObject(known);
});

describe('events', () => {
  test('get a key by themselves and keep it while responses are lost: counted once; one that they have stays', async () => {
    const { client, bodies } = connect({}, 2);
    const { data } = await client.request(TrackEventsDocument, OPEN_APP);
    expect(data.trackEvents).toMatchObject({ eventNames: ['open_app'], userErrors: [] });
    expect(events()).toBe(1);
    expect(OPEN_APP.input).not.toHaveProperty('idempotencyKey');
    for (const more of [{}, { idempotencyKey: 'mine' }]) {
      await client.request(TrackEventsDocument, { input: { ...OPEN_APP.input, ...more } });
    }
    const [key, ...others] = bodies.map(({ variables }) => Reflect.get(variables.input, 'idempotencyKey'));
    const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect([key, ...others]).toEqual([uuid, key, key, uuid, 'mine']);
    expect(others[2]).not.toBe(key);
  });

  test('that were counted, but the player could not be read after it, are data with the outcome DONE', async () => {
    both.upstream.on('GET /player', { status: 500 });
    const text = `mutation Track($input: TrackEventsInput!) {
      trackEvents(input: $input) { eventNames player { attributes { displayName } } }
    }`;
    const { data, errors } = await connect().client.request<TrackEventsMutation>(text, OPEN_APP);
    expect(data.trackEvents).toMatchObject({ eventNames: ['open_app'], player: null });
    expect(errors).toMatchObject([{ outcome: 'DONE', retryable: false, path: ['trackEvents', 'player'] }]);
  });

  test.each([
    [String(UpsertPlayerDocument), { input: ME }],
    ['mutation { trackEvents(input: { playerUniqueId: "p1", events: [{ name: "a" }] }) { eventNames } }', {}],
  ])('are not sent again without a key: %s', async (text, variables) => {
    const { client, bodies } = connect({}, 1);
    expect(await rejection(client.request(text, variables))).toMatchObject({
      ...{ code: 'NO_RESPONSE', outcome: 'UNKNOWN', retryable: false, cause: { message: 'fetch failed' } },
      message: `There was no response of ${both.gateway.url}/graphql.`,
    });
    expect(bodies).toHaveLength(1);
  });

  test.each([
    ['a page without TLS, which has no crypto.randomUUID', { getRandomValues: crypto.getRandomValues.bind(crypto) }],
    ['a program without crypto', undefined],
  ])('have keys in %s', (_, replacement) => {
    const original = Object.getOwnPropertyDescriptor(globalThis, 'crypto') ?? {};
    Object.defineProperty(globalThis, 'crypto', { value: replacement, configurable: true });
    const keys = new Set(Array.from({ length: 100 }, createIdempotencyKey));
    Object.defineProperty(globalThis, 'crypto', original);
    expect(keys.size).toBe(100);
    for (const key of keys) expect(key).toHaveLength(36);
  });
});

describe('the token', () => {
  const expired = token(signer, { iat: now() - 7_200, exp: now() - 3_600 });

  test('is fetched once for all requests, and once more after a 401', async () => {
    const tokens = [expired, token(signer)];
    const { client, bodies } = connect({ token: async () => tokens.shift() });
    const results = await Promise.all([1, 2, 3].map(() => client.request(MobileScreenDocument, ME)));
    expect(results.map(({ data }) => data.player?.id)).toEqual(['p1', 'p1', 'p1']);
    expect([tokens, bodies.length]).toEqual([[], 6]);
  });

  test('that is rejected twice is an error; a fixed one is not tried again', async () => {
    for (const [given, requests] of [[() => expired, 2] as const, [expired, 1] as const]) {
      const { client, bodies } = connect({ token: given });
      expect(await rejection(client.request(MobileScreenDocument, ME))).toMatchObject({ code: 'UNAUTHENTICATED' });
      expect(bodies).toHaveLength(requests);
    }
  });

  test.each([
    ['is no token, as the HTML of another page,', () => '<!doctype html>\n<title>Sign in</title>', 'invalid'],
    ['cannot be fetched', () => Promise.reject(new Error('offline')), 'offline'],
  ])('that %s is an error without a request; the next one asks again', async (_, failing, message) => {
    const fetchers: (() => string | Promise<string>)[] = [failing];
    const { client, bodies } = connect({ token: async () => fetchers.shift()?.() ?? token(signer) });
    const error = await rejection(client.request(TrackEventsDocument, OPEN_APP));
    const cause = { message: expect.stringContaining(message) };
    expect(error).toMatchObject({ code: 'NO_TOKEN', outcome: 'NOT_DONE', cause });
    expect(bodies).toHaveLength(0);
    expect((await client.request(MobileScreenDocument, ME)).data.player?.id).toBe('p1');
  });
});

test('createClient is at most 5 KB with gzip, and imports nothing', async () => {
  const contents = "export { createClient, GatewayError } from './index.ts'";
  const stdin = { contents, resolveDir: fileURLToPath(new URL('../src', import.meta.url)) };
  const options = { stdin, bundle: true, minify: true, write: false, metafile: true } as const;
  const { outputFiles, metafile } = await build({ ...options, format: 'esm', target: 'es2022' });
  expect(Object.values(metafile.outputs).flatMap(({ imports }) => imports)).toEqual([]);
  const { length } = gzipSync(outputFiles[0]?.contents ?? '');
  expect(length).toBeLessThanOrEqual(5_000);
  expect(length).toBeGreaterThan(500);
});

test('the errors of every library become errors of the gateway', () => {
  const extensions = { code: 'UPSTREAM_TIMEOUT', retryable: true };
  const one = { message: 'Not now.', path: ['me', 'coupons'], extensions };
  const lost = new GatewayError({ message: 'Lost.', extensions: { code: 'NO_RESPONSE' } });
  const foreign = new TypeError('x is undefined');
  for (const error of [{ errors: [one] }, { graphQLErrors: [one] }, [one], [new GatewayError(one)]]) {
    expect(gatewayErrors(error)).toMatchObject([{ ...extensions, path: one.path }]);
  }
  for (const error of [lost, { networkError: lost, graphQLErrors: [] }]) expect(gatewayErrors(error)).toEqual([lost]);
  expect(gatewayErrors(foreign)).toMatchObject([{ code: 'INTERNAL_SERVER_ERROR', cause: foreign }]);
  expect(gatewayErrors(undefined)).toEqual([]);
});
