import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { describe, expect, jest, test } from '@jest/globals';
import { build } from 'esbuild';
import { GraphQLError } from 'graphql';
import { EXPIRED, ME, startRecorded, tokenOf } from '../../../test/clients/kit.ts';
import { until } from '../../../test/kit/until.ts';
import {
  type ClientOptions,
  createClient,
  createFetch,
  createIdempotencyKey,
  errorAt,
  GatewayError,
  gatewayErrors,
  keepParts,
  MobileScreenDocument,
  TrackEventsDocument,
  type TrackEventsMutation,
  TypedDocumentString,
  UpsertPlayerDocument,
} from '../src/index.ts';
import { testMode } from '../src/retry.ts';
import { pauseOf, skipPauses } from './pauses.ts';

/* The client without a library, against a gateway in front of a scripted REST service. */

const { url, upstream, sent, lose, events } = await startRecorded();
const pauses = skipPauses();
const OPEN_APP = { input: { ...ME, events: [{ name: 'open_app' }] } };
const EVENT = '{ playerUniqueId: "p1", events: [{ name: "a" }] }';
const connect = (options: Partial<ClientOptions> = {}) => createClient({ url, token: tokenOf(), ...options });
const rejection = async (promise: Promise<unknown>) => {
  const error = await promise.catch((reason: unknown) => reason);
  if (!(error instanceof GatewayError)) throw new Error(`Not rejected with a GatewayError: ${String(error)}`);
  return error;
};
const REQUEST_ID = expect.stringMatching(/^[\w-]{8,}$/);

test('a document of the package has typed data, a text works too; an unknown player is data, not an error', async () => {
  const client = connect();
  const { data, errors } = await client.request(MobileScreenDocument, ME);
  expect(data.player?.attributes?.displayName?.toUpperCase()).toBe('PLAYER P1');
  expect([data.player?.referredFriends?.nodes.length, errors]).toEqual([3, []]);
  const unknown = await client.request<{ player: null }>('{ player(playerUniqueId: "nobody") { id } }');
  expect(unknown).toEqual({ data: { player: null }, errors: [] });
});

describe('retries', () => {
  test('what there is comes at once, with an error that says which part is missing', async () => {
    upstream.on('GET /coupon', { status: 500 });
    const { data, errors } = await connect().request(MobileScreenDocument, ME);
    expect(data.player).toMatchObject({ id: 'p1', coupons: null });
    const known = { code: 'UPSTREAM_UNAVAILABLE', retryable: true, path: ['player', 'coupons'], requestId: REQUEST_ID };
    expect(errors).toMatchObject([known]);
    expect(errors[0]).toBeInstanceOf(GatewayError);
    expect([sent.length, pauses]).toEqual([1, []]);
  });

  test('a query without data is sent five times before its error is rejected; a mistake is sent once', async () => {
    upstream.on('GET /player', { status: 500 });
    const client = connect();
    const error = await rejection(client.request(MobileScreenDocument, ME));
    expect(error).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', retryable: true, path: ['player'] });
    expect(sent).toHaveLength(5);
    expect(pauses).toEqual([125, 250, 500, 1_000].map(pauseOf));
    const known = { code: 'GRAPHQL_VALIDATION_FAILED', retryable: false, outcome: undefined, requestId: REQUEST_ID };
    expect(await rejection(client.request('{ player { id } }'))).toMatchObject(known);
    expect(sent).toHaveLength(6);
  });

  test('the pause is as long as the gateway asks; one of a day is left to the application', async () => {
    const extensions = { code: 'OVERLOADED', retryable: true, retryAfterMs: 1_500 };
    const bodies: object[] = [{ errors: [{ message: 'Busy', extensions }] }, { data: { me: null } }];
    const fetch = async () => Response.json(bodies.shift());
    expect((await connect({ fetch }).request('{ me { id } }')).data).toEqual({ me: null });
    expect(pauses).toEqual([pauseOf(1_500)]);
    const later = { ...extensions, retryAfterMs: 86_400_000 };
    const busy = connect({ fetch: async () => Response.json({ errors: [{ message: 'Busy', extensions: later }] }) });
    expect(await rejection(busy.request('{ me { id } }'))).toMatchObject(later);
    expect(pauses).toHaveLength(1);
  });

  test('a lost response of a query is asked for again; what is not of the gateway counts as lost', async () => {
    const pages = [new Response('<h1>502</h1>'), Response.json({ errors: [null] }), Response.json({ data: null })];
    const proxied = connect({ fetch: async (url, init) => pages.shift() ?? fetch(url, init) });
    lose(2);
    for (const client of [connect(), proxied]) {
      expect((await client.request(MobileScreenDocument, ME)).data.player?.id).toBe('p1');
    }
  });

  test('the signal ends the request and its pauses', async () => {
    upstream.on('GET /player', { status: 500 });
    const abort = new AbortController();
    const request = connect().request(MobileScreenDocument, ME, { signal: abort.signal });
    await upstream.received(1);
    abort.abort(new Error('left the screen'));
    await expect(request).rejects.toThrow('left the screen');
    // Also before the token is fetched, and while it is.
    const token = jest.fn(() => new Promise<string>(() => undefined));
    const ask = (signal: AbortSignal) => connect({ token }).request(MobileScreenDocument, ME, { signal });
    await expect(ask(abort.signal)).rejects.toThrow('left the screen');
    expect(token).not.toHaveBeenCalled();
    await expect(ask(AbortSignal.timeout(20))).rejects.toMatchObject({ name: 'TimeoutError' });
    await connect().watch(MobileScreenDocument, ME, () => undefined, { signal: abort.signal });
    // React Native's signals have no reason.
    const old = new Proxy(abort.signal, {
      get: (target, name) => (name === 'reason' ? undefined : Reflect.get(target, name)),
    });
    await expect(ask(Object.assign(old))).rejects.toMatchObject({ name: 'AbortError' });
    // In a pause, on a clock that then stands still.
    jest.useFakeTimers();
    const leave = new AbortController();
    const extensions = { code: 'OVERLOADED', retryable: true, retryAfterMs: 50_000 };
    const fetch = jest.fn(async () => Response.json({ errors: [{ message: 'Busy', extensions }] }));
    const paused = connect({ fetch }).request('{ me { id } }', {}, leave);
    await jest.advanceTimersByTimeAsync(40_000);
    expect(fetch).toHaveBeenCalledTimes(1);
    leave.abort(new Error('left the pause'));
    await expect(paused).rejects.toThrow('left the pause');
  });
});

