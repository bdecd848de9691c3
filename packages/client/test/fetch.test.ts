import { createHash } from 'node:crypto';
import { afterEach, expect, jest, test } from '@jest/globals';
import { EXPIRED, ME, startRecorded, tokenOf } from '../../../test/clients/kit.ts';
import { createSend } from '../src/fetch.ts';
import { createClient, createFetch, GatewayError, gatewayErrors, heal, keepParts, type Token } from '../src/index.ts';
import { pauseAfter, testMode } from '../src/retry.ts';
import { pauseOf, skipPauses } from './pauses.ts';

/* `createFetch` as libraries use it, and what something between client and gateway can answer. */

const { url, upstream, sent, lose, events } = await startRecorded();
const pauses = skipPauses();
const valid = tokenOf();
const READ = { query: 'query Screen($id: ID!) { player(playerUniqueId: $id) { id } }', variables: { id: 'p1' } };
const TRACK = {
  query: 'mutation Open($input: TrackEventsInput!) { trackEvents(input: $input) { eventNames } }',
  variables: { input: { ...ME, events: [{ name: 'open_wallet' }] } },
};
const post = (body: unknown, more: RequestInit = {}) => ({
  ...{ method: 'POST', body: JSON.stringify(body) },
  ...{ ...more, headers: { 'content-type': 'application/json', ...more.headers } },
});
const rejection = async (promise: Promise<unknown>) => {
  const error = await promise.catch((reason: unknown) => reason);
  if (!(error instanceof GatewayError)) throw new Error(`Not rejected with a GatewayError: ${String(error)}`);
  return error;
};
/** A `fetch` that answers these responses one after the other, and then asks the gateway. */
const after = (...responses: (Response | Error)[]): typeof fetch => {
  return async (...request) => {
    const next = responses.shift();
    if (next instanceof Error) throw next;
    return next ?? fetch(...request);
  };
};
const page = (status: number, headers: Record<string, string> = {}) =>
  new Response('<h1>Not the gateway</h1>', { status, headers: { 'content-type': 'text/html', ...headers } });

afterEach(() => {
  jest.restoreAllMocks();
  testMode.on = false;
});

test('adds the token, keeps what the library made, and answers what the gateway answered', async () => {
  const seen: Headers[] = [];
  const inner: typeof fetch = (to, init) => {
    seen.push(new Headers(init?.headers));
    return fetch(to, init);
  };
  const own = createFetch({ token: valid, fetch: inner, headers: { 'x-app-version': '3', accept: 'text/plain' } });
  const response = await own(url, post(READ, { headers: { 'x-of-the-library': 'yes', accept: 'application/json' } }));
  expect(await response.json()).toMatchObject({ data: { player: { id: 'p1' } } });
  expect([response.ok, response.headers.get('x-request-id')]).toEqual([true, expect.any(String)]);
  expect(Object.fromEntries(seen[0] ?? [])).toMatchObject({
    ...{ authorization: `Bearer ${valid}`, accept: 'application/json' },
    ...{ 'x-app-version': '3', 'x-of-the-library': 'yes' },
  });
});

test('events have one key for the attempts of one call, and are counted once', async () => {
  lose(2);
  const own = createFetch({ token: valid });
  expect(await (await own(url, post(TRACK))).json()).toMatchObject({
    data: { trackEvents: { eventNames: ['open_wallet'] } },
  });
  const keys = sent.map(({ variables }) => variables['input']?.idempotencyKey);
  expect([keys.length, new Set(keys).size, events()]).toEqual([3, 1, 1]);
  await own(url, post(TRACK));
  expect(new Set(sent.map(({ variables }) => variables['input']?.idempotencyKey)).size).toBe(2);
});

test('a query is sent again, at most `attempts` times; a mutation without a key once', async () => {
  upstream.on('GET /player', { status: 500 });
  const own = createFetch({ token: valid, attempts: 2 });
  const { errors } = await (await own(url, post(READ))).json();
  expect([errors[0].extensions.code, sent.length]).toEqual(['UPSTREAM_UNAVAILABLE', 2]);
  lose(1);
  const upsert = { query: 'mutation ($input: UpsertPlayerInput!) { upsertPlayer(input: $input) { player { id } } }' };
  const error = await rejection(own(url, post({ ...upsert, variables: { input: ME } })));
  expect(error).toMatchObject({ code: 'NO_RESPONSE', outcome: 'UNKNOWN', retryable: false });
  expect([gatewayErrors({ networkError: error })[0], sent.length]).toEqual([error, 3]);
});

test.each([
  [true, false],
  [false, true],
])(
  'of errors with `retryable` %p and %p, one that is final is enough: two writes are not sent again',
  async (...all) => {
    const errors = all.map((retryable) => ({ message: 'Not done', extensions: { code: 'OVERLOADED', retryable } }));
    const own = createFetch({
      token: valid,
      fetch: after(Response.json({ data: { first: null, second: null }, errors })),
    });
    const query =
      'mutation { first: deletePlayer(input: {}) { userErrors { code } } second: deletePlayer(input: {}) { userErrors { code } } }';
    expect(await (await own(url, post({ query }))).json()).toMatchObject({ errors });
    expect(sent).toEqual([]);
  },
);

test.each([401, 403, 404, 405, 413])('a page with the status %d is final and told as what it is', async (status) => {
  const own = createFetch({ token: 'one', fetch: after(page(status)) });
  const error = await rejection(own(url, post(READ)));
  expect(error).toMatchObject({ code: 'NO_RESPONSE', retryable: false });
  expect(error.message).toMatch(new RegExp(`with ${status}.*(firewall|proxy|URL)`));
});

test('an edge that is busy is asked again, as late as it says in seconds or as a date', async () => {
  const now = Date.UTC(2030, 0);
  jest.spyOn(Date, 'now').mockReturnValue(now);
  for (const retryAfter of ['1', new Date(now + 2_000).toUTCString()]) {
    const own = createFetch({ token: valid, fetch: after(page(503, { 'retry-after': retryAfter })) });
    expect((await own(url, post(READ))).status).toBe(200);
  }
  expect(pauses).toEqual([1_000, 2_000].map(pauseOf));
  const day = createFetch({ token: valid, fetch: after(page(503, { 'retry-after': '86400' })) });
  expect((await rejection(day(url, post(READ)))).retryAfterMs).toBe(86_400_000);
});

test('of the pauses that two edges ask for in one header, the longer is kept', async () => {
  const headers = new Headers();
  for (const seconds of ['60', '7200']) headers.append('retry-after', seconds);
  const own = createFetch({ fetch: async () => new Response('<h1>Busy</h1>', { status: 503, headers }) });
  expect((await rejection(own(url, post(READ)))).retryAfterMs).toBe(7_200_000);
});

