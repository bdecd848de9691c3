import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { createElement, Suspense } from 'react';
import { RelayEnvironmentProvider } from 'react-relay';
import { act, create, type ReactTestRenderer } from 'react-test-renderer';
import { recordRequests, runScript, startGateway } from '../kit.ts';
import { createEnvironment } from './environment.ts';

/* Relay with nothing but what docs/clients.md says, against the built gateway, which enforces the compiler's documents. */

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const MANIFEST = `${FOLDER}generated/documents.json`;

let gateway: Awaited<ReturnType<typeof startGateway>>;
const complaints: unknown[] = [];
let requests: ReturnType<typeof recordRequests>;
let token: string;
let Friends: typeof import('./Friends.tsx').Friends;
beforeAll(async () => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  // The compiler adds documents to a file that exists, when it writes their artifacts.
  await rm(`${FOLDER}generated`, { recursive: true, force: true });
  await mkdir(`${FOLDER}generated`);
  await writeFile(MANIFEST, '{}');
  await runScript('relay', 'relay');
  await promisify(execFile)(process.execPath, ['bundle.mjs'], { cwd: FOLDER });
  ({ Friends } = await import(`${FOLDER}generated/Friends.mjs`));
  gateway = await startGateway({ PERSISTED_OPERATIONS: 'enforce', PERSISTED_OPERATIONS_FILE: MANIFEST });
  token = await gateway.token('--sub', 'p1', '--recipe', 'phone-app');
}, 60_000);
afterAll(() => gateway?.close());
beforeEach(() => {
  requests = recordRequests();
  jest.spyOn(console, 'error').mockImplementation((text) => void complaints.push(text));
});
afterEach(() => {
  requests.restore();
  jest.restoreAllMocks();
  // React has nothing else to complain about.
  for (const text of complaints.splice(0)) expect(text).toContain('react-test-renderer is deprecated');
  gateway.upstream.on('GET /referrals', 'usual');
});

/** Renders the friends of a player and resolves when a page is there. */
async function render(playerUniqueId: string, fetchToken: () => Promise<string>): Promise<ReactTestRenderer> {
  const environment = createEnvironment(gateway.uri, fetchToken);
  const friends = createElement(Suspense, { fallback: 'Loading' }, createElement(Friends, { playerUniqueId }));
  let root: ReactTestRenderer | undefined;
  await act(async () => {
    // biome-ignore lint/correctness/noChildrenProp: the provider's type demands it there.
    root = create(createElement(RelayEnvironmentProvider, { environment, children: friends }));
  });
  if (!root) throw new Error('Nothing was rendered');
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
  const rendered = await render('p1', async () => tokens.shift() ?? 'none is left');
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

test('a read that failed is sent again', async () => {
  const fails = { status: 500 };
  gateway.upstream.on('GET /referrals', fails, fails, fails, 'usual');
  expect(names(await render('p1', async () => token))).toHaveLength(20);
  requests.lose(1);
  expect(names(await render('p1', async () => token))).toHaveLength(20);
});

test('an operation that is not in the manifest is refused', async () => {
  const send = createEnvironment(gateway.uri, async () => token).getNetwork();
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
