import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { MobileScreenDocument, TrackEventsDocument } from '@referral-gateway/client';
import { respond, STATES } from '@referral-gateway/client/testing';
import { build } from 'esbuild';
import { newFolder } from '../../kit/at-end.ts';
import { executablePath } from '../../kit/chromium.ts';
import { startDemo } from '../../kit/demo.ts';
import { post } from '../../kit/post.ts';
import { hasBrowser, launch, serveBuilt } from '../../web/example.ts';
import { documented, INSTALL, PACKAGE, pack, ROOT, readJson, run, writeFiles } from './project.ts';

/*
 * What a frontend developer gets: the packed package in an empty Vite and React project, with the code of its README and of
 * docs/frameworks.md, compiled with TypeScript's strictest settings, in Chromium, in front of a gateway with its demo player.
 */

jest.setTimeout(300_000);

const TSCONFIG = {
  extends: `${ROOT}tsconfig.json`,
  compilerOptions: {
    ...{
      module: 'esnext',
      moduleResolution: 'bundler',
      jsx: 'react-jsx',
      types: ['vite/client'],
      incremental: false,
      declaration: true,
    },
    ...{ lib: ['es2023', 'dom', 'dom.iterable'], noUncheckedSideEffectImports: true },
    ...{ allowUnreachableCode: false, allowUnusedLabels: false },
  },
  include: ['src'],
};
const DEPENDENCIES =
  '@referral-gateway/client @apollo/client graphql rxjs react react-dom @types/react @types/react-dom @urql/core ' +
  '@urql/exchange-graphcache urql @tanstack/react-query swr react-test-renderer @vitejs/plugin-react typescript vite ' +
  'relay-runtime @types/relay-runtime @auth0/auth0-react graphql-request villus vue msw @playwright/test';

const MAIN = `
import { createRoot } from 'react-dom/client';
import { QueryClientProvider } from '@tanstack/react-query';
import { ApolloScreen } from './Apollo';
import { App } from './App';
import { CheckIn } from './CheckIn';
import { Events } from './events';
import { summary } from './plain';
import { PlainScreen } from './PlainScreen';
import { SwrScreen } from './Swr';
import { queryClient, TanstackScreen } from './Tanstack';
import { UrqlScreen } from './Urql';

const text = await summary('demo-player');
const root = document.getElementById('root');
if (root) createRoot(root).render(<><p>{text}</p><App /><QueryClientProvider client={queryClient}><TanstackScreen playerUniqueId="demo-player" /></QueryClientProvider><SwrScreen playerUniqueId="demo-player" /><PlainScreen playerUniqueId="demo-player" /><ApolloScreen /><UrqlScreen /><Events /><CheckIn playerUniqueId="demo-player" onSent={() => {}} /></>);
`;

/** A button for each hook that sends an event. */
const EVENTS = `
import { ApolloClient, InMemoryCache } from '@apollo/client';
import { ApolloProvider } from '@apollo/client/react';
import type { TrackEventsMutation, TrackEventsMutationVariables } from '@referral-gateway/client';
import { cacheConfig, createGatewayLink, defaultOptions } from '@referral-gateway/client/apollo';
import { gatewayExchanges } from '@referral-gateway/client/urql';
import { useState } from 'react';
import { Client, Provider } from 'urql';
import { fetchToken } from './session';
import { useTrackEvents } from './useTrackEvents';
import { useTrackEvents as useUrqlTrackEvents } from './useUrqlTrackEvents';

const options = { url: '/graphql', token: fetchToken };
const apollo = new ApolloClient({ cache: new InMemoryCache(cacheConfig), link: createGatewayLink(options), defaultOptions });
const urql = new Client({ url: options.url, exchanges: gatewayExchanges(options) });
type Send = (variables: TrackEventsMutationVariables) => Promise<{ data?: TrackEventsMutation | null | undefined }>;

function Event({ name, send }: { name: string; send: Send }) {
  const [text, setText] = useState(name);
  const input = { playerUniqueId: 'demo-player', events: [{ name }] };
  const click = async () => setText('Sent: ' + (await send({ input })).data?.trackEvents?.eventNames.join());
  return <button onClick={click}>{text}</button>;
}
const ApolloEvent = () => <Event name="by_apollo" send={useTrackEvents()} />;
const UrqlEvent = () => <Event name="by_urql" send={useUrqlTrackEvents()} />;
export const Events = () => <ApolloProvider client={apollo}><Provider value={urql}><ApolloEvent /><UrqlEvent /></Provider></ApolloProvider>;
`;