test('a date of an edge is meant by its own clock: that of a phone can be wrong', async () => {
  const tomorrow = Date.now() + 86_400_000;
  const at = (ms: number) => new Date(tomorrow + ms).toUTCString();
  const own = createFetch({ token: valid, fetch: after(page(503, { date: at(0), 'retry-after': at(1_000) })) });
  expect((await own(url, post(READ))).status).toBe(200);
  expect(pauses).toEqual([pauseOf(1_000)]);
});

test.each([
  [429, { errors: [{ status: '429', title: 'Too Many Requests' }] }, 200],
  [503, { data: null, errors: [{ message: 'upstream connect error' }] }, 200],
  [502, { errors: [] }, 200],
  [504, { data: '', errors: [{ message: 'Too late', extensions: { code: 'X' } }] }, 200],
  [400, { errors: [{ message: 'Bad Request' }] }, 'responded with 400'],
  [403, { success: false, errors: [{ code: 1_020, message: 'Access denied' }] }, 'a firewall refused the request'],
])('JSON of an edge with the status %d is no response of the gateway: %j', async (status, body, expected) => {
  const own = createFetch({ token: 'one', fetch: after(Response.json(body, { status }), new Response('{"data":{}}')) });
  const found = await own(url, post(READ)).catch((error: unknown) => error);
  if (typeof expected === 'number') expect(found).toMatchObject({ status: expected });
  else expect(found).toMatchObject({ code: 'NO_RESPONSE', message: expect.stringContaining(expected) });
});

test('errors without a code are a response when the status is 200: another server of the application may send them', async () => {
  const body = { errors: [{ message: 'Not now.' }] };
  const response = await createFetch({ fetch: after(Response.json(body)) })(url, post(READ));
  expect([response.status, await response.json()]).toEqual([200, body]);
});

test('a pause of 60 s is kept, a longer one is left to the caller', async () => {
  testMode.on = true;
  const busy = (seconds: string) => page(503, { 'retry-after': seconds });
  for (const [seconds, left] of [
    ['60', 0],
    ['61', 1],
  ] as const) {
    const responses = [busy(seconds), Response.json({ data: { player: null } })];
    await createFetch({ fetch: async () => responses.shift() ?? page(500) })(url, post(READ)).catch(() => undefined);
    expect(responses).toHaveLength(left);
  }
});

test('after an attempt whose outcome is unknown, the errors of an event say so, unless the last one knows that it was done', async () => {
  const failed = (...all: object[]) =>
    Response.json({ data: null, errors: all.map((extensions) => ({ message: 'No.', extensions })) });
  const lost = [
    { code: 'UPSTREAM_UNAVAILABLE', retryable: true },
    { code: 'OVERLOADED', retryable: true, outcome: 'UNKNOWN' },
  ];
  const outcomeAfter = async (last: object) => {
    const own = createFetch({ fetch: after(failed(...lost), failed(last)) });
    return gatewayErrors(await (await own(url, post(TRACK))).json());
  };
  expect(await outcomeAfter({ code: 'UPSTREAM_REJECTED' })).toMatchObject([{ outcome: 'UNKNOWN', retryable: false }]);
  expect(await outcomeAfter({ code: 'UPSTREAM_TIMEOUT', outcome: 'DONE' })).toMatchObject([{ outcome: 'DONE' }]);
  const cause = new TypeError('connection refused');
  const error = await rejection(createFetch({ attempts: 2, fetch: after(failed(...lost), cause) })(url, post(TRACK)));
  expect(error).toMatchObject({ code: 'NO_RESPONSE', outcome: 'UNKNOWN', cause });
});

test('the response is a `Response` of the platform, without `content-encoding` and `content-length`', async () => {
  const headers = { 'content-encoding': 'gzip', 'content-length': '20', 'x-request-id': 'r1' };
  const fetch = async () => new Response('{"data":{"player":null}}', { headers });
  const response = await createFetch({ fetch })(url, post(READ));
  expect(response).toBeInstanceOf(Response);
  expect([...response.headers.keys()]).toEqual(['content-type', 'x-request-id']);
});

test('a number of attempts that is none, as of a variable that is not set, is one attempt', async () => {
  let requests = 0;
  const away = async () => {
    requests += 1;
    throw new TypeError('connection refused');
  };
  await rejection(createFetch({ fetch: away, attempts: Number.NaN })(url, post(READ)));
  expect(requests).toBe(1);
});

test('a pause between two attempts is at most 60 s, and up to a half more', () => {
  const pauses = Array.from({ length: 20 }, (_, index) => pauseAfter(index + 1, 0));
  expect(pauses[0]).toBeLessThan(200);
  expect(Math.max(...pauses)).toBeLessThan(90_000);
  expect(pauses[19]).toBeGreaterThanOrEqual(60_000);
});

test('an attempt ends after `timeoutMs`, and the next one is made', async () => {
  jest.useFakeTimers();
  let calls = 0;
  const hanging: typeof fetch = (to, init) => {
    calls += 1;
    if (calls > 1) return fetch(to, init);
    return new Promise((_resolve, reject) => {
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
    });
  };
  const response = createFetch({ token: valid, fetch: hanging, timeoutMs: 2_000 })(url, post(READ));
  await jest.advanceTimersByTimeAsync(2_000 + 124);
  expect(calls).toBe(1);
  await jest.advanceTimersByTimeAsync(64);
  expect(calls).toBe(2);
  expect((await response).status).toBe(200);
});

test('the signal of an attempt that has its response stays as it is: a copy for a cache may be read still', async () => {
  const signals: (AbortSignal | null | undefined)[] = [];
  const caching: typeof fetch = (to, init) => {
    signals.push(init?.signal);
    return fetch(to, init);
  };
  await createFetch({ token: valid, fetch: caching })(url, post(READ));
  await rejection(createClient({ url, token: EXPIRED, fetch: caching }).request(READ.query));
  expect(signals.map((signal) => signal?.aborted)).toEqual([false, false]);
});

test('the signal of the library ends the request with its reason', async () => {
  const abort = new AbortController();
  const held = upstream.hold('GET /player');
  const request = createFetch({ token: valid })(url, post(READ, { signal: abort.signal }));
  await held.arrived;
  abort.abort(new Error('another screen'));
  await expect(request).rejects.toThrow('another screen');
  held.release();
});