describe('watch', () => {
  test('shows what there is, asks for the rest with growing pauses, and ends when it is there', async () => {
    upstream.on('GET /coupon', { status: 500 });
    upstream.on('GET /referrals', { status: 500 });
    const shown: string[][] = [];
    await connect().watch(MobileScreenDocument, ME, ({ data, errors }) => {
      shown.push(errors.map(({ path }) => path?.join('.') ?? '').sort());
      expect(data.player?.attributes?.displayName).toBe('Player p1');
      upstream.on(shown.length === 1 ? 'GET /coupon' : 'GET /referrals', 'usual');
    });
    expect(shown).toEqual([['player.coupons', 'player.referredFriends'], ['player.referredFriends'], []]);
    expect(sent).toHaveLength(3);
    expect(pauses).toEqual([2_000, 4_000].map(pauseOf));
  });

  test('says when a part that was awaited will never be there', async () => {
    const errorOf = (code: string, retryable: boolean) =>
      Response.json({
        data: { player: { id: 'p1', coupons: null } },
        errors: [{ message: code, path: ['player', 'coupons'], extensions: { code, retryable } }],
      });
    const responses = [errorOf('UPSTREAM_UNAVAILABLE', true), errorOf('FORBIDDEN', false)];
    const fetch = async () => responses.shift() ?? Response.error();
    const shown: unknown[] = [];
    await connect({ fetch }).watch(MobileScreenDocument, ME, ({ errors }) => shown.push(errors[0]?.code));
    expect(shown).toEqual(['UPSTREAM_UNAVAILABLE', 'FORBIDDEN']);
  });

  test('shows what is there once, while the same part stays missing', async () => {
    upstream.on('GET /coupon', { status: 500 });
    const abort = new AbortController();
    const shown: unknown[] = [];
    const done = connect().watch(MobileScreenDocument, ME, ({ data }) => shown.push(data.player?.id), abort);
    await until(() => sent.length === 3);
    abort.abort();
    await done;
    expect(shown).toEqual(['p1']);
  });

  test('sends a read again whose response was lost', async () => {
    lose(1);
    const shown: unknown[] = [];
    await connect().watch(MobileScreenDocument, ME, ({ data }) => shown.push(data.player?.id));
    expect([shown, sent.length]).toEqual([['p1'], 2]);
  });

  test('rejects when its first read has no data, and does not ask on', async () => {
    const extensions = { code: 'OVERLOADED', retryable: true };
    const fetch = jest.fn(async () => Response.json({ errors: [{ message: 'Busy', extensions }] }));
    const watching = connect({ fetch, attempts: 2 }).watch('{ me { id } }', {}, () => undefined);
    expect(await rejection(watching)).toMatchObject(extensions);
    expect(fetch).toHaveBeenCalledTimes(2);
  });

  test('resolves when its signal aborts, also when what draws it then throws', async () => {
    const abort = new AbortController();
    const draw = () => {
      abort.abort();
      throw new Error('The screen is gone.');
    };
    await connect().watch(MobileScreenDocument, ME, draw, { signal: abort.signal });
    expect(abort.signal.aborted).toBe(true);
  });

  test('shows a part that is there while another fails, and keeps what it had', async () => {
    upstream.on('GET /coupon', { status: 500 });
    const shown: string[] = [];
    await connect().watch(MobileScreenDocument, ME, ({ data: { player }, errors }) => {
      shown.push(`${player?.coupons?.length} ${player?.referredFriends?.nodes.length} ${errors.length}`);
      upstream.on('GET /coupon', 'usual');
      upstream.on('GET /referrals', shown.length === 1 ? { status: 500 } : 'usual');
    });
    // What was kept is asked for again too.
    expect(shown).toEqual(['undefined 3 1', '5 3 1', '5 3 0']);
  });

  test('keeps what it had also in a player without an id: its variables are those of one player', async () => {
    upstream.on('GET /coupon', { status: 500 });
    const shown: string[] = [];
    const text = '{ player(playerUniqueId: "p1") { coupons { code } referredFriends { nodes { displayName } } } }';
    await connect().watch<{ player: { coupons: []; referredFriends: { nodes: [] } } }>(
      text,
      {},
      ({ data: { player } }) => {
        shown.push(`${player.coupons?.length} ${player.referredFriends?.nodes.length}`);
        upstream.on('GET /coupon', 'usual');
        upstream.on('GET /referrals', shown.length === 1 ? { status: 500 } : 'usual');
      },
    );
    expect(shown.map((one) => one.replace(/\d+/g, 'n'))).toEqual(['undefined n', 'n n', 'n n']);
  });

  test('never takes away what was shown, and ends with its signal', async () => {
    upstream.on('GET /coupon', { status: 500 });
    upstream.on('GET /referrals', { status: 500 });
    const abort = new AbortController();
    const shown: unknown[] = [];
    const show = ({ data }: { data: { player?: { id: string } | null } }) => {
      shown.push(data.player?.id);
      upstream.on('GET /player', { status: 500 });
    };
    const done = connect().watch(MobileScreenDocument, ME, show, abort);
    // The response without a player has fewer errors. It is sent again, as one without data.
    await until(() => pauses.length > 5);
    abort.abort();
    await done;
    expect(shown).toEqual(['p1']);
    expect(pauses.slice(0, 6)).toEqual([2_000, 125, 250, 500, 1_000, 4_000].map(pauseOf));
  });

  const of = (data: Record<string, unknown>, ...paths: string[]) => {
    const at = (path: string) => path.split('.').map((name) => (name === '1' ? 1 : name));
    const errors = paths.map((path) => ({ message: path, path: at(path), extensions: { retryable: true } }));
    return { data, errors: gatewayErrors(errors) };
  };
  const lasting = { data: { a: null, b: {} }, errors: gatewayErrors([{ message: '', path: ['a'] }]) };
  const [A, B, OTHER] = [{ id: 'a' }, { id: 'b', link: null, coupons: null }, { id: 'c', link: null }];
  test.each([
    ['loses a part', of({ a: B, c: null }, 'a.link', 'c'), of({ a: null, c: A }, 'a'), of({ a: B, c: A }, 'a')],
    ['brings a part with gaps', of({ a: null }, 'a'), of({ a: B }, 'a.link', 'a.coupons'), 'next'],
    ['brings an error that lasts', of({ a: A }), lasting, 'next'],
    ['loses an item', of({ l: [A, B] }, 'l.1.link'), of({ l: [A, null] }, 'l.1'), of({ l: [A, B] }, 'l.1')],
    [
      'has an embedded part',
      of({ me: { id: 'a', p: { n: 1 } } }),
      of({ me: { id: 'a', p: { n: null } } }, 'me.p.n'),
      of({ me: { id: 'a', p: { n: 1 } } }, 'me.p.n'),
    ],
    [
      'misses one part for two reasons',
      of({ me: { id: 'a', link: 'x' }, total: 1 }),
      of({ me: { id: 'a', link: null }, total: 2 }, 'me.link', 'me.link'),
      of({ me: { id: 'a', link: 'x' }, total: 2 }, 'me.link', 'me.link'),
    ],
    ['is of another player', of({ me: { id: 'a', link: 'x' } }), of({ me: OTHER }, 'me.link'), 'next'],
    [
      'has another item in its place',
      of({ l: [A, { id: 'b', link: 'x' }] }),
      of({ l: [A, OTHER] }, 'l.1.link'),
      'next',
    ],
    [
      'misses a part of a friend at an edge of a connection, which has no id',
      of({ edges: [A, { node: { id: 'b', link: 'x' } }] }),
      of({ edges: [A, { node: B }] }, 'edges.1.node.link'),
      of({ edges: [A, { node: { ...B, link: 'x' } }] }, 'edges.1.node.link'),
    ],
    [
      'has another friend at that edge',
      of({ edges: [A, { node: { id: 'b', link: 'x' } }] }),
      of({ edges: [A, { node: OTHER }] }, 'edges.1.node.link'),
      'next',
    ],
    [
      'has another item without an id in its place',
      of({ id: 'a', l: [A, { link: 'x' }] }),
      of({ id: 'a', l: [A, { link: null }] }, 'l.1.link'),
      'next',
    ],
    ['is the first one', undefined, of({ a: B }, 'a.link'), 'next'],
  ])('what was shown stays in a result that %s', (_, last, next, better) => {
    const before = JSON.stringify(next.data);
    expect(keepParts<unknown>(last, next, true)).toEqual(better === 'next' ? next : better);
    expect(JSON.stringify(next.data)).toBe(before);
  });

  test.each([
    ['that has the same id', of({ me: { id: 'a', link: 'x' } }), of({ me: { id: 'a', link: null } }, 'me.link'), true],
    ['whose object has no id', of({ me: { link: 'x' } }), of({ me: { link: null } }, 'me.link'), false],
    ['that is null as a whole', of({ a: A, c: A }), of({ a: A, c: null }, 'c'), false],
  ])('where a key may be that of another player, a part %s is kept: %#', (_, last, next, isKept) => {
    expect(keepParts<unknown>(last, next)).toEqual({ ...next, data: isKept ? last.data : next.data });
    expect(keepParts<unknown>(last, next, true)).toEqual({ ...next, data: last.data });
  });

  test('tells a mutation from the word in a comment or a name', async () => {
    const shown: unknown[] = [];
    const query = '# Not a mutation.\nquery mutation { me { id } }';
    await connect().watch(query, {}, ({ data }) => shown.push(data));
    expect(shown).toEqual([{ me: { id: 'p1' } }]);
    const part = 'fragment Part on TrackEventsPayload { eventNames }';
    const track = 'mutation ($input: TrackEventsInput!) { trackEvents(input: $input) { ...Part } }';
    for (const text of [`${track} ${part}`, `${part}${track}`, `${part}, ${track}`, `#\n\n  ${track}${part}`]) {
      await expect(connect().watch(text, OPEN_APP, () => undefined)).rejects.toThrow('cannot be watched');
    }
    expect(sent).toHaveLength(1);
  });

  test('rejects when there is no data, or no token any more, and refuses a mutation', async () => {
    const client = connect();
    const watching = client.watch('{ player { id } }', {}, () => undefined);
    expect(await rejection(watching)).toMatchObject({ code: 'GRAPHQL_VALIDATION_FAILED' });
    await expect(client.watch(TrackEventsDocument, OPEN_APP, () => undefined)).rejects.toThrow(TypeError);
    expect(sent).toHaveLength(1);

    upstream.on('GET /coupon', { status: 500 });
    const state = { isSignedIn: true };
    const expired = { 'content-type': 'application/json', authorization: `Bearer ${EXPIRED}` };
    const send: typeof fetch = (url, options) =>
      fetch(url, state.isSignedIn ? options : { ...options, headers: expired });
    const signOut = () => Object.assign(state, { isSignedIn: false });
    const { code } = await rejection(connect({ fetch: send }).watch(MobileScreenDocument, ME, signOut));
    expect(code).toBe('UNAUTHENTICATED');
  });
});