/** The documents' types arrive in each library: a field that is not selected is an error. */
const TYPE_TESTS = `
import { useQuery } from '@apollo/client/react';
import { createClient, type FetchOptions, type GatewayError, MobileScreenDocument, TrackEventsDocument } from '@referral-gateway/client';
import { toDocument } from '@referral-gateway/client/apollo';
import { respond } from '@referral-gateway/client/testing';
import { graphcacheConfig } from '@referral-gateway/client/urql';
import { useQuery as useUrqlQuery } from 'urql';

/** A package of a workspace can export it, with declarations. */
export const ofWorkspace = { ...graphcacheConfig };
/** TypeScript must be able to name the types that follow from it. */
export const fetchOf = ({ fetch = globalThis.fetch, token }: FetchOptions) => ({ fetch, token });
export const partOf = ({ path, outcome }: GatewayError) => ({ path, outcome });
const Screen = toDocument(MobileScreenDocument);
export async function use() {
  const { data } = await createClient({ url: '' }).request(MobileScreenDocument, { playerUniqueId: 'a' });
  // @ts-expect-error
  void data.player?.nothing;
  // @ts-expect-error: a player that is forgotten is not somebody else's.
  void createClient({ url: '' }).request(MobileScreenDocument);
  // @ts-expect-error
  void createClient({ url: '' }).request(TrackEventsDocument, { input: {} });
  // @ts-expect-error
  void useQuery(Screen, { variables: { playerUniqueId: 'a' } }).data?.player?.nothing;
  // @ts-expect-error
  void useUrqlQuery({ query: Screen, variables: { playerUniqueId: 'a' } })[0].data?.player?.nothing;
  // @ts-expect-error
  void respond('demo-player', MobileScreenDocument).body.data?.player?.nothing;
}
`;

const project = newFolder();

/** Runs a program of the project; rejects with what it printed. */
const runThere = (name: string, ...args: string[]) =>
  run(join(project, 'node_modules/.bin', name), args, { cwd: project }).catch(({ stdout }) => {
    throw new Error(stdout);
  });

/** Writes an empty project with the code of the README. */
function writeProject(packed: string): void {
  const ofExample = readJson(`${ROOT}examples/web/package.json`);
  const versions = {
    ...readJson(`${ROOT}test/clients/package/tools/package.json`).dependencies,
    ...readJson(`${ROOT}test/clients/package.json`).devDependencies,
    ...readJson(`${ROOT}test/clients/package.json`).dependencies,
    ...ofExample.devDependencies,
    ...ofExample.dependencies,
    '@referral-gateway/client': packed,
  };
  const dependencies = Object.fromEntries(DEPENDENCIES.split(' ').map((name) => [name, versions[name] ?? 'missing']));
  // What is not in src/ belongs to a framework: tools.long.test.ts.
  const blocks = Object.entries(documented()).filter(([file]) => file.startsWith('src/'));
  expect(blocks.length).toBeGreaterThanOrEqual(4);
  writeFiles(project, {
    ...Object.fromEntries(blocks),
    'package.json': JSON.stringify({ private: true, type: 'module', dependencies }),
    'tsconfig.json': JSON.stringify(TSCONFIG),
    'index.html': '<!doctype html><div id="root"></div><script type="module" src="/src/main.tsx"></script>',
    'vite.config.js': "import react from '@vitejs/plugin-react';\nexport default { plugins: [react()] };\n",
    'src/main.tsx': MAIN,
    'src/events.tsx': EVENTS,
    'src/types.ts': TYPE_TESTS,
  });
}

/** Each library in the version that the package supports. */
const LIBRARIES =
  '@apollo/client@4 rxjs@7 urql@5 @urql/core@6 @urql/exchange-graphcache@9 relay-runtime@21 react@19'.split(' ');
