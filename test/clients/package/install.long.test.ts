import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, jest, test } from '@jest/globals';
import { respond } from '@referral-gateway/client/testing';
import { newFolder } from '../../kit/at-end.ts';
import { startDemo } from '../../kit/demo.ts';
import { post } from '../../kit/gateway.ts';
import { hasBrowser, launch, serveBuilt } from '../../web/example.ts';

/*
 * What a frontend developer gets: the packed package in an empty Vite and React project, with the code of its README,
 * compiled with TypeScript's strictest settings, in Chromium, in front of a gateway with its demo player.
 */

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PACKAGE = `${ROOT}packages/client`;
jest.setTimeout(300_000);

const TSCONFIG = {
  extends: `${ROOT}tsconfig.json`,
  compilerOptions: {
    ...{ module: 'esnext', moduleResolution: 'bundler', jsx: 'react-jsx', types: ['vite/client'], incremental: false },
    ...{ lib: ['es2023', 'dom', 'dom.iterable'], noUncheckedSideEffectImports: true },
    ...{ allowUnreachableCode: false, allowUnusedLabels: false },
  },
  include: ['src'],
};
const DEPENDENCIES =
  '@referral-gateway/client @apollo/client graphql rxjs react react-dom @types/react @types/react-dom @urql/core ' +
  '@urql/exchange-graphcache urql @vitejs/plugin-react typescript vite';

const MAIN = `
import { createRoot } from 'react-dom/client';
import { ApolloScreen } from './Apollo';
import { CheckIn } from './CheckIn';
import { summary } from './plain';
import { PlainScreen } from './PlainScreen';
import { UrqlScreen } from './Urql';

const text = await summary('demo-player');
const root = document.getElementById('root');
if (root) createRoot(root).render(<><p>{text}</p><PlainScreen playerUniqueId="demo-player" /><ApolloScreen /><UrqlScreen /><CheckIn playerUniqueId="demo-player" onSent={() => {}} /></>);
`;

/** The documents' types arrive in each library: a field that is not selected is an error. */
const TYPE_TESTS = `
import { useQuery } from '@apollo/client/react';
import { createClient, MobileScreenDocument, TrackEventsDocument } from '@referral-gateway/client';
import { toDocument } from '@referral-gateway/client/apollo';
import { respond } from '@referral-gateway/client/testing';
import { useQuery as useUrqlQuery } from 'urql';

const Screen = toDocument(MobileScreenDocument);
export async function use() {
  const { data } = await createClient({ url: '' }).request(MobileScreenDocument);
  // @ts-expect-error
  void data.player?.nothing;
  // @ts-expect-error
  void createClient({ url: '' }).request(TrackEventsDocument, { input: {} });
  // @ts-expect-error
  void useQuery(Screen).data?.player?.nothing;
  // @ts-expect-error
  void useUrqlQuery({ query: Screen, variables: {} })[0].data?.player?.nothing;
  // @ts-expect-error
  void respond('demo-player', MobileScreenDocument).body.data?.player?.nothing;
}
`;

const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
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
    ...readJson(`${ROOT}test/clients/package.json`).dependencies,
    ...ofExample.devDependencies,
    ...ofExample.dependencies,
    '@referral-gateway/client': packed,
  };
  const dependencies = Object.fromEntries(DEPENDENCIES.split(' ').map((name) => [name, versions[name] ?? 'missing']));
  const readme = readFileSync(`${PACKAGE}/README.md`, 'utf8');
  const blocks = [...readme.matchAll(/^```tsx?\n\/\/ (\S+)\n(.*?)^```$/gms)];
  expect(blocks.length).toBeGreaterThanOrEqual(4);
  mkdirSync(join(project, 'src'));
  for (const [file = '', text = ''] of [
    ...blocks.map(([, file, code]) => [file, code]),
    ['package.json', JSON.stringify({ private: true, type: 'module', dependencies })],
    ['tsconfig.json', JSON.stringify(TSCONFIG)],
    ['index.html', '<!doctype html><div id="root"></div><script type="module" src="/src/main.tsx"></script>'],
    ['vite.config.js', "import react from '@vitejs/plugin-react';\nexport default { plugins: [react()] };\n"],
    ['src/main.tsx', MAIN],
    ['src/types.ts', TYPE_TESTS],
  ]) {
    writeFileSync(join(project, file), text);
  }
}

test('the package has nothing of the gateway; with the code of its README, it compiles in an empty project', async () => {
  // The package is built already: another build would take it away from the tests beside this one.
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', project];
  const { stdout } = await run('npm', pack, { cwd: PACKAGE });
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[')));
  const files: string[] = packed.files.map(({ path }: { path: string }) => path);
  const own =
    /^(dist\/(cjs\/)?(generated\/)?[\w-]+\.(js|d\.ts|graphql)|((dist\/cjs|apollo|urql|relay|react|testing)\/)?package\.json|README\.md|LICENSE)$/;
  expect(files.filter((file) => !own.test(file))).toEqual([]);
  expect(files).toContain('dist/schema.graphql');
  expect(readJson(`${PACKAGE}/package.json`)).not.toHaveProperty('dependencies');

  writeProject(`file:${packed.filename}`);
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: project });
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
  for (const name of ['Plain', 'Apollo', 'urql']) await page.getByText(new RegExp(`^${name}: \\d+ coupons`)).waitFor();
  await page.getByRole('button', { name: 'Check in' }).click();
  await page.getByText('You are checked in.').waitFor();
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
