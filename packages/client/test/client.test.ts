import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { startBoth } from '../../../test/kit/gateway.ts';
import { claims, header, now, secretSigner, signed, token, UNLIMITED } from '../../../test/kit/tokens.ts';
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
afterAll(() => both?.close());
afterEach(() => {
  for (const endpoint of ['GET /player', 'GET /coupon', 'GET /referrals', 'POST /event', 'POST /player'] as const) {
    both.upstream.on(endpoint, 'usual');
  }
  both.upstream.forget();
});

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
      if (left === 0) return response;
      left -= 1;
      await response.text();
      throw new TypeError('fetch failed');
    },
    ...options,
  });
  return { client, bodies };
}
const events = () => both.upstream.calls().filter((call) => call === 'POST /integrations/event').length;
const rejection = async (promise: Promise<unknown>) => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof GatewayError)) throw new Error(`Not rejected with a GatewayError: ${String(error)}`);
  return error;
};

test('a document of the package has typed data', async () => {
  const { data, errors } = await connect().client.request(MobileScreenDocument, ME);
  expect(data.player?.attributes?.displayName?.toUpperCase()).toBe('PLAYER P1');
  expect(data.player?.referredFriends?.nodes).toHaveLength(3);
  expect(errors).toEqual([]);
});

test('a plain text works, and a mistake in it is not sent again', async () => {
  const { client, bodies } = connect();
  const text = '{ player(playerUniqueId: "p1") { id } }';
  expect(await client.request<{ player: { id: string } }>(text)).toEqual({
    data: { player: { id: 'p1' } },
    errors: [],
  });
  const error = await rejection(client.request('{ player { id } }'));
  expect(error).toMatchObject({ code: 'GRAPHQL_VALIDATION_FAILED', retryable: false, outcome: undefined });
  expect(error.requestId).toMatch(/^[\w-]{8,}$/);
  expect(bodies).toHaveLength(2);
});