/** Applications in which the package is installed for its plain client and `createFetch`. npm refuses what a peer forbids. */
const APPLICATIONS = [
  ['graphql@16', ...LIBRARIES],
  ['graphql@17', ...LIBRARIES],
  ['graphql@15'],
  ['graphql@16', '@apollo/client@3', 'react@18'],
  ['graphql@16', '@urql/core@5', 'urql@4', 'react@18'],
  ['graphql@16', 'relay-runtime@18'],
  // The peers of vue-demi, which it depends on, are in conflict themselves.
  ['graphql@16', '@vue/apollo-composable@4', '@apollo/client@3', 'vue@3', '--no-strict-peer-deps'],
  ['graphql@15', '@apollo/client@3.4', '@urql/core@3', 'relay-runtime@12', 'react@16'],
  // Versions before a release: a range such as `>=15` has none of them.
  ['graphql@17.0.0-rc.0', 'react@19.0.0-rc.1'],
  ['graphql@14', '@urql/core@2', 'react@0.0.0-experimental-a757cb76-20251002'],
];

const { packed: PACKED, files } = await pack();

test.each(APPLICATIONS.map((packages) => [packages.join(', '), packages] as const))(
  'npm installs the package beside %s',
  async (_, packages) => {
    const folder = newFolder();
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    await run('npm', [...INSTALL, '--package-lock-only', '--strict-peer-deps', ...packages, PACKED], { cwd: folder });
  },
);

test('the package has nothing of the gateway; with the code of its README, it compiles in an empty project', async () => {
  const own =
    /^(dist\/(cjs\/)?(generated\/)?[\w-]+\.(js|d\.ts|graphql)|((dist\/cjs|apollo|urql|relay|react|testing)\/)?package\.json|README\.md|LICENSE|llms\.txt|schema\.semantic\.graphql)$/;
  expect(files.filter((file) => !own.test(file))).toEqual([]);
  expect(files).toContain('dist/schema.graphql');
  expect(readJson(`${PACKAGE}/package.json`)).not.toHaveProperty('dependencies');
  // Yarn 1 would not install it on an older Node, although browsers run it.
  expect(readJson(`${PACKAGE}/package.json`)).not.toHaveProperty('engines');

  writeProject(PACKED);
  await run('npm', INSTALL, { cwd: project });
  await runThere('tsc', '-p', '.');
  // Types of other packages are their own business.
  const all = await runThere('tsc', '-p', '.', '--skipLibCheck', 'false').catch(String);
  expect(JSON.stringify(all)).not.toContain('@referral-gateway');
});

(hasBrowser ? test : test.skip)('the code of the README runs in Chromium', async () => {
  await runThere('vite', 'build');
  const demo = await startDemo();
  const page = await (await launch()).newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  let state: Parameters<typeof respond>[0] = 'demo-player';
  await serveBuilt(page, join(project, 'dist'), 'a-token', async (operation) => {
    if (state !== 'demo-player') return respond(state, operation.query, operation.variables);
    const { status, text } = await post(demo.url, operation);
    return { status, body: JSON.parse(text) };
  });
  await page.getByText(/^Demo Player: coupons \d+/).waitFor();
  for (const name of ['Plain', 'Apollo', 'urql', 'TanStack', 'SWR'])
    await page.getByText(new RegExp(`^${name}: \\d+ coupons`)).waitFor();
  await page.getByRole('button', { name: 'Check in' }).click();
  await page.getByText('You are checked in.').waitFor();
  for (const name of ['by_apollo', 'by_urql']) {
    await page.getByRole('button', { name }).click();
    await page.getByText(`Sent: ${name}`).waitFor();
  }
  const failures = { Apollo: 'demo-no-friends', urql: 'rate-limited' } as const;
  for (const [name, failure] of Object.entries(failures)) {
    const more = page.getByRole('button', { name: `More of ${name}` });
    await page.getByText(`${name}: 10 friends`).waitFor();
    await more.click();
    await page.getByText(`${name}: 20 friends`).waitFor();
    state = failure;
    await more.click();
    await page.getByText('More friends cannot be loaded now.').waitFor();
    expect(await page.getByText(`${name}: 20 friends`).count()).toBe(1);
    state = 'demo-player';
    await more.click();
    await page.getByText(`${name}: 30 friends`).waitFor();
  }
  expect(complaints).toEqual([]);
});