test.each<[string, Token, number]>([
  ['fails', () => Promise.reject(new Error('login is away')), 0],
  ['hangs', () => new Promise(() => undefined), 15_000],
])(
  'a token function that %s once is asked again; for ever, it is TOKEN_UNAVAILABLE and nothing was sent',
  async (_how, failing, endsAfter) => {
    jest.useFakeTimers();
    const fails = failing as () => Promise<string>;
    let asked = 0;
    const token = async () => {
      asked += 1;
      return asked === 1 ? fails() : valid;
    };
    const response = createFetch({ token })(url, post(READ));
    await jest.advanceTimersByTimeAsync(endsAfter + 124);
    expect(asked).toBe(1);
    await jest.advanceTimersByTimeAsync(64);
    expect(asked).toBe(2);
    expect((await response).status).toBe(200);
    const failed = rejection(createFetch({ token: fails, attempts: 2 })(url, post(TRACK)));
    await jest.advanceTimersByTimeAsync(2 * endsAfter + 188);
    expect(await failed).toMatchObject({
      ...{ code: 'TOKEN_UNAVAILABLE', retryable: true, outcome: 'NOT_DONE' },
    });
    expect(sent).toHaveLength(1);
  },
);

test.each([
  Object.assign(new Error('NEXT_REDIRECT'), { digest: 'NEXT_REDIRECT;replace;/sign-in;307;' }),
  Object.assign(new Error('Dynamic server usage'), { digest: 'DYNAMIC_SERVER_USAGE' }),
  new Response(null, { status: 302, headers: { location: '/sign-in' } }),
  { status: 303, location: '/sign-in' },
])(
  'what a framework throws to leave the page reaches it, as of Next.js, React Router and SvelteKit: %p',
  async (thrown) => {
    let times = 0;
    const leave = async () => {
      times += 1;
      throw thrown;
    };
    for (const options of [{ token: leave }, { fetch: leave }]) {
      expect(await createFetch(options)(url, post(READ)).catch((error: unknown) => error)).toBe(thrown);
      const client = createClient({ url, ...options });
      expect(await client.request('{ me { id } }').catch((error: unknown) => error)).toBe(thrown);
    }
    expect([times, sent]).toEqual([4, []]);
  },
);

test.each([
  ...[{ digest: '3620436700' }, { digest: '2f9C' }],
  ...['SERVICE_UNAVAILABLE', 503, 3021, 1302].map((status) => ({ status })),
])(
  'a token function that throws an error with %j, as a server action of Next.js or Better Auth, is called again',
  async (more) => {
    const tokens = [Promise.reject(Object.assign(new Error('The login service failed.'), more)), valid];
    expect((await createFetch({ token: () => tokens.shift() })(url, post(READ))).status).toBe(200);
    expect(tokens).toEqual([]);
  },
);

test('a write whose 401 came late did nothing, also when the time ends while another token is fetched', async () => {
  jest.useFakeTimers();
  const tokens = [Promise.resolve('one'), new Promise<string>(() => undefined)];
  const late = new Promise<Response>((resolve) => {
    setTimeout(() => resolve(new Response('{}', { status: 401 })), 20_000);
  });
  const own = createFetch({ token: () => tokens.shift() ?? '', fetch: () => late, attempts: 1 });
  const query = 'mutation ($input: UpsertPlayerInput!) { upsertPlayer(input: $input) { serviceId } }';
  const failed = rejection(own(url, post({ query, variables: { input: ME } })));
  await jest.advanceTimersByTimeAsync(30_000);
  const known = { code: 'TOKEN_UNAVAILABLE', retryable: true, outcome: 'NOT_DONE' };
  expect(await failed).toMatchObject({ ...known, cause: { message: 'no response within 30000 ms' } });
});

test('with a `fetch` of the test alone, as in Jest with jsdom, which has no `Response`, libraries get what they read of one', async () => {
  const data = { player: { id: 'p1' } };
  const given = Response.json({ data });
  const original = globalThis.Response;
  Reflect.deleteProperty(globalThis, 'Response');
  try {
    const read = createFetch({ fetch: async () => given.clone() });
    const { ok, status, headers, ...response } = await read(url, post(READ));
    expect([ok, status, headers.get('content-type')]).toEqual([true, 200, 'application/json']);
    expect([JSON.parse(await response.text()), await response.json()]).toEqual([{ data }, { data }]);
    for (const [status, isOk] of [
      [299, true],
      [300, false],
    ] as const) {
      const other = createFetch({ fetch: async () => Object({ status, text: async () => JSON.stringify({ data }) }) });
      expect((await other(url, post(READ))).ok).toBe(isOk);
    }
    const client = createClient({ url, fetch: async () => given.clone() });
    expect((await client.request(READ.query)).data).toEqual(data);
  } finally {
    globalThis.Response = original;
  }
});

test.each([undefined, null, { get: jest.fn() }, new Map([['retry-after', '1']])])(
  'a `fetch` of the test may give %p in the place of headers',
  async (headers) => {
    const text = async () => '{ "data": { "me": null } }';
    const client = createClient({ url, attempts: 1, fetch: async () => Object({ status: 200, headers, text }) });
    expect(await client.request('{ me { id } }')).toEqual({ data: { me: null }, errors: [] });
  },
);

test('without a global `fetch`, as in Jest with jsdom, a request fails at once, and says so', async () => {
  const original = globalThis.fetch;
  Reflect.deleteProperty(globalThis, 'fetch');
  const error = await rejection(createFetch()(url, post(READ))).finally(() => {
    globalThis.fetch = original;
  });
  expect(error).toMatchObject({ message: expect.stringContaining('option `fetch`'), retryable: false });
});

const WRONG = ['/graphql', 'localhost:4000/graphql', 'https:///graphql', 'https://', 'undefined', ''];
test.each([
  ...WRONG,
  'https://me:secret@gateway.example/graphql',
  'wss://gateway.example/graphql',
  'view-source:https://gateway.example/graphql',
  'http://my gateway/',
])(
  'the address %j without a page fails at once, and says so; a `fetch` of the application, as of a framework, gets it',
  async (address) => {
    const error = await rejection(createFetch()(address, post(READ)));
    expect([error.message, error.retryable, sent]).toEqual([expect.stringContaining('absolute URL'), false, []]);
    expect((await rejection(createClient({ url: address }).request('{ me { id } }'))).message).toBe(error.message);
    let attempts = 0;
    const counting = (...request: Parameters<typeof globalThis.fetch>) => {
      attempts += 1;
      return globalThis.fetch(...request);
    };
    if (URL.canParse(address)) attempts = 1;
    else expect((await rejection(createFetch({ fetch: counting })(address, post(READ)))).message).toBe(error.message);
    expect(attempts).toBe(1);
    const asked: unknown[] = [];
    const fetch = async (...[to]: Parameters<typeof globalThis.fetch>) => {
      asked.push(to);
      return Response.json({ data: { me: null } });
    };
    expect((await createFetch({ fetch })(address, post(READ))).status).toBe(200);
    await createClient({ url: address, fetch }).request('{ me { id } }');
    expect(asked).toEqual([address, address]);
  },
);

