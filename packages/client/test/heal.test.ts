import { afterEach, expect, jest, test } from '@jest/globals';
import { GatewayError, heal } from '../src/index.ts';
import { testMode } from '../src/retry.ts';
import { pauseOf, skipPauses } from './pauses.ts';

/* `heal` with the refetch of any library. */

const pauses = skipPauses();
const busy = (more = {}) =>
  new GatewayError({ message: 'Busy', extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: true, ...more } });
const final = new GatewayError({ message: 'No', extensions: { code: 'FORBIDDEN', retryable: false } });
afterEach(() => {
  testMode.on = false;
  for (const name of ['document', 'navigator']) Reflect.deleteProperty(globalThis, name);
});

test.each<[string, unknown]>([
  ['a result with an error, as of Apollo Client', { data: {}, error: { errors: [busy()] } }],
  ['a result with errors, as of `createClient`', { data: {}, errors: [busy()] }],
  ['a result that has that in `data`, as of TanStack Query', { error: null, data: { data: {}, errors: [busy()] } }],
  ['a result with the error of urql', { error: { graphQLErrors: [busy()] } }],
])('%s: asks until nothing is missing', async (_library, missing) => {
  const results = [missing, missing, { data: {} }];
  let asked = 0;
  const again = async () => {
    asked += 1;
    return results.shift();
  };
  expect(await heal({ errors: [busy()], again })).toEqual([]);
  expect(asked).toBe(3);
  expect(pauses).toEqual([2_000, 4_000, 8_000].map(pauseOf));
});

test('ends with an error that is final, and goes on after a refetch that rejects with one that is not', async () => {
  // The second was cancelled by its library.
  const cancelled = Object.assign(new Error('cancelled'), { name: 'AbortError' });
  const results = [Promise.reject(busy()), Promise.reject(cancelled), Promise.resolve({ errors: [final] })];
  for (const result of results) result.catch(() => undefined);
  expect(await heal({ errors: busy(), again: () => results.shift() ?? Promise.resolve({}) })).toEqual([final]);
  expect(results).toEqual([]);
  let asked = 0;
  expect(
    await heal({
      errors: [final],
      again: async () => {
        asked += 1;
      },
    }),
  ).toEqual([final]);
  expect(asked).toBe(0);
});

test.each<[string, unknown]>([
  ['took longer than a signal of `AbortSignal.timeout`', new DOMException('The operation timed out.', 'TimeoutError')],
  ['did not reach the server of the application, in Chromium', new TypeError('Failed to fetch')],
  ['did not reach it, in Safari', new TypeError('Load failed')],
  ['did not reach it, in Firefox', new TypeError('NetworkError when attempting to fetch resource.')],
  ['did not reach it, on React Native', new TypeError('Network request failed')],
  ['did not reach it, in Node', new TypeError('fetch failed')],
  ['was cancelled by a library that throws a plain object', { name: 'AbortError', message: 'Aborted' }],
  ['TanStack Query cancelled, as before an optimistic update', new Error('CancelledError')],
  ['axios cancelled', Object.assign(new Error('canceled'), { name: 'CanceledError' })],
])('a refetch that %s tells nothing: the same parts are asked for again', async (_, thrown) => {
  const results = [Promise.reject(thrown), Promise.resolve({ errors: [] })];
  results[0]?.catch(() => undefined);
  expect(await heal({ errors: [busy()], again: () => results.shift() })).toEqual([]);
  expect(results).toEqual([]);
});

test.each([
  new TypeError('refetch is not a function'),
  new ReferenceError('AbortError is not defined'),
  new TypeError("Failed to execute 'fetch' on 'Window': Failed to parse URL from /user:1/"),
  Object.assign(Object.create(null), { why: 'not an error' }),
])('a mistake of the program ends it', async (mistake) => {
  expect(await heal({ errors: [busy()], again: () => Promise.reject(mistake) })).toMatchObject([{ cause: mistake }]);
});

test('a refetch that returns nothing, as that of Vue Apollo before its query began, ends it; one that throws is an error', async () => {
  expect(await heal({ errors: [busy()], again: () => undefined })).toEqual([]);
  const again = () => {
    throw final;
  };
  expect(await heal({ errors: [busy()], again })).toEqual([final]);
});

test('ends with its signal, also in a pause, and asks no more', async () => {
  const abort = new AbortController();
  let asked = 0;
  const left = heal({
    errors: [busy({ retryAfterMs: 50_000 })],
    again: async () => {
      asked += 1;
    },
    signal: abort.signal,
  });
  abort.abort();
  expect((await left).map(({ code }) => code)).toEqual(['UPSTREAM_UNAVAILABLE']);
  expect(asked).toBe(0);
});