/** Runs a module of the project in Node, and returns what it printed, in JSON. */
async function runModule(name: string, text: string): Promise<unknown> {
  writeFileSync(join(project, 'src', name), text);
  await build({ entryPoints: [join(project, 'src', name)], outfile: join(project, `${name}.mjs`), ...BUNDLE });
  const { stdout } = await run(process.execPath, [join(project, `${name}.mjs`)], { cwd: project });
  return JSON.parse(stdout);
}
const BUNDLE = { bundle: true, packages: 'external', format: 'esm', platform: 'node', jsx: 'automatic' } as const;

test('on a server the screen is rendered once; TanStack Query keeps the coupons that a later read misses', async () => {
  const demo = await startDemo();
  const url = JSON.stringify(`${demo.url}/graphql`);
  const printed = await runModule(
    'server.tsx',
    `import { createClient } from '@referral-gateway/client';
     import { respond } from '@referral-gateway/client/testing';
     import { renderToStaticMarkup } from 'react-dom/server';
     import { ServerRewards } from './ServerRewards';
     import { queryClient, screenOf } from './Tanstack';

     const html = [];
     for (const playerUniqueId of ['demo-player', 'demo-no-coupons', 'nobody'])
       html.push(renderToStaticMarkup(await ServerRewards({ url: ${url}, token: undefined, playerUniqueId })));
     const states = ['demo-player', 'demo-no-coupons'];
     const fetch = async (_, init) => {
       const { query, variables } = JSON.parse(init.body);
       return Response.json(respond(states.shift(), query, variables).body);
     };
     const options = { ...screenOf('a', createClient({ url: 'http://gateway.example', fetch })), staleTime: 0 };
     const coupons = [];
     for (let time = 0; time < 2; time += 1) coupons.push((await queryClient.fetchQuery(options)).data.player.coupons.length);
     console.log(JSON.stringify([html, coupons, states]));`,
  );
  const [html, [before, after], states] = printed as [string[], number[], unknown];
  expect(html).toEqual([
    expect.stringMatching(/^<p>\d+ coupons/),
    '<p>Your coupons come soon.</p>',
    '<p>There is no such player.</p>',
  ]);
  expect([after, states]).toEqual([before, []]);
});

test('SWR keeps the coupons that a later read misses, and asks for them again', async () => {
  const printed = await runModule(
    'misses.tsx',
    `import { respond } from '@referral-gateway/client/testing';
     import { act, create } from 'react-test-renderer';
     import { mutate } from 'swr';
     import { SwrScreen } from './Swr';

     globalThis.IS_REACT_ACT_ENVIRONMENT = true;
     const states = ['demo-player', 'demo-no-coupons', 'demo-no-coupons', 'demo-player'];
     globalThis.fetch = async (_, init) => {
       const { query, variables } = JSON.parse(init.body);
       return Response.json(respond(states.shift(), query, variables).body);
     };
     const seen = [];
     const read = async (does) => { await act(does); seen.push(screen.toJSON().children.join('')); };
     let screen;
     await read(async () => { screen = create(<SwrScreen playerUniqueId="a" />); });
     await read(() => mutate(['screen', 'a']));
     while (states.length > 0) await act(() => new Promise((resolve) => setTimeout(resolve)));
     await read(async () => {});
     console.log(JSON.stringify(seen));`,
  );
  const shown = expect.stringMatching(/^SWR: \d+ coupons$/);
  expect(printed).toEqual([shown, shown, shown]);
});

/** What a screen gets: the coupons, and the codes of the errors. */
const READ = `
  const read = async ({ createClient, MobileScreenDocument }) => {
    const client = createClient({ url: 'http://gateway.example/graphql' });
    const { data, errors } = await client.request(MobileScreenDocument, { playerUniqueId: 'p7' });
    return [data.player.coupons, errors.map(({ code }) => code)];
  };`;
const SLOW_COUPONS = [null, ['UPSTREAM_TIMEOUT']];

test('MSW responds as a gateway whose coupons are slow', async () => {
  const printed = await runModule(
    'msw-test.ts',
    `import * as client from '@referral-gateway/client';
     import { setupServer } from 'msw/node';
     import { handlers } from './msw';
     ${READ}
     const server = setupServer(...handlers);
     server.listen({ onUnhandledRequest: 'error' });
     console.log(JSON.stringify(await read(client)));
     server.close();`,
  );
  expect(printed).toEqual(SLOW_COUPONS);
});