test.each([
  ['/graphql', 'http://localhost/'],
  ['/graphql', 'about:blank'],
  ['http://localhost:undefined/graphql', 'http://localhost/'],
])('the address %s, which `fetch` cannot read in the page %s of jsdom, fails at once', async (address, href) => {
  Object.assign(globalThis, { location: { href } });
  const errors = [createFetch()(address, post(READ)), createClient({ url: address }).request('{ me { id } }')].map(
    rejection,
  );
  for (const error of await Promise.all(errors).finally(() => Reflect.deleteProperty(globalThis, 'location')))
    expect([error.message, error.retryable]).toEqual([expect.stringContaining('absolute URL'), false]);
});

test.each(['/graphql?at=10:30', 'graphql#at:top'])(
  'the address %s is one of the page: its colon ends no scheme',
  async (address) => {
    const original = globalThis.fetch;
    Object.assign(globalThis, {
      location: { href: 'https://shop.example/' },
      fetch: async (to: string) => Response.json({ data: { asked: to } }),
    });
    const response = await createFetch()(address, post(READ)).finally(() => {
      Reflect.deleteProperty(globalThis, 'location');
      globalThis.fetch = original;
    });
    expect(await response.json()).toEqual({ data: { asked: address } });
  },
);

test('an address with a user is given to no `fetch`, which could send the user to another server', async () => {
  const asked = jest.spyOn(globalThis, 'fetch');
  const error = await rejection(createFetch()('https://me@gateway.example/graphql', post(READ)));
  expect([error.retryable, asked.mock.calls.length]).toEqual([false, 0]);
});

test.each([
  'Only absolute URLs are supported',
  'Failed to construct \'Request\': Invalid URL "http://host:99999/graphql" on document location "http://localhost/"',
])(
  'an address that a polyfill of `fetch` refuses, as node-fetch and happy-dom do, fails at once: %s',
  async (message) => {
    const polyfill = jest.fn(async () => Promise.reject(new TypeError(message)));
    const error = await rejection(createFetch({ fetch: polyfill })('/graphql', post(READ)));
    expect([error.retryable, polyfill.mock.calls.length]).toEqual([false, 1]);
  },
);

test('a `Request` that the `fetch` of another library cannot read fails at once, and the cause says so', async () => {
  const other = jest.fn(async () => Promise.reject(new TypeError('Failed to parse URL from [object Request]')));
  const error = await rejection(createFetch({ fetch: other })(new Request(url, post(READ))));
  expect(error).toMatchObject({ retryable: false, cause: { message: expect.stringContaining('[object Request]') } });
  expect(other.mock.calls).toHaveLength(1);
});

test.each([
  'Unable to connect. Is the computer able to access the url?',
  'error sending request for url (https://gateway.example/)',
  'The operation could not be completed. (NSURLErrorDomain error -1005.)',
  'Failed to execute "fetch()" on "Window" with URL "http://127.0.0.1:4000/graphql": connect ECONNREFUSED 127.0.0.1:4000',
])('a lost connection is no wrong address: %s', async (message) => {
  const fetch = after(new TypeError(message));
  expect((await createFetch({ fetch, token: valid })(url, post(READ))).status).toBe(200);
});

test.each([{ 'x-user': 'Łukasz' }, { 'x user': 'Ann' }])(
  'the headers %j, which no request can have, fail at once, as those of the client or of a library',
  async (headers) => {
    const ways = [createFetch({ headers })(url, post(TRACK)), createFetch()(url, post(TRACK, { headers }))];
    for (const error of await Promise.all(ways.map(rejection)))
      expect(error).toMatchObject({
        code: 'NO_RESPONSE',
        retryable: false,
        outcome: 'NOT_DONE',
        cause: { name: 'TypeError' },
      });
    expect(sent).toEqual([]);
  },
);

test.each([
  '{"email": "ada@shop.example"}',
  // A search: no text, or one that is no document.
  '{"query": {"match_all": {}}}',
  '{"query": "mugs"}',
])('JSON for another service is sent once as it is, with the token: %s', async (text) => {
  const bodies: unknown[] = [];
  const fetch: typeof globalThis.fetch = async (_, init) => {
    bodies.push([init?.body, new Headers(init?.headers).get('authorization')]);
    return Response.json({ isSubscribed: false }, { status: 503 });
  };
  const response = await createFetch({ token: 'one', fetch })('https://news.example/', { ...post({}), body: text });
  expect([await response.json(), bodies]).toEqual([{ isSubscribed: false }, [[text, 'Bearer one']]]);
});

test('`errors: null`, as some servers and mocks write it, is no error', async () => {
  const body = { data: { me: { id: 'p1' } }, errors: null };
  const fetch = async () => Response.json(body);
  expect(await (await createFetch({ fetch })(url, post(TRACK))).json()).toEqual(body);
  expect(await createClient({ url, fetch }).request('{ me { id } }')).toEqual({ data: body.data, errors: [] });
});

test('an address can have white space around it', async () => {
  expect((await createFetch({ token: valid })(` ${url}\n`, post(READ))).status).toBe(200);
});

test('a persisted document is sent by the id that the manifest has for its name', async () => {
  const bodies: string[] = [];
  const fetch = async (_to: unknown, init?: RequestInit) => {
    bodies.push(String(init?.body));
    return Response.json({ data: { player: null } });
  };
  const operations = ['abc', 'def'].map((id, index) => ({
    id: `sha256:${id}`,
    name: ['Screen', 'Other'][index] ?? '',
  }));
  const persisted = { operations: operations.reverse() };
  await createFetch({ fetch, persisted })(url, post({ ...READ, operationName: 'Screen' }));
  expect(JSON.parse(bodies[0] ?? '')).toEqual({
    documentId: 'sha256:abc',
    operationName: 'Screen',
    variables: { id: 'p1' },
  });
  // villus sends no name.
  await createFetch({ fetch, persisted })(url, post(READ));
  expect(JSON.parse(bodies[1] ?? '')).toEqual({ documentId: 'sha256:abc', variables: { id: 'p1' } });
  const spaced = { ...READ, query: READ.query.replace(' ', '  ') };
  await createFetch({ fetch, persisted })(url, post(spaced));
  expect(bodies.pop()).toBe(bodies[1]);
  // In front of the name can be a comment, or a fragment in the same line.
  const fragment = 'fragment Query on Player { id }';
  for (const before of ['# The query of the start page.\n', '"The mutation that is none." ', `${fragment} `])
    await createFetch({ fetch, persisted })(url, post({ ...READ, query: before + READ.query }));
  expect(bodies.slice(2)).toEqual([bodies[1], bodies[1], bodies[1]]);
});