test('`__typename` of a whole operation, as a code generator adds it, is no data: a failed event is sent again and rejects', async () => {
  const [query, mutation] = [
    '{ __typename me { id } }',
    'mutation ($input: X!) { __typename trackEvents(input: $input) { eventNames } }',
  ];
  const extensions = { code: 'OVERLOADED', retryable: true, outcome: 'NOT_DONE' };
  let requests = 0;
  const fetch = async () => {
    requests += 1;
    const data = { __typename: 'Mutation', trackEvents: null };
    return Response.json({ data, errors: [{ message: 'Busy', path: ['trackEvents'], extensions }] });
  };
  for (const text of [query, mutation])
    expect(await rejection(connect({ fetch, attempts: 2 }).request(text, OPEN_APP))).toMatchObject(extensions);
  expect(requests).toBe(4);
});

test('a client of persisted documents sends a text that has no hash', async () => {
  const { data } = await connect({ persisted: true }).request<{ me: unknown }>('{ me { id } }');
  expect(data).toEqual({ me: { id: 'p1' } });
});

test('a wrong URL is told with the status, after one request', async () => {
  const pages = [new Response('<h1>Not found</h1>', { status: 404 })];
  const client = connect({ fetch: async () => pages.shift() ?? Response.json({ data: { player: null } }) });
  const message = expect.stringContaining(`${url} responded with 404, but not as a gateway: the URL is`);
  const known = { code: 'NO_RESPONSE', retryable: false, outcome: undefined, message };
  expect(await rejection(client.request(MobileScreenDocument, ME))).toMatchObject(known);
  pages.push(new Response('', { status: 404 }));
  // An event with a key loses nothing when the user tries again.
  const lost = { ...known, outcome: 'UNKNOWN', retryable: true };
  expect(await rejection(client.request(TrackEventsDocument, OPEN_APP))).toMatchObject(lost);
});

