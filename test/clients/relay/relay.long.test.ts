import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { createGatewayFetch } from '@referral-gateway/client/relay';
import { createElement, Suspense } from 'react';
import { RelayEnvironmentProvider } from 'react-relay';
import { act, create, type ReactTestRenderer } from 'react-test-renderer';
import { Environment, Network, RecordSource, Store } from 'relay-runtime';
import { EXPIRED, friends, runScript, startRecorded, tokenOf } from '../kit.ts';

/* Relay with the package's function for its network; the gateway enforces the compiler's documents. */

const GENERATED = fileURLToPath(new URL('generated', import.meta.url));
const MANIFEST = `${GENERATED}/documents.json`;
// The compiler adds documents to a file that exists, when it writes their artifacts.
rmSync(GENERATED, { recursive: true, force: true });
mkdirSync(GENERATED);
writeFileSync(MANIFEST, '{}');
await runScript('relay', 'relay');
await runScript('relay', 'relay:build');
const { Friends }: typeof import('./Friends.tsx') = await import(`${GENERATED}/built/Friends.js`);
const { Screen }: typeof import('./Screen.tsx') = await import(`${GENERATED}/built/Screen.js`);
const { url, upstream, sent, lose } = await startRecorded({
  PERSISTED_OPERATIONS: 'enforce',
  PERSISTED_OPERATIONS_FILE: MANIFEST,
});
const token = tokenOf();

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
let rendered: ReactTestRenderer | undefined;
const complaints: unknown[] = [];
beforeEach(() => void jest.spyOn(console, 'error').mockImplementation((text) => void complaints.push(text)));
afterEach(async () => {
  await act(async () => rendered?.unmount());
  jest.restoreAllMocks();
  // React has nothing else to complain about.
  for (const text of complaints.splice(0)) expect(text).toContain('react-test-renderer is deprecated');
});

const connect = (fetchToken = async (): Promise<string | undefined> => token) =>
  new Environment({
    network: Network.create(createGatewayFetch({ url, token: fetchToken })),
    store: new Store(new RecordSource()),
  });

/** Renders a component for a player. */
async function open(component: typeof Screen, environment = connect(), playerUniqueId = 'p1'): Promise<void> {
  const children = createElement(Suspense, { fallback: 'Loading' }, createElement(component, { playerUniqueId }));
  await act(async () => {
    rendered = create(createElement(RelayEnvironmentProvider, { environment, children }));
  });
}
const text = () => JSON.stringify(rendered?.toJSON());
const names = () => rendered?.root.findAllByType('li').map(({ children }) => children.join(''));
const buttons = () => rendered?.root.findAllByType('button');

/** Lets React work until something is shown. Nothing may happen between two calls of `act`. */
async function working(isShown: () => boolean): Promise<void> {
  for (const end = performance.now() + 30_000; !isShown(); ) {
    await act(() => new Promise((resolve) => setImmediate(resolve)));
    if (performance.now() > end) throw new Error(`Never shown: ${isShown}`);
  }
}

test('the snippets have correct types', () => runScript('relay', 'types'), 60_000);

test('a fragment on Player is fetched again page by page, by trusted documents, with a new token', async () => {
  const tokens = [EXPIRED, token];
  await open(
    Friends,
    connect(async () => tokens.shift()),
  );
  for (const count of [20, 40, 60]) {
    await working(() => names()?.length === count);
    expect(names()).toEqual(friends(count));
    await act(async () => buttons()?.[0]?.props['onClick']());
  }
  expect(buttons()).toEqual([]);
  expect(sent.map(({ query, status }) => [query, status])).toEqual(
    [401, 200, 200, 200].map((status) => [undefined, status]),
  );
  // The second and third page through `node`.
  expect(new Set(sent.map(({ hash }) => hash)).size).toBe(2);
});

test('a query without data is sent again before anything is shown', async () => {
  const fails = { status: 500 };
  upstream.on('GET /player', fails, fails, fails, 'usual');
  lose(1);
  await open(Friends);
  await working(() => text() !== '"Loading"');
  expect(names()).toHaveLength(20);
});

test('while the coupons hang, the rest is shown; they are asked for again, and appear by themselves', async () => {
  upstream.on('GET /coupon', { fault: 'hang' });
  await open(Screen);
  await working(() => text().includes('Your coupons cannot be loaded now.'));
  expect(text()).toContain('Player p1');
  expect(sent).toHaveLength(1);
  const held = upstream.hold('GET /coupon');
  await held.arrived;
  upstream.on('GET /coupon', 'usual');
  held.release();
  await working(() => text().includes('P1-1'));
  expect(text()).not.toContain('cannot be loaded');
  expect(sent).toHaveLength(2);
});

test('a player that cannot be read has a button to try again; one that does not exist says so', async () => {
  upstream.on('GET /player', { status: 500 });
  await open(Screen);
  await working(() => text().includes('Your rewards cannot be loaded now.'));
  upstream.on('GET /player', 'usual');
  await act(async () => buttons()?.[0]?.props['onClick']());
  await working(() => text().includes('Player p1'));
  await act(async () => rendered?.unmount());
  await open(Screen, connect(), 'nobody');
  await working(() => text().includes('There is no such player.'));
  expect(buttons()).toEqual([]);
});

test('a response without data is told by its code, and read again with the button', async () => {
  const tokens = [EXPIRED, EXPIRED, token];
  await open(
    Screen,
    connect(async () => tokens.shift()),
  );
  await working(() => text().includes('You have been signed out.'));
  await act(async () => buttons()?.[0]?.props['onClick']());
  await working(() => text().includes('Player p1'));
  // React tells of each error that a boundary catches.
  for (const complaint of complaints.splice(0)) expect(String(complaint)).toMatch(/deprecated|^%o\n\n%s/);
});

test('an operation that is not in the manifest is refused', async () => {
  const request = {
    id: null,
    cacheID: 'x',
    operationKind: 'query',
    metadata: {},
    text: '{ me { id } }',
    name: 'X',
  } as const;
  const result = await connect().getNetwork().execute(request, {}, {}).toPromise();
  expect(result).toMatchObject({ errors: [{ extensions: { code: 'OPERATION_NOT_ALLOWED' } }] });
});