test.each<[kind: string, type: string | undefined, isQuery: boolean | undefined, attempts: number]>([
  ['the manifest calls a query', 'query', undefined, 2],
  ['the library calls a query', undefined, true, 2],
  ['the manifest calls a mutation', 'mutation', undefined, 1],
  ['nobody knows', undefined, undefined, 1],
])(
  'without a response, the id of a document that %s is sent again only if it is a query',
  async (_, type, isQuery, attempts) => {
    const bodies: unknown[] = [];
    const fetch: typeof globalThis.fetch = async (_to, init) => {
      bodies.push(JSON.parse(String(init?.body)));
      throw new TypeError('Load failed');
    };
    const persisted = { operations: [{ id: 'abc', name: 'Screen', ...(type && { type }) }] };
    const send = createSend({ attempts: 2, fetch, persisted });
    const body = { operationName: 'Screen', variables: {} };
    await rejection(send(url, post(body), isQuery, isQuery && 'urql'));
    expect(bodies).toEqual(Array(attempts).fill({ ...body, documentId: isQuery ? 'urql' : 'abc' }));
  },
);

test('events that are registered by their hashes are different events when hash, name or variables differ', async () => {
  const keys: unknown[] = [];
  const fetch: typeof globalThis.fetch = async (_to, init) => {
    const { variables } = JSON.parse(String(init?.body));
    keys.push([variables.input.events[0].name, variables.input.idempotencyKey]);
    throw new TypeError('Load failed');
  };
  const own = createFetch({ attempts: 1, fetch });
  const input = (name: string) => ({ input: { ...ME, events: [{ name }] } });
  const byHash = (sha256Hash: string) => ({ extensions: { persistedQuery: { version: 1, sha256Hash } } });
  const opened = { ...byHash('one'), variables: input('open_wallet') };
  for (const body of [
    opened,
    { ...opened, ...byHash('two') },
    { ...opened, operationName: 'Open' },
    { ...opened, variables: input('close_wallet') },
  ])
    await rejection(own(url, post(body)));
  expect(keys).toEqual([...Array(3).fill('open_wallet'), 'close_wallet'].map((name) => [name, expect.any(String)]));
  expect(new Set(keys.map(String)).size).toBe(4);
});

test('an operation can have extensions of another kind', async () => {
  expect((await createFetch({ token: valid })(url, post({ ...READ, extensions: { trace: 'a' } }))).status).toBe(200);
});

test.each<[string, () => Parameters<typeof fetch>]>([
  [
    'a GET with the type of JSON',
    () => [`${url}?query=%7Bme%7Bid%7D%7D`, { headers: { 'content-type': 'application/json' } }],
  ],
  [
    'a `Request` of another type',
    () => [new Request(url, { ...post(READ), headers: { 'content-type': 'text/plain' } })],
  ],
  ['a `Request` without a type', () => [new Request(url, { method: 'POST', body: new Uint8Array(3) })]],
])('%s is no operation: it is sent once, as it is', async (_, request) => {
  let requests = 0;
  const fetch = async () => {
    requests += 1;
    return page(503);
  };
  expect((await createFetch({ fetch })(...request())).status).toBe(503);
  expect(requests).toBe(1);
});

test('clients that failed together do not come back together: each pause has a random share', async () => {
  const extensions = { code: 'OVERLOADED', retryable: true, retryAfterMs: 200 };
  for (let client = 0; client < 40; client += 1) {
    const busy = Response.json({ errors: [{ message: 'Busy', extensions }] });
    await createFetch({ fetch: after(busy, Response.json({ data: { me: null } })) })(url, post(READ));
  }
  expect(pauses).toEqual(Array(40).fill(pauseOf(200)));
  expect(Math.max(...pauses) - Math.min(...pauses)).toBeGreaterThan(50);
});

test('reads headers without `get`, which throws in a `load` of SvelteKit: a response, and a final page', async () => {
  const asked: number[] = [];
  const own = (...responses: Response[]) =>
    createFetch({
      token: valid,
      async fetch(...request) {
        const response = responses.shift() ?? (await fetch(...request));
        asked.push(response.status);
        response.headers.get = (name) => {
          throw new Error(`Failed to get response header "${name}"`);
        };
        return response;
      },
    });
  expect((await own()(url, post(READ))).status).toBe(200);
  const error = await rejection(own(page(403, { date: new Date().toUTCString() }))(url, post(READ)));
  expect([error.message, error.retryable]).toEqual([expect.stringContaining('a firewall refused'), false]);
  expect(asked).toEqual([200, 403]);
});

test('retries of a library do not multiply: a request that failed is sent once, others have all their attempts', async () => {
  let requests = 0;
  let isAway = true;
  const fetch = async () => {
    requests += 1;
    if (isAway) throw new TypeError('connection refused');
    return Response.json({ data: { player: null } });
  };
  const own = createFetch({ fetch, attempts: 3 });
  const counts: number[] = [];
  for (const away of [true, true, true, false, true]) {
    isAway = away;
    requests = 0;
    await own(url, post(READ)).catch(() => undefined);
    counts.push(requests);
  }
  expect(counts).toEqual([3, 1, 1, 1, 3]);
  requests = 0;
  await own(url, post({ ...READ, operationName: 'Other' })).catch(() => undefined);
  expect(requests).toBe(3);
});

test('a request that its caller aborted has all its attempts when it is sent again', async () => {
  const abort = new AbortController();
  let requests = 0;
  const fetch = async () => {
    requests += 1;
    if (requests === 1) abort.abort(new Error('closed'));
    throw new TypeError('connection refused');
  };
  const own = createFetch({ fetch, attempts: 3 });
  await expect(own(url, post(READ, { signal: abort.signal }))).rejects.toThrow('closed');
  requests = 1;
  await own(url, post(READ)).catch(() => undefined);
  expect(requests).toBe(4);
});

test('an error of a library that has the response unread, as of ky and graphql-http, has the errors of the gateway', async () => {
  const extensions = { code: 'RATE_LIMITED', retryable: true, retryAfterMs: 90_000 };
  const body = { errors: [{ message: 'Later.', extensions }] };
  const fetch = async () => Response.json(body, { status: 429, statusText: 'Too Many Requests' });
  const response = await createFetch({ fetch })(url, post(READ));
  // ky and graphql-hooks write it into the error.
  expect(response.statusText).toBe('Too Many Requests');
  const error = Object.assign(new Error('Request failed with status code 429'), { name: 'HTTPError', response });
  expect(gatewayErrors(error)).toMatchObject([extensions]);
  expect(await response.json()).toEqual(body);
});

test('an event that is sent again soon after its response was lost is the same event, as of `RetryLink`', async () => {
  const own = createFetch({ token: valid, attempts: 2 });
  lose(2);
  await rejection(own(url, post(TRACK)));
  const abort = new AbortController();
  const held = upstream.hold('POST /event');
  const left = own(url, post({ ...TRACK, operationName: 'Open' }, { signal: abort.signal }));
  await held.arrived;
  abort.abort(new Error('closed'));
  await expect(left).rejects.toThrow('closed');
  held.release();
  // Two that are the same: the second press after a success is another event.
  for (const again of [TRACK, TRACK, { ...TRACK, operationName: 'Open' }]) await own(url, post(again));
  const keys = sent.map(({ variables }) => variables['input']?.idempotencyKey);
  const [first, , repeated, other, closed] = keys;
  expect([keys.length, repeated, new Set([first, other, closed]).size]).toEqual([5, first, 3]);
  expect(events()).toBe(3);
});