describe('events', () => {
  test('get a key by themselves and keep it while responses are lost: counted once; one that they have stays', async () => {
    const client = connect();
    lose(2);
    const { data } = await client.request(TrackEventsDocument, OPEN_APP);
    expect(data.trackEvents).toMatchObject({ eventNames: ['open_app'], userErrors: [] });
    expect(events()).toBe(1);
    expect(OPEN_APP.input).not.toHaveProperty('idempotencyKey');
    for (const more of [{}, { idempotencyKey: 'mine' }]) {
      await client.request(TrackEventsDocument, { input: { ...OPEN_APP.input, ...more } });
    }
    const [key, ...others] = sent.map(({ variables }) => variables['input']?.idempotencyKey);
    const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect([key, ...others]).toEqual([uuid, key, key, uuid, 'mine']);
    expect(others[2]).not.toBe(key);
  });

  test('have a key beside variables that are no input of a write, such as a filter', async () => {
    lose(1);
    const text = `mutation ($input: TrackEventsInput!, $filter: CouponFilter) {
      trackEvents(input: $input) { eventNames player { coupons(filter: $filter) { id } } }
    }`;
    const { errors } = await connect().request(text, { ...OPEN_APP, filter: { usableNow: true } });
    const keys = sent.map(({ variables }) => variables['input']?.idempotencyKey);
    expect([errors, keys, events()]).toEqual([[], [expect.any(String), keys[0]], 1]);
  });

  test.each([
    new TypedDocumentString('', { hash: 'abc' }),
    // As of GraphQL Code Generator with `replaceDocumentWithHash`.
    Object({ __meta__: { hash: 'abc' } }),
  ])('have a key also in a document that is its hash alone: %j', async (document) => {
    const keys: unknown[] = [];
    const fetch = async (_: unknown, init?: RequestInit) => {
      const { documentId, variables } = JSON.parse(String(init?.body));
      keys.push(documentId, variables.input.idempotencyKey);
      if (keys.length === 2) throw new TypeError('fetch failed');
      return Response.json({ data: { trackEvents: null } });
    };
    await connect({ fetch, persisted: true }).request(document, OPEN_APP);
    expect(keys).toEqual(['abc', expect.any(String), 'abc', keys[1]]);
  });

  test('give no key to the events of another service of a supergraph', async () => {
    const variables = { input: { calendar: 'c1', events: [{ at: '2030-01-01' }] } };
    const bodies: unknown[] = [];
    const fetch = async (_: unknown, init?: RequestInit) => {
      bodies.push(JSON.parse(String(init?.body)).variables);
      return Response.json({ data: { addEvents: true } });
    };
    await connect({ fetch }).request('mutation ($input: CalendarInput!) { addEvents(input: $input) }', variables);
    expect(bodies).toEqual([variables]);
  });

  test('keep their metadata, whatever its names are', async () => {
    const text = `mutation ($metadata: EventMetadata!) {
      trackEvents(input: { playerUniqueId: "p1", events: [{ name: "a", metadata: $metadata }] }) { eventNames }
    }`;
    await connect().request(text, { metadata: { events: ['concert'] } });
    expect(sent[0]?.variables).toEqual({ metadata: { events: ['concert'] } });
  });

  test('that have an unknown outcome are rejected: the field of the mutation is null; sent once', async () => {
    upstream.on('POST /event', { status: 500 });
    const known = { code: 'UPSTREAM_UNAVAILABLE', outcome: 'UNKNOWN', retryable: false, path: ['trackEvents'] };
    expect(await rejection(connect().request(TrackEventsDocument, OPEN_APP))).toMatchObject(known);
    expect(sent).toHaveLength(1);
    const beside = `mutation Two($input: TrackEventsInput!, $other: UpsertPlayerInput!) {
      upsertPlayer(input: $other) { userErrors { code } } trackEvents(input: $input) { eventNames }
    }`;
    const { data, errors } = await connect().request(beside, { ...OPEN_APP, other: ME });
    expect([data, errors]).toMatchObject([{ upsertPlayer: { userErrors: [] }, trackEvents: null }, [known]]);
  });

  test.each([
    [200, undefined],
    [200, { other: {}, trackEvents: null }],
    [401, undefined],
  ])('that are lost, then refused with the status %d and the data %j, are unknown', async (status, data) => {
    lose(1);
    const code = status === 401 ? 'NO_TOKEN' : 'FORBIDDEN';
    const tokens = [tokenOf(), ''];
    const refused = { data, errors: [{ message: '', extensions: { code, outcome: 'NOT_DONE' } }] };
    const fetches: (typeof fetch)[] = [globalThis.fetch, async () => Response.json(refused, { status })];
    const send: typeof fetch = (...request) => (fetches.shift() ?? fetch)(...request);
    const request = connect({ token: () => tokens.shift(), fetch: send }).request(TrackEventsDocument, OPEN_APP);
    const { errors } = await request.catch((error: unknown) => ({ errors: [error] }));
    // After another login, the same key can be sent again.
    expect([errors[0], sent.length]).toMatchObject([{ code, outcome: 'UNKNOWN', retryable: status === 401 }, 1]);
  });

  test('that were counted, but the player could not be read after it, are data with the outcome DONE', async () => {
    upstream.on('GET /player', { status: 500 });
    const text = `mutation Track($input: TrackEventsInput!) {
      trackEvents(input: $input) { eventNames player { attributes { displayName } } }
    }`;
    const { data, errors } = await connect().request<TrackEventsMutation>(text, OPEN_APP);
    expect(data.trackEvents).toMatchObject({ eventNames: ['open_app'], player: null });
    expect(errors).toMatchObject([{ outcome: 'DONE', retryable: false, path: ['trackEvents', 'player'] }]);
  });

  test.each([
    ['an upsert', `fragment F on Query { node(id: "#") { id } } ${UpsertPlayerDocument}`, { input: ME }],
    ['an event', `mutation { trackEvents(input: ${EVENT}) { eventNames } }`, {}],
    [
      'an event that is the default of a variable',
      `mutation ($input: TrackEventsInput!, $more: TrackEventsInput! = ${EVENT}) {
        trackEvents(input: $input) { eventNames } more: trackEvents(input: $more) { eventNames }
      }`,
      OPEN_APP,
    ],
  ])('have no key in a mutation that is not sent again: %s', async (_, text, variables) => {
    lose(1);
    expect(await rejection(connect().request(text, variables))).toMatchObject({
      ...{ code: 'NO_RESPONSE', outcome: 'UNKNOWN', retryable: false, cause: { message: 'fetch failed' } },
      message: `No response of ${url}.`,
    });
    expect(sent).toHaveLength(1);
  });

  test.each([
    ['a page without TLS, which has no crypto.randomUUID', { getRandomValues: crypto.getRandomValues.bind(crypto) }],
    ['React Native, whose polyfill has no getRandomValues', {}],
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
  test('is fetched once for all requests, and once more after a 401', async () => {
    const tokens = [EXPIRED, tokenOf()];
    const client = connect({ token: async () => tokens.shift() });
    const results = await Promise.all([1, 2, 3].map(() => client.request(MobileScreenDocument, ME)));
    expect(results.map(({ data }) => data.player?.id)).toEqual(['p1', 'p1', 'p1']);
    expect([tokens, sent.length]).toEqual([[], 6]);
  });

  test('is sent with a `Request` too, whose headers and body stay, also after a 401', async () => {
    const [tokens, seen]: string[][] = [['a', 'b'], []];
    const fetch: typeof globalThis.fetch = async (...given) => {
      const request = new Request(...given);
      const { headers } = request;
      seen?.push(`${headers.get('content-type')}, ${headers.get('authorization')}, ${await request.text()}`);
      return new Response('', { status: seen?.length === 1 ? 401 : 200 });
    };
    const send = createFetch({ token: () => tokens?.shift(), fetch });
    await send(new Request(url, { method: 'POST', headers: { 'content-type': 'a/b' }, body: 'text' }));
    expect(seen).toEqual(['a/b, Bearer a, text', 'a/b, Bearer b, text']);
  });

  test('has every character of RFC 6750; white space around it is left out', async () => {
    const headers: (string | null)[] = [];
    const fetch = async (_url: unknown, init?: RequestInit) => {
      headers.push(new Headers(init?.headers).get('authorization'));
      return Response.json({ data: { me: null } });
    };
    for (const token of ['aZ09-._~+/==', '\n a.b.c\r\n']) await connect({ token, fetch }).request('{ me { id } }');
    expect(headers).toEqual(['Bearer aZ09-._~+/==', 'Bearer a.b.c']);
  });

  test.each([
    ['that is rejected twice', () => EXPIRED, 2],
    ['that is fixed and rejected once', EXPIRED, 1],
  ])('%s is an error', async (_, token, requests) => {
    const error = await rejection(connect({ token }).request(MobileScreenDocument, ME));
    expect([error.code, sent.length]).toEqual(['UNAUTHENTICATED', requests]);
  });

  test.each([
    ['is the HTML of another page', () => '<!doctype html>\n<title>Sign in</title>', 'characters'],
    ['is HTML in one line', () => '<!doctype html><title>Sign in</title>', 'characters'],
    ['is JSON', () => '{"token":"a.b.c"}', 'characters'],
    ['has the scheme before it', () => `Bearer ${tokenOf()}`, 'characters'],
  ])('that %s is an error without a request; the next one asks again', async (_, failing, message) => {
    const fetchers = [failing];
    const client = connect({ token: async () => fetchers.shift()?.() ?? tokenOf() });
    const error = await rejection(client.request(TrackEventsDocument, OPEN_APP));
    expect(error).toMatchObject({ code: 'NO_TOKEN', outcome: 'NOT_DONE', message: expect.stringContaining(message) });
    expect(sent).toHaveLength(0);
    expect((await client.request(MobileScreenDocument, ME)).data.player?.id).toBe('p1');
  });
});

test('createClient is at most 4 KB with gzip, and imports nothing', async () => {
  const contents = "export { createClient, GatewayError } from './index.js'";
  const stdin = { contents, resolveDir: fileURLToPath(new URL('../dist', import.meta.url)) };
  const options = { stdin, bundle: true, minify: true, write: false, metafile: true } as const;
  const { outputFiles, metafile } = await build({ ...options, format: 'esm', target: 'es2022' });
  expect(Object.values(metafile.outputs).flatMap(({ imports }) => imports)).toEqual([]);
  const { length } = gzipSync(outputFiles[0]?.contents ?? '');
  expect(length).toBeLessThanOrEqual(4_096);
  expect(length).toBeGreaterThan(500);
});

test('a token function that fails ends no process when the request was aborted before', async () => {
  const contents = `
    import { createClient, createFetch } from './index.ts';
    const options = { token: () => Promise.reject(new Error('The login service is away.')), fetch: async () => Response.json({}) };
    const aborted = { signal: AbortSignal.abort() };
    const sent = [
      createFetch(options)('https://gateway.example/graphql', aborted),
      createClient({ ...options, url: 'https://gateway.example/graphql' }).request('{ me { id } }', {}, aborted),
    ];
    for (const { reason } of await Promise.allSettled(sent)) console.log(reason.name);`;
  const stdin = { contents, resolveDir: fileURLToPath(new URL('../src', import.meta.url)) };
  const { outputFiles } = await build({ stdin, bundle: true, write: false, format: 'esm', target: 'es2022' });
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '--eval',
    outputFiles[0]?.text ?? '',
  ]);
  expect(stdout).toBe('AbortError\nAbortError\n');
});