/** Makes a page and a `navigator` until the end of the test. */
function open(visibilityState: DocumentVisibilityState | 'prerender', onLine: boolean) {
  const page = Object.assign(new EventTarget(), { visibilityState, hidden: visibilityState !== 'visible' });
  for (const [name, value] of Object.entries({ document: page, navigator: { onLine } })) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
  return page;
}

test('not in a hidden tab; at once when it is visible', async () => {
  jest.useFakeTimers();
  const page = open('hidden', true);
  let asked = 0;
  const again = async () => {
    asked += 1;
    return { errors: asked < 2 ? [busy()] : [] };
  };
  const healed = heal({ errors: [busy()], again });
  await jest.advanceTimersByTimeAsync(3_600_000);
  expect(asked).toBe(0);
  page.visibilityState = 'visible';
  page.dispatchEvent(new Event('visibilitychange'));
  await jest.advanceTimersByTimeAsync(0);
  expect(asked).toBe(1);
  await jest.advanceTimersByTimeAsync(6_000);
  expect(await healed).toEqual([]);
  expect(asked).toBe(2);
});

test('ends with its signal in a hidden tab too', async () => {
  open('hidden', true);
  const abort = new AbortController();
  const healed = heal({ errors: [busy()], again: () => undefined, signal: abort.signal });
  abort.abort();
  expect(await healed).toHaveLength(1);
});

test('asks in the page of jsdom, which is never visible, and whose window has its functions for itself alone', async () => {
  open('prerender', true);
  const names = ['addEventListener', 'removeEventListener'] as const;
  for (const name of names)
    Reflect.set(globalThis, name, () => {
      throw new TypeError(`'${name}' called on an object that is not a valid instance of EventTarget.`);
    });
  Object.assign(globalThis, { window: new EventTarget() });
  try {
    expect(await heal({ errors: [busy()], again: async () => ({}) })).toEqual([]);
  } finally {
    for (const name of [...names, 'window']) Reflect.deleteProperty(globalThis, name);
  }
});

test.each([
  ['the gateway has just responded, so the browser is wrong', false, ['UPSTREAM_UNAVAILABLE'], 1],
  ['it has responded to one of two queries', false, ['NO_RESPONSE', 'UPSTREAM_UNAVAILABLE'], 1],
  ['the browser went offline after the response', true, ['UPSTREAM_UNAVAILABLE'], 0],
  ['there was no response', false, ['NO_RESPONSE'], 0],
  ['the login service could not be asked', false, ['TOKEN_UNAVAILABLE'], 0],
])('offline: %s; the return of the network ends the pause', async (_, wasOnLine, codes, asks) => {
  jest.useFakeTimers();
  open('visible', wasOnLine);
  const listeners = new EventTarget();
  const globals = ['addEventListener', 'removeEventListener'] as const;
  for (const name of globals) Reflect.set(globalThis, name, listeners[name].bind(listeners));
  let asked = 0;
  const again = async () => {
    asked += 1;
    return { errors: asked < 2 ? [busy()] : [] };
  };
  try {
    const healed = heal({ errors: codes.map((code) => busy({ code })), again });
    Object.assign(navigator, { onLine: false });
    await jest.advanceTimersByTimeAsync(3_000);
    expect(asked).toBe(asks);
    Object.assign(navigator, { onLine: true });
    asked = 1;
    listeners.dispatchEvent(new Event('online'));
    expect(await healed).toEqual([]);
  } finally {
    for (const name of globals) Reflect.deleteProperty(globalThis, name);
  }
});

test('does not wait longer because a phone slept during a request', async () => {
  jest.useFakeTimers();
  let asked = 0;
  const again = async () => {
    asked += 1;
    jest.setSystemTime(Date.now() + 3_600_000);
    return { errors: asked < 2 ? [busy()] : [] };
  };
  const healed = heal({ errors: [busy()], again });
  await jest.advanceTimersByTimeAsync(3_000);
  expect(asked).toBe(1);
  await jest.advanceTimersByTimeAsync(6_000);
  expect(await healed).toEqual([]);
});

test('in tests the pauses are short, but what stays missing is not asked for in a loop', async () => {
  jest.useFakeTimers();
  testMode.on = true;
  const abort = new AbortController();
  let asked = 0;
  const again = async () => {
    asked += 1;
    if (asked > 50) abort.abort();
    return { errors: [busy()] };
  };
  const left = heal({ errors: [busy()], again, signal: abort.signal });
  await jest.advanceTimersByTimeAsync(30);
  expect(asked).toBe(1);
  await jest.advanceTimersByTimeAsync(1_970);
  expect(asked).toBeLessThan(10);
  abort.abort();
  expect(await left).toHaveLength(1);
});
