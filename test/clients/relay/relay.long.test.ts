import { mkdir, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { createGatewayFetch } from '@referral-gateway/client/relay';
import { createElement, type FunctionComponent, Suspense } from 'react';
import { RelayEnvironmentProvider } from 'react-relay';
import { act, create, type ReactTestRenderer } from 'react-test-renderer';
import { Environment, Network, RecordSource, Store } from 'relay-runtime';
import { recordRequests, runScript, startGateway } from '../kit.ts';

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
  gateway = await startGateway({
    PERSISTED_OPERATIONS: 'enforce',
    PERSISTED_OPERATIONS_FILE: MANIFEST,
    REST_TIMEOUT_MS: '500',
  });
  token = await gateway.token('--sub', 'p1', '--recipe', 'phone-app');
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
  gateway.upstream.forget();
  for (const endpoint of ['GET /player', 'GET /coupon', 'GET /referrals'] as const)
    gateway.upstream.on(endpoint, 'usual');
});

type FetchToken = () => Promise<string | undefined>;
const connect = (token: FetchToken) =>
  new Environment({
    network: Network.create(createGatewayFetch({ url: gateway.uri, token })),
    store: new Store(new RecordSource()),
  });

/** Renders the component of a player, and resolves to what is shown at first. */
async function open(
  component: FunctionComponent<{ playerUniqueId: string }>,
  fetchToken: FetchToken,
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

/** Renders the friends and resolves when a page is there. */
async function render(fetchToken: FetchToken): Promise<ReactTestRenderer> {
  const root = await open(Friends, fetchToken);
  await settled(root);
  return root;
}

/** Lets React work until the requests have their responses and the result is shown. */
async function settled({ root, toJSON }: ReactTestRenderer): Promise<void> {
  const until = performance.now() + 15_000;
  const isWaiting = () =>
    JSON.stringify(toJSON()) === '"Loading"' || root.findAll(({ props }) => props['disabled'] === true).length > 0;
  do {
    await act(() => new Promise((resolve) => setImmediate(resolve)));
    if (performance.now() > until) throw new Error(`It never settled: ${JSON.stringify(toJSON())}`);
  } while (!requests.isIdle() || isWaiting());
}

const names = ({ root }: ReactTestRenderer) => root.findAllByType('li').map(({ children }) => children.join(''));

test('the snippets have correct types', () => runScript('relay', 'types'), 60_000);

test('a fragment on Player is fetched again page by page, by trusted documents', async () => {
  const tokens = [gateway.expired(), token];
  const rendered = await render(async () => tokens.shift());
  for (let [more] = rendered.root.findAllByType('button'); more; [more] = rendered.root.findAllByType('button')) {
    const { onClick } = more.props;
    await act(async () => onClick());
    await settled(rendered);
  }
  expect(names(rendered)).toEqual(Array.from({ length: 60 }, (_, index) => `Friend ${index + 1}`));
  expect(requests.sent.map(({ query, status }) => [query, status])).toEqual([
    [undefined, 401],
    [undefined, 200],
    [undefined, 200],
    [undefined, 200],
  ]);
  // Three different pages of the same player; the second and third through `node`.
  expect(new Set(requests.sent.map(({ hash }) => hash)).size).toBe(2);
});

test('a query without data is sent again before anything is shown', async () => {
  const fails = { status: 500 };
  gateway.upstream.on('GET /player', fails, fails, fails, 'usual');
  requests.lose(1);
  expect(names(await render(async () => token))).toHaveLength(20);
});

test('while the coupons hang the rest is shown before they are asked for again, and they appear by themselves', async () => {
  gateway.upstream.on('GET /coupon', { fault: 'hang' });
  const rendered = await open(Screen, async () => token);
  const text = () => JSON.stringify(rendered.toJSON());
  const shows = async (wanted: string) => {
    const until = performance.now() + 30_000;
    while (!text().includes(wanted)) {
      await act(() => new Promise((resolve) => setImmediate(resolve)));
      if (performance.now() > until) throw new Error(`Never shown: ${wanted}`);
    }
  };
  await shows('Your coupons cannot be loaded now.');
  expect(text()).toContain('Player p1');
  expect(requests.sent).toHaveLength(1);
  const held = gateway.upstream.hold('GET /coupon');
  await held.arrived;
  gateway.upstream.on('GET /coupon', 'usual');
  held.release();
  await shows('P1-1');
  expect(text()).not.toContain('cannot be loaded');
  expect(requests.sent).toHaveLength(2);
});

test('an operation that is not in the manifest is refused', async () => {
  const send = connect(async () => token).getNetwork();
  const parameters = {
    id: null,
    cacheID: 'x',
    text: '{ me { id } }',
    name: 'X',
    operationKind: 'query',
    metadata: {},
  } as const;
  const result = await send.execute(parameters, {}, {}).toPromise();
  expect(result).toMatchObject({ errors: [{ extensions: { code: 'OPERATION_NOT_ALLOWED' } }] });
});