test('the errors of every library become errors of the gateway', () => {
  const extensions = { code: 'UPSTREAM_TIMEOUT', retryable: true };
  const one = { message: 'Not now.', path: ['me', 'coupons'], extensions };
  const lost = new GatewayError({ message: 'Lost.', extensions: { code: 'NO_RESPONSE' } });
  const foreign = new TypeError('x is undefined');
  const text = JSON.stringify({ errors: [one] });
  const ofApollo = [
    { errors: [one] },
    { graphQLErrors: [one] },
    { graphqlErrors: [one], networkError: undefined },
    { bodyText: text },
    { networkError: { result: { errors: [one] } } },
  ];
  const ofGraphqlRequest = { response: { errors: [one], data: { me: { coupons: null } }, status: 200 }, request: {} };
  const ofRelay = { source: { errors: [one] } };
  const ofHooks = { httpError: { status: 401, statusText: 'Unauthorized', body: text } };
  const ofOthers = [
    { name: 'AxiosError', response: { status: 401, data: { errors: [one] } } },
    { name: 'FetchError', response: new Response(), data: { errors: [one] } },
    { status: 401, data: { errors: [one] } },
    { name: 'HTTPError', response: { statusCode: 401, body: text } },
    Object.assign(new Error('Unauthorized'), { status: 401, response: { body: { errors: [one] }, text } }),
    { name: 'HttpErrorResponse', status: 401, error: { errors: [one] } },
    Object.assign(new Error(text), { status: 401, text, json: { errors: [one] } }),
    new Error('The page failed.', { cause: new Error('The loader failed.', { cause: { errors: [one] } }) }),
    text,
  ];
  // Of a store that was saved: an error by itself, as TanStack Query has of a query that failed.
  const saved: unknown[] = JSON.parse(JSON.stringify([new GatewayError(one), new GraphQLError(one.message, one)]));
  const ofLibraries = [...ofApollo, ofRelay, ofHooks, ofGraphqlRequest, ...ofOthers];
  for (const error of [...ofLibraries, [one], [new GatewayError(one)], ...saved]) {
    expect(gatewayErrors(error)).toMatchObject([{ ...extensions, path: one.path }]);
  }
  const two = new GatewayError(one, { errors: [one, { message: 'Nor that.', path: ['b'] }], requestId: 'a' });
  expect(gatewayErrors(two).map(({ path }) => path)).toEqual([one.path, ['b']]);
  expect(gatewayErrors(two).map(({ requestId }) => requestId)).toEqual(['a', 'a']);
  for (const error of [lost, { networkError: lost, graphQLErrors: [] }, { fetchError: lost }]) {
    expect(gatewayErrors(error)).toEqual([lost]);
    expect(gatewayErrors(error)[0]).toBe(lost);
  }
  // Nuxt and axios wrap what was thrown; axios takes its name too.
  const ofNuxt = new Error(lost.message, { cause: lost });
  const ofAxios = Object.assign(new Error(lost.message, { cause: lost }), { name: lost.name, toJSON: () => ({}) });
  for (const error of [ofNuxt, ofAxios]) expect(gatewayErrors(error)[0]).toBe(lost);
  expect(gatewayErrors({ bodyText: '<h1>502</h1>' })).toMatchObject([{ code: 'INTERNAL_SERVER_ERROR' }]);
  expect(gatewayErrors({ source: 'x' })).toMatchObject([{ code: 'INTERNAL_SERVER_ERROR' }]);
  expect(gatewayErrors(foreign)).toMatchObject([{ code: 'INTERNAL_SERVER_ERROR', cause: foreign }]);
  expect(gatewayErrors({ networkError: foreign, graphQLErrors: [] })).toMatchObject([
    { code: 'INTERNAL_SERVER_ERROR' },
  ]);
  expect(gatewayErrors({ data: {}, errors: [] })).toEqual([]);
  expect(gatewayErrors([foreign])).toMatchObject([{ code: 'INTERNAL_SERVER_ERROR', cause: foreign }]);
  expect(gatewayErrors([null, 'Not now.'])).toMatchObject([{ code: 'INTERNAL_SERVER_ERROR', message: 'Not now.' }]);
  expect(gatewayErrors(undefined)).toEqual([]);
});