(hasBrowser ? test : test.skip)('Playwright responds as a gateway whose coupons are slow', async () => {
  const stdin = { contents: "export * from '@referral-gateway/client'", resolveDir: project };
  await build({ stdin, bundle: true, format: 'iife', globalName: 'client', outfile: join(project, 'page.js') });
  const printed = await runModule(
    'playwright-test.ts',
    `import { chromium } from '@playwright/test';
     import { respondTo } from './playwright';
     ${READ}
     const browser = await chromium.launch(${JSON.stringify({ executablePath })});
     const page = await browser.newPage();
     await page.route('http://gateway.example/', (route) => route.fulfill({ contentType: 'text/html', body: '<p>' }));
     await respondTo(page);
     await page.goto('http://gateway.example/');
     await page.addScriptTag({ path: 'page.js' });
     console.log(JSON.stringify(await page.evaluate('(' + read + ')(client)')));
     await browser.close();`,
  );
  expect(printed).toEqual(SLOW_COUPONS);
});

test('the outbox keeps an event over an outage with its key, and forgets it after a day; it is never sent for another player', async () => {
  const printed = await runModule(
    'boxes.ts',
    `import { createClient } from '@referral-gateway/client';
     import { inBrowser, keepEvent, sendEvents } from './outbox';

     class Items {
       setItem(key, text) { this[key] = text; }
       removeItem(key) { delete this[key]; }
     }
     const items = globalThis.localStorage = new Items();
     items.setItem('of the application', 'no JSON');
     const keys = new Set();
     let isAway = true;
     const fetch = async (_, init) => {
       keys.add(JSON.parse(init.body).variables.input.idempotencyKey);
       if (isAway) throw new TypeError('fetch failed');
       return Response.json({ data: { trackEvents: { eventNames: ['a'], userErrors: [], player: null } } });
     };
     const client = createClient({ url: 'http://gateway.example', fetch, attempts: 1 });
     const results = [];
     keepEvent(inBrowser, 'p1', 'a');
     results.push(await sendEvents(inBrowser, client, 'p1'));
     isAway = false;
     results.push(await sendEvents(inBrowser, client, 'p2'));
     results.push(await sendEvents(inBrowser, client, 'p1'));
     keepEvent(inBrowser, 'p1', 'b');
     keepEvent(inBrowser, 'p2', 'c');
     const count = Object.keys(items).length;
     for (const event of inBrowser.read()) inBrowser.add({ ...event, at: event.at - 90_000_000 });
     results.push(await sendEvents(inBrowser, client, 'p1'));
     console.log(JSON.stringify([results, count, inBrowser.read().map(({ name }) => name), keys.size]));`,
  );
  expect(printed).toEqual([[['LATER'], [], ['DONE'], ['UNKNOWN']], 3, ['c'], 1]);
});

test('types are correct for TypeScript 5.0, whatever its resolution', async () => {
  const folder = newFolder();
  const packages = ['typescript@5.0', 'graphql@16', PACKED];
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  await run('npm', [...INSTALL, ...packages], { cwd: folder });
  const text = `
    import { createClient, createFetch, keepParts, MobileScreenDocument } from '@referral-gateway/client';
    import { respond } from '@referral-gateway/client/testing';
    // As of Bun: no function of an application has it.
    declare global {
      namespace fetch {
        function preconnect(url: string): void;
      }
    }
    export const ofApplication: typeof fetch = createFetch({ fetch: async (...request) => await fetch(...request) });
    const read = createClient({ url: '/graphql' }).request(MobileScreenDocument, { playerUniqueId: 'a' });
    export const count = read.then((next) => keepParts(undefined, next).data.player?.coupons?.length ?? 0);
    // @ts-expect-error
    respond('demo-player', MobileScreenDocument, { playerUniqueId: 1 }).body.data?.player?.id;
    // @ts-expect-error
    respond('demo-player', MobileScreenDocument).body.data?.player?.nothing;
  `;
  writeFiles(folder, { 'plain.ts': text, 'plain.mts': text });
  const flags =
    '--noEmit --strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --noPropertyAccessFromIndexSignature ' +
    '--noImplicitOverride --noImplicitReturns --noUnusedLocals --isolatedModules --skipLibCheck false --types graphql --target es2020';
  for (const [module = '', resolution = '', file = 'plain.ts'] of [
    ['esnext', 'bundler'],
    ['commonjs', 'node10'],
    ['node16', 'node16'],
    ['node16', 'node16', 'plain.mts'],
    ['nodenext', 'nodenext'],
    ['nodenext', 'nodenext', 'plain.mts'],
  ]) {
    const all = [...flags.split(' '), '--module', module, '--moduleResolution', resolution, file];
    const { stdout } = await run(join(folder, 'node_modules/.bin/tsc'), all, { cwd: folder }).catch((error) => error);
    expect([resolution, file, stdout]).toEqual([resolution, file, '']);
  }
});

