import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { respond } from '@referral-gateway/client/testing';
import { chromium } from 'playwright-core';
import { executablePath } from '../../kit/chromium.ts';
import { startDemo } from '../kit.ts';

/*
 * What a frontend developer gets: the packed package in an empty Vite and React project, with the code of its README,
 * compiled with TypeScript's strictest settings, in Chromium, in front of the built gateway with its demo player.
 */

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PACKAGE = `${ROOT}packages/client`;
jest.setTimeout(300_000);

const STRICT =
  'strict erasableSyntaxOnly exactOptionalPropertyTypes isolatedModules noFallthroughCasesInSwitch noImplicitOverride ' +
  'noImplicitReturns noPropertyAccessFromIndexSignature noUncheckedIndexedAccess noUncheckedSideEffectImports ' +
  'noUnusedLocals noUnusedParameters verbatimModuleSyntax';
const STRICTEST = {
  ...{ target: 'es2022', module: 'esnext', moduleResolution: 'bundler', jsx: 'react-jsx', types: ['vite/client'] },
  ...{ lib: ['es2023', 'dom', 'dom.iterable'], noEmit: true, allowUnreachableCode: false, allowUnusedLabels: false },
  ...Object.fromEntries(STRICT.split(' ').map((name) => [name, true])),
  // Types of other packages are their own business; the package's are checked as a file of the project below.
  skipLibCheck: true,
};
const DEPENDENCIES = [
  ...['@referral-gateway/client', '@apollo/client', 'graphql', 'rxjs', 'react', 'react-dom', '@types/react'],
  ...[
    '@types/react-dom',
    '@urql/core',
    '@urql/exchange-graphcache',
    'urql',
    '@vitejs/plugin-react',
    'typescript',
    'vite',
  ],
];

const MAIN = `
import { createRoot } from 'react-dom/client';
import { ApolloScreen } from './Apollo';
import { summary } from './plain';
import { UrqlScreen } from './Urql';

const text = await summary('demo-player');
const root = document.getElementById('root');
if (root) createRoot(root).render(<><p>{text}</p><ApolloScreen /><UrqlScreen /></>);
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

let project: string;
let files: string[];
/** Runs a program of the project; rejects with what it printed. */
const runThere = (name: string, ...args: string[]) =>
  run(join(project, 'node_modules/.bin', name), args, { cwd: project }).catch(({ stdout }) => {
    throw new Error(stdout);
  });

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'client-'));
  // The package is built already: another build would take it away from the tests beside this one.
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', project];
  const { stdout } = await run('npm', pack, { cwd: PACKAGE });
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[')));
  files = packed.files.map(({ path }: { path: string }) => path);
  await writeProject(`file:${packed.filename}`);
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: project });
});
afterAll(() => rm(project, { recursive: true, force: true }));

/** Writes an empty project with the code of the README. */
async function writeProject(packed: string): Promise<void> {
  const ofExample = readJson(`${ROOT}examples/web/package.json`);
  const versions = {
    ...readJson(`${ROOT}test/clients/package.json`).dependencies,
    ...ofExample.devDependencies,
    ...ofExample.dependencies,
    '@referral-gateway/client': packed,
  };
  const dependencies = Object.fromEntries(DEPENDENCIES.map((name) => [name, versions[name] ?? 'missing']));
  const readme = readFileSync(`${PACKAGE}/README.md`, 'utf8');
  const blocks = [...readme.matchAll(/^```tsx?\n\/\/ (?<file>\S+)\n(?<code>.*?)^```$/gms)];
  expect(blocks.length).toBeGreaterThanOrEqual(4);
  const texts: Record<string, string> = {
    ...Object.fromEntries(blocks.map(({ groups }) => [groups?.['file'] ?? '', groups?.['code'] ?? ''])),
    'package.json': JSON.stringify({ private: true, type: 'module', dependencies }),
    'tsconfig.json': JSON.stringify({ compilerOptions: STRICTEST, include: ['src'] }),
    'index.html': '<!doctype html><div id="root"></div><script type="module" src="/src/main.tsx"></script>',
    'vite.config.js': "import react from '@vitejs/plugin-react';\nexport default { plugins: [react()] };\n",
    'src/main.tsx': MAIN,
    'src/types.ts': TYPE_TESTS,
  };
  await mkdir(join(project, 'src'));
  for (const [file, text] of Object.entries(texts)) await writeFile(join(project, file), text);
}

test('nothing of the gateway is in the package', () => {
  const own = /^(dist\/(generated\/)?[\w-]+\.(js|d\.ts|graphql)|README\.md|LICENSE|package\.json)$/;
  expect(files.filter((file) => !own.test(file))).toEqual([]);
  expect(files).toEqual(expect.arrayContaining(['dist/schema.graphql', 'dist/index.d.ts', 'dist/testing.js']));
  expect(readJson(`${PACKAGE}/package.json`)).not.toHaveProperty('dependencies');
});

describe('in an empty project', () => {
  test('the code of the README compiles with the strictest settings, and so do the types of the package', async () => {
    await runThere('tsc', '-p', '.');
    const all = await runThere('tsc', '-p', '.', '--skipLibCheck', 'false').catch(String);
    expect(JSON.stringify(all)).not.toContain('@referral-gateway');
  });

  (executablePath ? test : test.skip)('it runs in Chromium', async () => {
    await runThere('vite', 'build');
    const demo = await startDemo();
    const browser = await chromium.launch({ ...(executablePath && { executablePath }), args: ['--disable-gpu'] });
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(String(error)));
    let isDown = false;
    await page.route('**/*', async (route) => {
      const { pathname } = new URL(route.request().url());
      if (pathname === '/session') return route.fulfill({ body: 'a-token' });
      if (pathname === '/graphql') {
        // As the recipe of the README reads a request: a POST, and nothing in the URL.
        const operation = route.request().postDataJSON();
        if (isDown) {
          const { body, ...response } = respond('demo-no-friends', operation.query, operation.variables);
          return route.fulfill({ ...response, body: JSON.stringify(body) });
        }
        const headers = { 'content-type': 'application/json' };
        const response = await fetch(demo.uri, { method: 'POST', headers, body: JSON.stringify(operation) });
        return route.fulfill({ status: response.status, json: await response.json() });
      }
      const path = join(project, 'dist', pathname === '/' ? 'index.html' : pathname);
      return existsSync(path) ? route.fulfill({ path }) : route.fulfill({ status: 404 });
    });
    await page.goto('http://localhost/');
    for (const text of [/^Demo Player: coupons \d+/, /^Apollo: \d+ coupons/, /^urql: \d+ coupons/]) {
      await page.getByText(text).waitFor();
    }
    for (const name of ['Apollo', 'urql']) {
      const more = page.getByRole('button', { name: `More of ${name}` });
      await page.getByText(`${name}: 10 friends`).waitFor();
      await more.click();
      await page.getByText(`${name}: 20 friends`).waitFor();
      isDown = true;
      await more.click();
      await page.getByText('More friends cannot be loaded now.').waitFor();
      expect(await page.getByText(`${name}: 20 friends`).count()).toBe(1);
      isDown = false;
      if (name === 'Apollo') await more.click();
      await page.getByText(`${name}: 30 friends`).waitFor();
    }
    expect(complaints).toEqual([]);
    await browser.close();
    await demo.stop();
  });
});