test('an event by its text that got no response has the same key when the library sends hash and text again', async () => {
  const persistedQuery = { version: 1, sha256Hash: createHash('sha256').update('another').digest('hex') };
  const byHash = { variables: TRACK.variables, extensions: { persistedQuery } };
  const withText = { ...TRACK, extensions: { persistedQuery } };
  const keys: string[] = [];
  const unknown = { message: 'PersistedQueryNotFound', extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } };
  const own = createFetch({
    token: valid,
    attempts: 1,
    fetch: async (_, init) => {
      const { query, variables } = JSON.parse(String(init?.body));
      keys.push(variables.input.idempotencyKey);
      if (query && keys.length === 2) throw new TypeError('lost');
      return Response.json(query ? { data: { trackEvents: { userErrors: [] } } } : { errors: [unknown] });
    },
  });
  await own(url, post(byHash));
  await rejection(own(url, post(withText)));
  for (const again of [byHash, withText, byHash, withText]) await own(url, post(again));
  expect([new Set(keys.slice(0, 4)).size, new Set(keys.slice(4)).size, new Set(keys).size]).toEqual([1, 1, 2]);
});

test('of two events, the one that was counted keeps its key when both are sent again because the other was not', async () => {
  upstream.on('POST /event', { status: 429 }, 'usual');
  const [first, second] = ['open_wallet', 'close_wallet'].map((name) => ({ ...ME, events: [{ name }] }));
  const both = {
    query: `mutation Both($first: TrackEventsInput!, $second: TrackEventsInput!) {
      one: trackEvents(input: $first) { eventNames } two: trackEvents(input: $second) { eventNames }
    }`,
    variables: { first, second },
  };
  const own = createFetch({ token: valid });
  const { data, errors } = await (await own(url, post(both))).json();
  expect([data, errors]).toMatchObject([{ one: null, two: {} }, [{ extensions: { retryable: true } }]]);
  expect((await (await own(url, post(both))).json()).errors).toBeUndefined();
  expect(events()).toBe(3);
});

/** The keys of the events that are sent for a mutation, twice, by a stub that responds with these bodies. */
async function keysOf(query: string, ...bodies: object[]) {
  const keys: unknown[] = [];
  const stub = createFetch({
    fetch: async (_, init) => {
      keys.push(JSON.parse(String(init?.body)).variables.event.idempotencyKey);
      return Response.json(bodies.shift());
    },
  });
  const event = { ...ME, events: [{ name: 'visit' }] };
  for (let left = bodies.length; left > 0; left -= 1) await stub(url, post({ query, variables: { event } }));
  return keys;
}

test('an event keeps its key when the upsert beside it failed, and has a new one when all was done', async () => {
  const both =
    'mutation ($event: TrackEventsInput!) { upsertPlayer(input: $player) { serviceId } trackEvents(input: $event) { eventNames } }';
  const extensions = { code: 'UPSTREAM_UNAVAILABLE', retryable: true, outcome: 'NOT_DONE' };
  const half = { data: { upsertPlayer: null, trackEvents: {} }, errors: [{ message: 'No', extensions }] };
  const [first, second] = await keysOf(both, half, { data: { upsertPlayer: {}, trackEvents: {} } });
  expect(first).toBe(second);
  const beside = 'mutation ($event: TrackEventsInput!) { trackEvents(input: $event) { eventNames } notify }';
  const done = { data: { trackEvents: {}, notify: null } };
  const [one, two] = await keysOf(beside, done, done);
  expect(one).not.toBe(two);
});

const UPSERT = {
  query: 'mutation ($input: UpsertPlayerInput!) { upsertPlayer(input: $input) { serviceId } }',
  variables: { input: ME },
};
test.each([
  ['an event', 'UNKNOWN', TRACK],
  ['an event with another variable', 'UNKNOWN', { ...TRACK, variables: { ...TRACK.variables, lang: 'de' } }],
  ['an upsert, which is another one', 'NOT_DONE', UPSERT],
  ['a write with an id alone', 'NOT_DONE', { documentId: 'a1', variables: { id: 'p1' } }],
])('%s that was lost, and is refused when it is sent again soon, has the outcome %s', async (_, outcome, body) => {
  const refused = (code: string, outcome: string) =>
    Response.json({
      data: { write: null },
      errors: [{ message: '', extensions: { code, outcome, retryable: false } }],
    });
  const lost = () => Promise.reject(new TypeError('lost'));
  // No response, or one that says that nobody knows.
  for (const first of [lost, async () => refused('UPSTREAM_UNAVAILABLE', 'UNKNOWN')]) {
    const answers = [first, async () => refused('FORBIDDEN', 'NOT_DONE')];
    const own = createFetch({ token: valid, attempts: 1, fetch: () => (answers.shift() ?? lost)() });
    await own(url, post(body)).catch(() => undefined);
    const { errors } = await (await own(url, post(body))).json();
    expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN', outcome } }]);
  }
});

const beside = (input: string) => `mutation ($input: TrackEventsInput!, $other: DeletePlayerInput) {
  trackEvents(input: $input) { eventNames } deletePlayer${input} { deletedPlayerUniqueId }
}`;
test.each([
  ['without an input of this gateway', 'mutation ($cart: ID!) { checkOut(cart: $cart) { id } }', { cart: 'c1' }],
  ['with an event and another input in the text', beside('(input:{playerUniqueId: "p2"})'), TRACK.variables],
  [
    'with an event, and a space before the colon of another input',
    beside('(input :{playerUniqueId: "p2"})'),
    TRACK.variables,
  ],
  ['with an event and another input', beside('(input: $other)'), { ...TRACK.variables, other: ME }],
])('a mutation %s is sent once when its response was lost', async (_, query, variables) => {
  let requests = 0;
  const lost = () => {
    requests += 1;
    return Promise.reject(new TypeError('lost'));
  };
  const error = await rejection(createFetch({ token: valid, fetch: lost })(url, post({ query, variables })));
  expect([error.outcome, error.retryable, requests]).toEqual(['UNKNOWN', false, 1]);
});