test('a list has the errors of several queries of a screen, as each library gives them; what has none is left out', () => {
  const late = { message: 'Late.', path: ['me'], extensions: { code: 'UPSTREAM_TIMEOUT', retryable: true } };
  const away = new GatewayError({ message: 'Away.', extensions: { code: 'NO_RESPONSE', retryable: true } });
  const ofUrql = { networkError: undefined, graphQLErrors: [late] };
  const wrapped = new Error('The loader failed.', { cause: away });
  const known = [{ message: 'Late.', code: 'UPSTREAM_TIMEOUT', retryable: true, path: ['me'] }, away];
  for (const errors of [
    [ofUrql, undefined, wrapped],
    [null, late, away],
  ]) {
    expect(gatewayErrors(errors)).toMatchObject(known);
    expect(gatewayErrors(new AggregateError(errors))).toMatchObject(known);
  }
  expect(gatewayErrors([undefined, null])).toEqual([]);
  // Of results of `createClient`.
  expect(gatewayErrors([[late], undefined, [], [away]])).toMatchObject(known);
  const circular: unknown[] = [];
  circular.push({ errors: circular, message: 'Round.' });
  expect(gatewayErrors(circular)).toHaveLength(1);
  const round = new Error('Round.');
  round.cause = round;
  expect(gatewayErrors(round)).toMatchObject([{ message: 'Round.', cause: round }]);
});

