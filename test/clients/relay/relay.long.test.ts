import { mkdir, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { createGatewayFetch } from '@referral-gateway/client/relay';
import { createElement, type FunctionComponent, Suspense } from 'react';
import { RelayEnvironmentProvider } from 'react-relay';
import { act, create, type ReactTestRenderer } from 'react-test-renderer';
import { Environment, Network, RecordSource, Store } from 'relay-runtime';
import { friends, recordRequests, runScript, startGateway } from '../kit.ts';

/* Relay with the package's function for its network, against the built gateway, which enforces the compiler's documents. */

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const MANIFEST = `${FOLDER}generated/documents.json`;

let gateway: Awaited<ReturnType<typeof startGateway>>;
const complaints: unknown[] = [];
let requests: ReturnType<typeof recordRequests>;
let token: string;
let Friends: typeof import('./Friends.tsx').Friends;
let Screen: typeof import('./Screen.tsx').Screen;
beforeAll(async () => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  // The compiler adds documents to a file that exists, when it writes their artifacts.
  await rm(`${FOLDER}generated`, { recursive: true, force: true });
  await mkdir(`${FOLDER}generated`);
  await writeFile(MANIFEST, '{}');
  await runScript('relay', 'relay');
  await runScript('relay', 'relay:build');
  ({ Friends } = await import(`${FOLDER}generated/built/Friends.js`));
  ({ Screen } = await import(`${FOLDER}generated/built/Screen.js`));
  const persisted = { PERSISTED_OPERATIONS: 'enforce', PERSISTED_OPERATIONS_FILE: MANIFEST };
  gateway = await startGateway({ ...persisted, REST_TIMEOUT_MS: '500' });
  token = await gateway.token();
}, 60_000);
afterAll(() => gateway?.close());
beforeEach(() => {
  requests = recordRequests();
  jest.spyOn(console, 'error').mockImplementation((text) => void complaints.push(text));
});
const opened: ReactTestRenderer[] = [];
afterEach(async () => {
  for (const rendered of opened.splice(0)) await act(async () => rendered.unmount());
  requests.restore();
  jest.restoreAllMocks();
  // React has nothing else to complain about.
  for (const text of complaints.splice(0)) expect(text).toContain('react-test-renderer is deprecated');
  gateway.upstream.reset();
});

type FetchToken = () => Promise<string | undefined>;
const connect = (token: FetchToken) =>
  new Environment({
    network: Network.create(createGatewayFetch({ url: gateway.uri, token })),
    store: new Store(new RecordSource()),
  });

/** Renders the component of p1, and resolves to what is shown at first. */
async function open(
  component: FunctionComponent<{ playerUniqueId: string }>,
  fetchToken: FetchToken = async () => token,
): Promise<ReactTestRenderer> {
  const environment = connect(fetchToken);
  const shown = createElement(Suspense, { fallback: 'Loading' }, createElement(component, { playerUniqueId: 'p1' }));
  let root: ReactTestRenderer | undefined;
  await act(async () => {
    // biome-ignore lint/correctness/noChildrenProp: the provider's type demands it there.
    root = create(createElement(RelayEnvironmentProvider, { environment, children: shown }));
  });
  if (!root) throw new Error('Nothing was rendered');
  opened.push(root);
  return root;
}

/** Lets React work until something is shown. Nothing may happen between two calls of `act`. */
async function working(isShown: () => boolean): Promise<void> {
  for (const end = performance.now() + 30_000; !isShown(); ) {
    await act(() => new Promise((resolve) => setImmediate(resolve)));
    if (performance.now() > end) throw new Error(`Never shown: ${isShown}`);
  }
}
const names = ({ root }: ReactTestRenderer) => root.findAllByType('li').map(({ children }) => children.join(''));

test('the snippets have correct types', () => runScript('relay', 'types'), 60_000);

test('a fragment on Player is fetched again page by page, by trusted documents', async () => {
  const tokens = [gateway.expired(), token];
  const rendered = await open(Friends, async () => tokens.shift());
  for (const count of [20, 40, 60]) {
    await working(() => names(rendered).length === count);
    expect(names(rendered)).toEqual(friends(count));
    const [more] = rendered.root.findAllByType('button');
    await act(async () => more?.props['onClick']());
  }
  expect(rendered.root.findAllByType('button')).toEqual([]);
  expect(requests.sent.map(({ query, status }) => [query, status])).toEqual([
    [undefined, 401],
    ...Array(3).fill([undefined, 200]),
  ]);
  // Three different pages of the same player; the second and third through `node`.
  expect(new Set(requests.sent.map(({ hash }) => hash)).size).toBe(2);
});

test('a query without data is sent again before anything is shown', async () => {
  const fails = { status: 500 };
  gateway.upstream.on('GET /player', fails, fails, fails, 'usual');
  requests.lose(1);
  const rendered = await open(Friends);
  await working(() => rendered.toJSON() !== null && JSON.stringify(rendered.toJSON()) !== '"Loading"');
  expect(names(rendered)).toHaveLength(20);
});

test('while the coupons hang the rest is shown before they are asked for again, and they appear by themselves', async () => {
  gateway.upstream.on('GET /coupon', { fault: 'hang' });
  const rendered = await open(Screen);
  const text = () => JSON.stringify(rendered.toJSON());
  await working(() => text().includes('Your coupons cannot be loaded now.'));
  expect(text()).toContain('Player p1');
  expect(requests.sent).toHaveLength(1);
  const held = gateway.upstream.hold('GET /coupon');
  await held.arrived;
  gateway.upstream.on('GET /coupon', 'usual');
  held.release();
  await working(() => text().includes('P1-1'));
  expect(text()).not.toContain('cannot be loaded');
  expect(requests.sent).toHaveLength(2);
});

test('an operation that is not in the manifest is refused', async () => {
  const kind = { id: null, cacheID: 'x', operationKind: 'query', metadata: {} } as const;
  const send = connect(async () => token).getNetwork();
  const result = await send.execute({ ...kind, text: '{ me { id } }', name: 'X' }, {}, {}).toPromise();
  expect(result).toMatchObject({ errors: [{ extensions: { code: 'OPERATION_NOT_ALLOWED' } }] });
});