test('an event whose response was lost has the same key when its text follows its hash, which another replica does not know', async () => {
  const sha256Hash = createHash('sha256').update(TRACK.query).digest('hex');
  const persistedQuery = { version: 1, sha256Hash };
  const withText = { ...TRACK, extensions: { persistedQuery: { ...persistedQuery, miss: true } } };
  const byHash = { variables: TRACK.variables, extensions: { persistedQuery } };
  await createFetch({ token: valid })(url, post(withText));
  const error = { message: 'PersistedQueryNotFound', extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } };
  const answers = [() => fetch, () => after(Response.json({ errors: [error] }))];
  const own = createFetch({ token: valid, fetch: (...request) => (answers.shift() ?? (() => fetch))()(...request) });
  lose(1);
  expect(await (await own(url, post(byHash))).json()).toMatchObject({
    errors: [{ extensions: { outcome: 'UNKNOWN' } }],
  });
  expect((await own(url, post(withText))).status).toBe(200);
  const [other, first, again] = sent.map(({ variables }) => variables['input']?.idempotencyKey);
  expect([again, first === other, events()]).toEqual([first, false, 2]);
});

test('an event that is made long after another was lost is another event, also when the clock was set back meanwhile', async () => {
  jest.useFakeTimers();
  const keys: unknown[] = [];
  const own = createFetch({
    attempts: 1,
    fetch: async (_, init) => {
      keys.push(JSON.parse(String(init?.body)).variables.input.idempotencyKey);
      throw new TypeError('Load failed');
    },
  });
  for (const now of [7_200_000, 7_260_000, 7_250_000, 3_600_000]) {
    jest.setSystemTime(now);
    await rejection(own(url, post(TRACK)));
  }
  expect(keys.map((key) => keys.indexOf(key))).toEqual([0, 0, 0, 3]);
});

test('two equal events that are lost at the same time keep a key each', async () => {
  const own = createFetch({ token: valid, attempts: 1 });
  const both = () => Promise.allSettled([own(url, post(TRACK)), own(url, post(TRACK))]);
  lose(2);
  await both();
  expect((await both()).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
  const keys = sent.map(({ variables }) => variables['input']?.idempotencyKey);
  expect(new Set(keys.slice(0, 2))).toEqual(new Set(keys.slice(2)));
  expect([keys.length, new Set(keys).size, events()]).toEqual([4, 2, 2]);
});

test.each<[string, (init: RequestInit) => Parameters<typeof fetch>]>([
  ['a `Request` alone', (init) => [new Request(url, init)]],
  ['a `Request` behind an address, as proxies pass it on,', (init) => [url, new Request('http://page.example/', init)]],
  ['what Effect sends as bytes', (init) => [url, { ...init, body: new TextEncoder().encode(String(init.body)) }]],
])('%s is sent again as a text is, with the key of its event, until its own signal aborts', async (_, of) => {
  lose(1);
  const abort = new AbortController();
  const own = createFetch({ token: valid });
  const ask = (signal: AbortSignal) => own(...of(post(TRACK, { signal })));
  expect((await (await ask(abort.signal)).json()).data.trackEvents.eventNames).toEqual(['open_wallet']);
  expect([sent.length, events(), sent[0]?.variables['input']?.idempotencyKey]).toEqual([2, 1, expect.any(String)]);
  abort.abort(new Error('another screen'));
  await expect(ask(abort.signal)).rejects.toThrow('another screen');
});

test.each(['é😀', 'a byte that is no UTF-8'])(
  'bytes with %s are not changed where `Response` cannot read them, as on React Native',
  async (name) => {
    const bodies: unknown[] = [];
    const body = new TextEncoder().encode(JSON.stringify({ ...TRACK, name }));
    if (/^a/.test(name)) body[body.length - 4] = 0xff;
    const given = Response.json({ data: { trackEvents: null } });
    const original = globalThis.Response;
    Reflect.deleteProperty(globalThis, 'Response');
    try {
      const own = createFetch({ fetch: async (_, init) => (bodies.push(init?.body) ? given : Response.error()) });
      await own(url, { ...post(TRACK), body });
      expect(bodies).toEqual([/^a/.test(name) ? body : expect.stringContaining(name)]);
    } finally {
      globalThis.Response = original;
    }
  },
);

test('an attempt ends also when the `fetch` does not listen to its signal; a time without end is none', async () => {
  const deaf = createFetch({ fetch: () => new Promise(() => undefined), timeoutMs: 20, attempts: 2 });
  expect(await rejection(deaf(url, post(READ)))).toMatchObject({ code: 'NO_RESPONSE', retryable: true });
  const patient = createFetch({ token: valid, timeoutMs: Number.POSITIVE_INFINITY, attempts: 1 });
  expect((await patient(url, post(READ))).status).toBe(200);
});

test.each<[string, unknown]>([
  ['undefined', undefined],
  ['null, as of localStorage', null],
  ['an empty text', ''],
  ['an object', { access_token: 'a.b.c' }],
])('a token function that returns %s says that nobody is signed in: nothing is sent', async (_, returned) => {
  const token = () => returned as string;
  expect(await rejection(createFetch({ token })(url, post(TRACK)))).toMatchObject({
    ...{ code: 'NO_TOKEN', retryable: false, outcome: 'NOT_DONE' },
  });
  expect(sent).toEqual([]);
});

test('a token function gets the token that was rejected, so that it can ask for another one', async () => {
  const asked: unknown[] = [];
  const token = (rejected?: string) => {
    asked.push(rejected);
    return rejected === 'one' ? 'two' : 'one';
  };
  const fetch: typeof globalThis.fetch = async (_, init) => {
    const isRejected = new Headers(init?.headers).get('authorization') === 'Bearer one';
    return Response.json({ data: { me: null } }, { status: isRejected ? 401 : 200 });
  };
  const own = createFetch({ token, fetch });
  const both = await Promise.all([own(url, post(READ)), own(url, post(READ))]);
  expect([both.map(({ status }) => status), asked]).toEqual([
    [200, 200],
    [undefined, 'one'],
  ]);
});

test('no token at all is for a gateway in development', async () => {
  const fetch: typeof globalThis.fetch = async (_, init) =>
    Response.json({ data: { authorization: new Headers(init?.headers).get('authorization') } });
  for (const token of [undefined, null]) {
    const response = await createFetch({ fetch, ...(token === null && { token }) })(url, post(READ));
    expect(await response.json()).toEqual({ data: { authorization: null } });
  }
});

test('`headers` are an object, a list or `Headers`', async () => {
  const seen: unknown[] = [];
  const fetch: typeof globalThis.fetch = async (_, init) => {
    seen.push(new Headers(init?.headers).get('x-app'));
    return Response.json({ data: { player: null } });
  };
  const given = { 'x-app': '3' };
  for (const headers of [given, Object.entries(given) as [string, string][], new Headers(given)])
    await createFetch({ fetch, headers })(url, post(READ));
  expect(seen).toEqual(['3', '3', '3']);
});

test('a `fetch` of the application gets headers that it can spread, walk through and write as JSON, as those of Capacitor', async () => {
  type Given = Record<string, string>;
  const copies: ((headers: Given) => Given)[] = [
    (headers) => ({ ...headers, 'x-trace': '7' }),
    (headers) => JSON.parse(JSON.stringify(headers)),
    (headers) => {
      const copy: Given = {};
      for (const name in headers) copy[name] = String(headers[name]);
      return copy;
    },
  ];
  for (const copy of copies) {
    const fetch: typeof globalThis.fetch = (to, init) =>
      globalThis.fetch(to, { ...init, headers: copy(Object(init?.headers)) });
    const client = createClient({ url, token: valid, fetch, attempts: 1, headers: { 'X-App-Version': '3' } });
    expect((await client.request(READ.query, READ.variables)).data['player']).toEqual({ id: 'p1' });
  }
});

test('a length that the library gives is not sent: the text is longer with the key of an event', async () => {
  const text = JSON.stringify(TRACK);
  const init = post(TRACK, { headers: { 'Content-Length': String(text.length) } });
  for (const input of [url, new Request(url, init)])
    expect((await createFetch({ token: valid, attempts: 1 })(input, input === url ? init : undefined)).status).toBe(
      200,
    );
  expect(events()).toBe(2);
});

test('runs where `redirect: error` is refused, as in workers at an edge', async () => {
  const fetch: typeof globalThis.fetch = async (_, { redirect } = {}) => {
    if (redirect === 'error') throw new TypeError('Invalid redirect value');
    return Response.json({ data: { player: null } });
  };
  expect((await createFetch({ fetch, attempts: 1 })(url, post(READ))).status).toBe(200);
});

test('what is no JSON operation is not redirected either: the token stays with the gateway', async () => {
  const seen: unknown[] = [];
  const fetch: typeof globalThis.fetch = async (_, init) => {
    seen.push(init?.redirect);
    return page(302, { location: 'https://elsewhere.example/' });
  };
  const own = createFetch({ token: 'one', fetch });
  expect((await own(`${url}?query=%7Bme%7Bid%7D%7D`, { headers: { accept: 'application/json' } })).status).toBe(302);
  expect(seen).toEqual(['manual']);
});

test('the body of a 401 is read, so that its connection is free for the request with the new token', async () => {
  const rejected = page(401);
  const own = createFetch({ token: (old) => (old ? valid : 'old'), fetch: after(rejected) });
  expect((await own(url, post(READ))).status).toBe(200);
  expect(rejected.bodyUsed).toBe(true);
});

test('a stream is sent once: its 401 is the response', async () => {
  const statuses = [401, 200];
  const fetch = async () => new Response('', { status: statuses.shift() ?? 500 });
  const body = new Blob(['{}']).stream();
  const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, duplex: 'half' };
  expect((await createFetch({ token: () => 'a', fetch })(url, init)).status).toBe(401);
  expect(statuses).toEqual([200]);
});