test('two builds of the package in one program are one: their errors, and the pauses that tests leave out', async () => {
  const build = (file: string) => import(`../src/${file}.ts?build=another`);
  const other = await build('errors');
  const extensions = { code: 'RATE_LIMITED', retryable: true, retryAfterMs: 5 };
  const error: unknown = new other.GatewayError({ message: 'Later.', extensions }, { requestId: 'one' });
  expect([other.GatewayError === GatewayError, error instanceof GatewayError]).toEqual([false, true]);
  const expected = [{ ...extensions, message: 'Later.', requestId: 'one' }];
  for (const found of [error, [error], { networkError: error }]) expect(gatewayErrors(found)).toMatchObject(expected);
  for (const foreign of [new Error('x'), { name: 'GatewayError' }, 'GatewayError', undefined]) {
    expect(foreign instanceof GatewayError).toBe(false);
  }
  expect((await build('retry')).testMode).toBe(testMode);
});

test('the package can be imported where nothing can be added to the global object, as with SES', async () => {
  const contents = "import { testMode } from './retry.ts'; found = testMode.on ?? 'off'";
  const stdin = { contents, resolveDir: fileURLToPath(new URL('../src', import.meta.url)) };
  const { outputFiles } = await build({ stdin, bundle: true, write: false, format: 'iife' });
  const program = `let found; ((globalThis) => { 'use strict'; ${outputFiles[0]?.text} })(Object.freeze({})); found`;
  expect(runInNewContext(program)).toBe('off');
});