describe('retries', () => {
  test('what there is comes at once, with an error that says which part is missing', async () => {
    both.upstream.on('GET /coupon', { fault: 'hang' });
    const { client, bodies } = connect();
    const { data, errors } = await client.request(MobileScreenDocument, ME);
    expect(data.player).toMatchObject({ id: 'p1', coupons: null });
    expect(errors).toMatchObject([{ code: 'UPSTREAM_TIMEOUT', retryable: true, path: ['player', 'coupons'] }]);
    expect(errors[0]).toBeInstanceOf(GatewayError);
    expect(errors[0]?.requestId).toMatch(/^[\w-]{8,}$/);
    expect(bodies).toHaveLength(1);
  });

  test('a query without data is sent again; an error that lasts is rejected after five attempts', async () => {
    both.upstream.on('GET /player', { status: 500 });
    const { client, bodies } = connect();
    const failing = rejection(client.request(MobileScreenDocument, ME));
    expect(await failing).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', retryable: true, path: ['player'] });
    expect(bodies).toHaveLength(5);
  }, 60_000);

  test('an unknown player is data, not an error', async () => {
    const { data } = await connect().client.request(MobileScreenDocument, { playerUniqueId: 'nobody' });
    expect(data).toEqual({ player: null });
  });

  test('the pause is as long as the gateway asks', async () => {
    const sent: number[] = [];
    const fetch = async () => {
      sent.push(performance.now());
      const extensions = { code: 'OVERLOADED', retryable: true, retryAfterMs: 1_500 };
      return sent.length === 1
        ? Response.json({ errors: [{ message: 'Busy', extensions }] }, { status: 503 })
        : Response.json({ data: { me: null } });
    };
    const { client } = connect({ fetch });
    expect((await client.request('{ me { id } }')).data).toEqual({ me: null });
    const [first = 0, second = 0] = sent;
    expect(second - first).toBeGreaterThanOrEqual(1_499);
  });

  test('a lost response of a query is asked for again; HTML of a proxy counts as lost', async () => {
    const { client } = connect({}, 2);
    expect((await client.request(MobileScreenDocument, ME)).data.player?.id).toBe('p1');
    let count = 0;
    const proxy = connect({
      fetch: async (url, init) => {
        count += 1;
        return count === 1 ? new Response('<h1>502</h1>', { status: 502 }) : fetch(url, init);
      },
    });
    expect((await proxy.client.request(MobileScreenDocument, ME)).data.player?.id).toBe('p1');
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
    const done = client.watch(MobileScreenDocument, ME, ({ data, errors }) => {
      shown.push(errors.map(({ path }) => path?.join('.') ?? '').sort());
      expect(data.player?.attributes?.displayName).toBe('Player p1');
      both.upstream.on(shown.length === 1 ? 'GET /coupon' : 'GET /referrals', 'usual');
    });
    await done;
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

describe('a wrong URL', () => {
  test('is told with the status, after one request', async () => {
    const { client, bodies } = connect({ url: `${both.gateway.url}/nothing` });
    let sent = 0;
    const html = connect({
      fetch: async () => {
        sent += 1;
        return new Response('<h1>Not found</h1>', { status: 404 });
      },
    });
    const error = await rejection(html.client.request(MobileScreenDocument, ME));
    const message = `${both.gateway.url}/graphql responded with the status 404, but not as a gateway.`;
    expect(error).toMatchObject({ code: 'NO_RESPONSE', retryable: false, outcome: undefined, message });
    expect(sent).toBe(1);
    expect(await rejection(client.request(MobileScreenDocument, ME))).toMatchObject({ retryable: false });
    expect(bodies).toHaveLength(1);
  });

  test('that nobody answers at is in the message', async () => {
    const fetch = () => Promise.reject(new TypeError('fetch failed'));
    const error = await rejection(connect({ fetch }).client.request(UpsertPlayerDocument, { input: ME }));
    expect(error).toMatchObject({
      message: `There was no response of ${both.gateway.url}/graphql.`,
      outcome: 'UNKNOWN',
      cause: { message: 'fetch failed' },
    });
  });
});

describe('events', () => {
  test('get a key by themselves and keep it while responses are lost: counted once', async () => {
    const { client, bodies } = connect({}, 2);
    const { data } = await client.request(TrackEventsDocument, OPEN_APP);
    expect(data.trackEvents).toMatchObject({ eventNames: ['open_app'], userErrors: [] });
    expect(bodies).toHaveLength(3);
    const keys = bodies.map(({ variables }) => Reflect.get(variables.input, 'idempotencyKey'));
    expect(keys[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(keys).size).toBe(1);
    expect(events()).toBe(1);
    expect(OPEN_APP.input).not.toHaveProperty('idempotencyKey');
  });

  test('keep the key that they have; two operations have different ones', async () => {
    const { client, bodies } = connect();
    await client.request(TrackEventsDocument, { input: { ...OPEN_APP.input, idempotencyKey: 'mine' } });
    await client.request(TrackEventsDocument, OPEN_APP);
    await client.request(TrackEventsDocument, OPEN_APP);
    const keys = bodies.map(({ variables }) => Reflect.get(variables.input, 'idempotencyKey'));
    expect(keys[0]).toBe('mine');
    expect(new Set(keys).size).toBe(3);
  });

  test('whose outcome is unknown are not sent again', async () => {
    both.upstream.on('POST /event', { fault: 'reset' });
    const { client, bodies } = connect();
    const error = await rejection(client.request(TrackEventsDocument, OPEN_APP));
    expect(error).toMatchObject({ outcome: 'UNKNOWN', retryable: false });
    expect(bodies).toHaveLength(1);
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
    ['an upsert', UpsertPlayerDocument.toString(), { input: ME }],
    [
      'an event in the text of the document',
      'mutation { trackEvents(input: { playerUniqueId: "p1", events: [{ name: "a" }] }) { eventNames } }',
      {},
    ],
  ])('%s is not sent again when its response is lost', async (_, text, variables) => {
    const { client, bodies } = connect({}, 1);
    const error = await rejection(client.request(text, variables));
    expect(error).toMatchObject({ code: 'NO_RESPONSE', outcome: 'UNKNOWN', retryable: false });
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
  const expired = signed(signer, header(signer), claims({ iat: now() - 7_200, exp: now() - 3_600 }));

  test('is fetched once for all requests, and once more after a 401', async () => {
    const tokens = [expired, token(signer)];
    let fetched = 0;
    const { client, bodies } = connect({
      token: async () => {
        fetched += 1;
        return tokens.shift();
      },
    });
    const results = await Promise.all([1, 2, 3].map(() => client.request(MobileScreenDocument, ME)));
    expect(results.map(({ data }) => data.player?.id)).toEqual(['p1', 'p1', 'p1']);
    expect({ fetched, requests: bodies.length }).toEqual({ fetched: 2, requests: 6 });
  });

  test('that is rejected twice is an error; a fixed one is not tried again', async () => {
    const twice = connect({ token: () => expired });
    expect(await rejection(twice.client.request(MobileScreenDocument, ME))).toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(twice.bodies).toHaveLength(2);
    const fixed = connect({ token: expired });
    expect(await rejection(fixed.client.request(MobileScreenDocument, ME))).toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(fixed.bodies).toHaveLength(1);
  });

  test('that is no token, as the HTML of another page, is an error without a request; the next one asks again', async () => {
    const texts = ['<!doctype html>\n<title>Sign in</title>', token(signer)];
    const { client, bodies } = connect({ token: () => texts.shift() });
    expect(await rejection(client.request(MobileScreenDocument, ME))).toMatchObject({
      code: 'NO_TOKEN',
      outcome: 'NOT_DONE',
    });
    expect(bodies).toHaveLength(0);
    expect((await client.request(MobileScreenDocument, ME)).data.player?.id).toBe('p1');
  });

  test('that cannot be fetched is an error of its own; the next request asks again', async () => {
    const answers = [Promise.reject(new Error('offline')), Promise.resolve(token(signer))];
    const { client, bodies } = connect({ token: () => answers.shift() });
    const error = await rejection(client.request(TrackEventsDocument, OPEN_APP));
    expect(error).toMatchObject({ code: 'NO_TOKEN', outcome: 'NOT_DONE', cause: { message: 'offline' } });
    expect(bodies).toHaveLength(0);
    expect((await client.request(MobileScreenDocument, ME)).data.player?.id).toBe('p1');
  });
});

test('createClient is at most 5 KB with gzip, and imports nothing', async () => {
  const { outputFiles, metafile } = await build({
    stdin: {
      contents: "export { createClient, GatewayError } from './index.ts'",
      resolveDir: fileURLToPath(new URL('../src', import.meta.url)),
    },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    write: false,
    metafile: true,
  });
  expect(Object.values(metafile.outputs).flatMap(({ imports }) => imports)).toEqual([]);
  expect(gzipSync(outputFiles[0]?.contents ?? '').length).toBeLessThanOrEqual(5_000);
  expect(gzipSync(outputFiles[0]?.contents ?? '').length).toBeGreaterThan(500);
});

test('the errors of every library become errors of the gateway', () => {
  const one = {
    message: 'Not now.',
    path: ['me', 'coupons'],
    extensions: { code: 'UPSTREAM_TIMEOUT', retryable: true },
  };
  const lost = new GatewayError({ message: 'Lost.', extensions: { code: 'NO_RESPONSE' } });
  const foreign = new TypeError('x is undefined');
  const known = { code: 'UPSTREAM_TIMEOUT', retryable: true, path: one.path };
  for (const error of [{ errors: [one] }, { graphQLErrors: [one] }, [one], [new GatewayError(one)]]) {
    expect(gatewayErrors(error)).toMatchObject([known]);
  }
  for (const error of [lost, { networkError: lost, graphQLErrors: [] }]) expect(gatewayErrors(error)).toEqual([lost]);
  expect(gatewayErrors(foreign)).toMatchObject([{ code: 'INTERNAL_SERVER_ERROR', cause: foreign }]);
  expect(gatewayErrors(undefined)).toEqual([]);
});
