import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { Token } from '@referral-gateway/client';
import { createGatewayFetch } from '@referral-gateway/client/relay';
import { createElement, type ReactElement, Suspense } from 'react';
import { RelayEnvironmentProvider } from 'react-relay';
import { Environment, fetchQuery, Network, RecordSource, Store } from 'relay-runtime';
import { handlerProvider } from '../handlers.ts';
import { EXPIRED, friends, runScript, startRecorded, tokenOf } from '../kit.ts';
import { expectNoPlayer, render } from '../screen.ts';

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
const { default: ScreenQuery } = await import(`${GENERATED}/ScreenQuery.graphql.ts`);
const { url, upstream, sent, lose } = await startRecorded({
  PERSISTED_OPERATIONS: 'enforce',
  PERSISTED_OPERATIONS_FILE: MANIFEST,
});
const token = tokenOf();

const complaints: unknown[] = [];
beforeEach(() => void jest.spyOn(console, 'error').mockImplementation((text) => void complaints.push(text)));
afterEach(() => {
  jest.restoreAllMocks();
  // React has nothing else to complain about.
  for (const text of complaints.splice(0)) expect(text).toContain('react-test-renderer is deprecated');
});

function connect(fetchToken: Token = token): Environment {
  const network = Network.create(createGatewayFetch({ url, token: fetchToken }));
  return new Environment({ network, store: new Store(new RecordSource()), handlerProvider });
}

/** A component for a player. */
function elementOf(component: typeof Screen, environment = connect(), playerUniqueId = 'p1'): ReactElement {
  const children = createElement(Suspense, { fallback: 'Loading' }, createElement(component, { playerUniqueId }));
  return createElement(RelayEnvironmentProvider, { environment, children });
}

test('the snippets have correct types', () => runScript('relay', 'types'));

test('a fragment on Player is fetched again page by page, by trusted documents, with a new token', async () => {
  const tokens = [EXPIRED, token];
  const environment = connect(async () => tokens.shift());
  const { shows, items, press, buttons } = await render(elementOf(Friends, environment));
  for (const count of [20, 40, 60]) {
    await shows(() => items().length === count);
    expect(items()).toEqual(friends(count));
    await press();
  }
  expect(buttons()).toEqual([]);
  expect(sent.map(({ query, status }) => [query, status])).toEqual(
    [401, 200, 200, 200].map((status) => [undefined, status]),
  );
  // The second and third page through `node`.
  expect(new Set(sent.map(({ hash }) => hash)).size).toBe(2);
});

test('a list keeps its pages when the next one fails, and goes on', async () => {
  const { shows, items, press, buttons } = await render(elementOf(Friends));
  await shows(() => items().length === 20);
  upstream.on('GET /referrals', { status: 400 }, 'usual');
  await press();
  await shows(() => sent.length === 2 && !buttons()[0]?.props['disabled']);
  expect(items()).toEqual(friends(20));
  await press();
  await shows(() => items().length === 40);
});

test('a query without data is sent again before anything is shown', async () => {
  const fails = { status: 500 };
  upstream.on('GET /player', fails, fails, fails, 'usual');
  lose(1);
  const { shows, text, items } = await render(elementOf(Friends));
  await shows(() => text() !== '"Loading"');
  expect(items()).toHaveLength(20);
});

test('while the coupons hang, the rest is shown; they are asked for again, and appear by themselves', async () => {
  upstream.on('GET /coupon', { fault: 'hang' });
  const { see, text } = await render(elementOf(Screen));
  await see('Your coupons cannot be loaded now.');
  expect(text()).toContain('Player p1');
  expect(sent).toHaveLength(1);
  const held = upstream.hold('GET /coupon');
  await held.arrived;
  upstream.on('GET /coupon', 'usual');
  held.release();
  await see('P1-1');
  expect(text()).not.toContain('cannot be loaded');
  expect(sent).toHaveLength(2);
});

test('a request that Relay does not need any more is aborted', async () => {
  const held = upstream.hold('GET /player');
  const reading = fetchQuery(connect(), ScreenQuery, { playerUniqueId: 'p1' }).subscribe({});
  await held.arrived;
  reading.unsubscribe();
  // The gateway cancels what it asked the REST service for.
  await upstream.requests[0]?.gone;
  held.release();
});

test('a player that cannot be read has a button to try again; one that does not exist says so', () =>
  expectNoPlayer(upstream, (playerUniqueId, token) => elementOf(Screen, connect(token), playerUniqueId)));

test('what the gateway says beside the data arrives: the id of the request in its log', async () => {
  const { id, text, name } = ScreenQuery.params;
  const params = { id, text, name, cacheID: 'x', operationKind: 'query', metadata: {} } as const;
  const result = await connect().getNetwork().execute(params, { playerUniqueId: 'p1' }, {}).toPromise();
  expect(result).toMatchObject({ data: { player: { id: 'p1' } }, extensions: { requestId: expect.any(String) } });
});

test('an operation that is not in the manifest is refused', async () => {
  const request = { id: null, cacheID: 'x', operationKind: 'query', metadata: {}, text: '{ me { id } }' } as const;
  const result = await connect()
    .getNetwork()
    .execute({ ...request, name: 'X' }, {}, {})
    .toPromise();
  const requestId = expect.any(String);
  expect(result).toMatchObject({
    errors: [{ extensions: { code: 'OPERATION_NOT_ALLOWED' } }],
    extensions: { requestId },
  });
});