test('a class that Babel compiled, as for React Native, can be constructed: it asks for an instance before it has a name', () => {
  expect(Reflect.construct(Object, [], GatewayError)).toBeInstanceOf(GatewayError);
  expect(new GatewayError({ message: 'x' })).toBeInstanceOf(GatewayError);
  expect(new TypeError('x')).not.toBeInstanceOf(GatewayError);
});

test('an error has its cause also in browsers whose `Error` ignores this option, such as Safari 14', () => {
  class OldError extends Error {
    constructor(text: string) {
      super(text);
    }
  }
  Object.setPrototypeOf(GatewayError, OldError);
  const errors = [new GatewayError({ message: 'x' }, { cause: 'y' }), new GatewayError({ message: 'x' })];
  Object.setPrototypeOf(GatewayError, Error);
  expect(errors.map((error) => ('cause' in error ? error.cause : 'none'))).toEqual(['y', 'none']);
});

test('of `extensions`, what has another type than the gateway sends is left out', () => {
  const read = (extensions: Record<string, unknown>) => new GatewayError({ message: 'x', extensions });
  const other = read({ code: 5, retryable: 'true', retryAfterMs: '5', outcome: 'DONE?', requestId: 7 });
  expect(other).toMatchObject({ code: 'INTERNAL_SERVER_ERROR', retryable: false });
  expect([other.retryAfterMs, other.outcome, other.requestId]).toEqual(Array(3).fill(undefined));
  expect([0, -1].map((retryAfterMs) => read({ retryAfterMs }).retryAfterMs)).toEqual([0, undefined]);
});

test('errorAt finds the error of a part by its path, or that of what contains it', () => {
  const at = (...path: (string | number)[]) => ({ message: path.join('.'), path });
  const errors = gatewayErrors([{ message: 'No path.' }, at('player', 'coupons'), at('players', 0)]);
  const messageAt = (path: string) => errorAt(errors, path)?.message;
  expect(messageAt('player.coupons')).toBe('player.coupons');
  expect(messageAt('player.coupons.3.code')).toBe('player.coupons');
  expect(messageAt('players.0.attributes')).toBe('players.0');
  for (const path of ['player', 'player.couponsOther', 'players.1', 'me']) expect(messageAt(path)).toBeUndefined();
  expect(errorAt(undefined, 'player')).toBeUndefined();
  // Some servers and mocks write null where there is no path.
  const withoutPath = gatewayErrors({ errors: [{ message: 'x', path: null, extensions: null }, at('me')] });
  expect([withoutPath[0]?.path, errorAt(withoutPath, 'me')]).toEqual([undefined, withoutPath[1]]);
});

test('no redirect is followed: it would take the token to another address', async () => {
  const asked: unknown[] = [];
  const server = createServer(({ headers }, response) => {
    asked.push(headers.authorization);
    response.writeHead(307, { location: `${url}/graphql` }).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = Object(server.address());
  const { message } = await rejection(
    connect({ url: `http://127.0.0.1:${port}`, attempts: 2 }).request('{ me { id } }'),
  );
  server.close();
  expect(message).toContain('a redirect');
  expect([asked.length, sent.map(({ status }) => status)]).toEqual([2, [307, 307]]);
});