test.each(['15.2', '15', '17'])('/testing responds with graphql %s as with 16', async (version) => {
  const folder = newFolder();
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  const packages = [`graphql@${version}`, PACKED];
  await run('npm', [...INSTALL, ...packages], { cwd: folder });
  const text = `
    const { respond, STATES } = require('@referral-gateway/client/testing');
    const { MobileScreenDocument, TrackEventsDocument } = require('@referral-gateway/client');
    const input = { playerUniqueId: 'a', events: [{ name: 'check_in' }] };
    const responses = STATES.map((state) => [
      respond(state, MobileScreenDocument, { playerUniqueId: 'a' }),
      respond(state, TrackEventsDocument, { input }),
    ]);
    console.log(JSON.stringify(responses));`;
  const { stdout } = await run(process.execPath, ['--eval', text], { cwd: folder });
  const input = { playerUniqueId: 'a', events: [{ name: 'check_in' }] };
  const responses = STATES.map((state) => [
    respond(state, MobileScreenDocument, { playerUniqueId: 'a' }),
    respond(state, TrackEventsDocument, { input }),
  ]);
  expect(JSON.parse(stdout)).toEqual(responses);
});

test('with Apollo Client 3, without React, a restored cache is asked again for what was missing', async () => {
  const folder = newFolder();
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  const packages = ['@apollo/client@3', 'graphql@16', PACKAGE, '--install-links'];
  await run('npm', [...INSTALL, ...packages], { cwd: folder });
  const text = `
    const { ApolloClient, InMemoryCache, HttpLink, gql } = require('@apollo/client/core');
    const { createFetch, gatewayErrors } = require('@referral-gateway/client');
    const { cacheConfig, defaultOptions } = require('@referral-gateway/client/apollo');
    const extensions = { code: 'UPSTREAM_TIMEOUT', retryable: true };
    const player = (coupons) => ({ player: { __typename: 'Player', id: 'a', coupons } });
    const responses = [
      { data: player(null), errors: [{ message: 'Not now.', path: ['player', 'coupons'], extensions }] },
      { data: player([]) },
    ];
    const fetch = async () => Response.json(responses.shift());
    const query = gql('{ player(playerUniqueId: "a") { id coupons { id } } }');
    const read = (saved) => {
      const link = new HttpLink({ uri: 'http://gateway.example', fetch: createFetch({ fetch }) });
      const client = new ApolloClient({ cache: new InMemoryCache(cacheConfig).restore(saved), link, defaultOptions });
      return client.query({ query }).then(({ data, errors }) => ({
        saved: JSON.parse(JSON.stringify(client.cache.extract())),
        seen: [data.player.coupons, gatewayErrors(errors).map(({ code }) => code)],
      }));
    };
    (async () => {
      const first = await read({});
      console.log(JSON.stringify([first.seen, (await read(first.saved)).seen]));
    })();`;
  const { stdout } = await run(process.execPath, ['--eval', text], { cwd: folder });
  expect(JSON.parse(stdout)).toEqual([
    [null, ['UPSTREAM_TIMEOUT']],
    [[], []],
  ]);
  // As modules, which Node resolves without folders: a test or a server with Vue Apollo.
  const modules = `
    import { ApolloLink } from '@apollo/client/core/index.js';
    import { createGatewayLink } from '@referral-gateway/client/apollo';
    console.log(createGatewayLink({ url: '/graphql' }) instanceof ApolloLink);`;
  const { stdout: ofModules } = await run(process.execPath, ['--input-type=module', '--eval', modules], {
    cwd: folder,
  });
  expect(ofModules).toBe('true\n');
});