test('a stream keeps the length that the library gives: it is sent as it is', async () => {
  const fetch: typeof globalThis.fetch = async (_, init) => Response.json(init?.headers);
  const body = new Blob(['12345']).stream();
  const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, duplex: 'half' };
  const response = await createFetch({ fetch })(url, { ...init, headers: { 'content-length': '5' } });
  expect(await response.json()).toEqual({ 'content-length': '5' });
});

test.each<[string, (signal: AbortSignal) => Parameters<typeof fetch>]>([
  ['of the call', (signal) => [url, { signal }]],
  ['of its `Request`', (signal) => [new Request(url, { signal })]],
])(
  'a request that is no operation is ended by the signal %s, also while it waits for the token',
  async (_, request) => {
    const abort = new AbortController();
    const own = createFetch({ token: () => new Promise(() => {}) });
    const ended = own(...request(abort.signal)).catch((reason: unknown) => reason);
    abort.abort('the screen is closed');
    expect(await ended).toBe('the screen is closed');
  },
);

test('errors that were saved as JSON, as in a stored or rendered page, are healed as before', async () => {
  const extensions = { code: 'UPSTREAM_TIMEOUT', retryable: true, retryAfterMs: 5, outcome: undefined, requestId: 'r' };
  const response = {
    data: { me: { id: 'a', coupons: null } },
    errors: [{ message: 'Late', path: ['me', 'coupons'], extensions }],
  };
  const result = await createClient({ url, fetch: async () => Response.json(response) }).request('{ me { id } }');
  const saved = JSON.parse(JSON.stringify(result));
  expect(saved.errors).toEqual(JSON.parse(JSON.stringify(response.errors)));
  expect(gatewayErrors(saved.errors)).toMatchObject([{ code: 'UPSTREAM_TIMEOUT', retryable: true, requestId: 'r' }]);
  // A page whose loader has read the player again.
  const shown = { data: { me: { id: 'a', coupons: ['one'] } }, errors: [] };
  expect(keepParts(shown, saved)).toEqual({ data: shown.data, errors: saved.errors });
});

test('healing that is asked to wait for months does not ask at once', async () => {
  jest.useFakeTimers();
  const errors = [{ message: '', extensions: { retryable: true, retryAfterMs: 1e11 } }];
  const again = jest.fn(async () => undefined);
  const abort = new AbortController();
  const healed = heal({ errors, again, signal: abort.signal });
  await jest.advanceTimersByTimeAsync(60_000);
  abort.abort();
  expect([(await healed).length, again.mock.calls]).toEqual([1, []]);
});

test('in tests of screens, a fake clock holds no request', async () => {
  jest.useFakeTimers();
  testMode.on = true;
  const own = createFetch({ fetch: after(page(503), page(503), Response.json({ data: { player: null } })) });
  expect(await (await own(url, post(READ))).json()).toEqual({ data: { player: null } });
});

test('in tests of screens with jsdom, whose signals the `fetch` of Node refuses, a request is sent and can be aborted', async () => {
  const original = globalThis.AbortController;
  /** As that of jsdom: an object of another class. */
  globalThis.AbortController = class {
    readonly signal: AbortSignal = Object.assign(new EventTarget(), {
      aborted: false,
      reason: undefined,
    }) as AbortSignal;
    abort(reason: unknown = new Error('closed')) {
      Object.assign(this.signal, { aborted: true, reason }).dispatchEvent(new Event('abort'));
    }
  };
  testMode.on = true;
  try {
    const abort = new AbortController();
    // That of Node 24. The one of Node 20 takes every object of this shape.
    const strict: typeof fetch = async (to, init) => {
      if (init?.signal && !(init.signal instanceof AbortSignal))
        throw new TypeError('Expected signal to be an instance');
      return await fetch(to, init);
    };
    const read = createFetch({ token: valid, fetch: strict });
    for (const more of [{}, { signal: abort.signal }]) expect((await read(url, post(READ, more))).status).toBe(200);
    const held = upstream.hold('GET /player');
    const closed = read(url, post(READ, { signal: abort.signal }));
    await held.arrived;
    abort.abort();
    await expect(closed).rejects.toThrow('closed');
    held.release();
  } finally {
    globalThis.AbortController = original;
  }
});
