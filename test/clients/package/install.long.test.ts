import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, extname, join } from 'node:path';
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

const STRICTEST = {
  target: 'es2022',
  module: 'esnext',
  moduleResolution: 'bundler',
  lib: ['es2023', 'dom', 'dom.iterable'],
  jsx: 'react-jsx',
  types: ['vite/client'],
  noEmit: true,
  strict: true,
  allowUnreachableCode: false,
  allowUnusedLabels: false,
  erasableSyntaxOnly: true,
  exactOptionalPropertyTypes: true,
  isolatedModules: true,
  noFallthroughCasesInSwitch: true,
  noImplicitOverride: true,
  noImplicitReturns: true,
  noPropertyAccessFromIndexSignature: true,
  noUncheckedIndexedAccess: true,
  noUncheckedSideEffectImports: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  verbatimModuleSyntax: true,
  // Types of other packages are their own business; the package's are checked as a file of the project below.
  skipLibCheck: true,
};

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
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'client-'));
  // The package is built already: another build would take it away from the tests beside this one.
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', project], {
    cwd: PACKAGE,
  });
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[')));
  files = packed.files.map(({ path }: { path: string }) => path);
  await write(project, `file:${packed.filename}`);
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: project });
});
afterAll(() => rm(project, { recursive: true, force: true }));

/** Writes an empty project with the code of the README. */
async function write(folder: string, packed: string): Promise<void> {
  const { dependencies, devDependencies } = readJson(`${ROOT}examples/web/package.json`);
  const clients = readJson(`${ROOT}test/clients/package.json`).dependencies;
  const pick = (from: Record<string, string>, names: string[]) =>
    Object.fromEntries(names.map((name) => [name, from[name] ?? 'missing']));
  const manifest = {
    private: true,
    type: 'module',
    dependencies: {
      '@referral-gateway/client': packed,
      ...pick(dependencies, ['@apollo/client', 'graphql', 'react', 'react-dom', 'rxjs']),
      ...pick(clients, ['@urql/core', '@urql/exchange-graphcache', 'urql']),
    },
    devDependencies: pick(devDependencies, [
      '@types/react',
      '@types/react-dom',
      '@vitejs/plugin-react',
      'typescript',
      'vite',
    ]),
  };
  const readme = readFileSync(`${PACKAGE}/README.md`, 'utf8');
  const blocks = [...readme.matchAll(/^```tsx?\n\/\/ (?<file>\S+)\n(?<code>.*?)^```$/gms)];
  const project: Record<string, string> = {
    ...Object.fromEntries(blocks.map(({ groups }) => [groups?.['file'] ?? '', groups?.['code'] ?? ''])),
    'package.json': JSON.stringify(manifest),
    'tsconfig.json': JSON.stringify({ compilerOptions: STRICTEST, include: ['src'] }),
    'index.html': '<!doctype html><div id="root"></div><script type="module" src="/src/main.tsx"></script>',
    'vite.config.js': "import react from '@vitejs/plugin-react';\nexport default { plugins: [react()] };\n",
    'src/main.tsx': MAIN,
    'src/types.ts': TYPE_TESTS,
  };
  expect(blocks.length).toBeGreaterThanOrEqual(4);
  for (const [file, text] of Object.entries(project)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
}

test('nothing of the gateway is in the package', () => {
  expect(
    files.filter(
      (file) => !/^(dist\/(generated\/)?[\w-]+\.(js|d\.ts|graphql)|README\.md|LICENSE|package\.json)$/.test(file),
    ),
  ).toEqual([]);
  expect(files).toEqual(expect.arrayContaining(['dist/schema.graphql', 'dist/index.d.ts', 'dist/testing.js']));
  expect(readJson(`${PACKAGE}/package.json`)).not.toHaveProperty('dependencies');
});

describe('in an empty project', () => {
  test('the code of the README compiles with the strictest settings, and so do the types of the package', async () => {
    const compile = (...args: string[]) =>
      run(join(project, 'node_modules/.bin/tsc'), args, { cwd: project }).catch(({ stdout }) => {
        throw new Error(stdout);
      });
    await compile('-p', '.');
    const { stdout } = await run(join(project, 'node_modules/.bin/tsc'), ['-p', '.', '--skipLibCheck', 'false'], {
      cwd: project,
    }).catch((error) => error);
    expect(String(stdout).match(/^.*@referral-gateway.*$/gm)).toBeNull();
  });

  (executablePath ? test : test.skip)('it runs in Chromium', async () => {
    await run(join(project, 'node_modules/.bin/vite'), ['build'], { cwd: project });
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
          return route.fulfill({ status: response.status, headers: response.headers, body: JSON.stringify(body) });
        }
        const body = JSON.stringify(operation);
        const headers = { 'content-type': 'application/json' };
        const response = await fetch(`${demo.url}/graphql`, { method: 'POST', headers, body });
        return route.fulfill({ status: response.status, json: await response.json() });
      }
      const file = join(project, 'dist', pathname === '/' ? 'index.html' : pathname);
      const contentType = { '.html': 'text/html', '.js': 'text/javascript' }[extname(file)] ?? 'text/plain';
      if (!existsSync(file)) return route.fulfill({ status: 404 });
      return route.fulfill({ body: readFileSync(file), contentType });
    });
    await page.goto('http://localhost/');
    for (const text of [/^Demo Player: coupons \d+/, /^Apollo: \d+ coupons/, /^urql: \d+ coupons/]) {
      await page.getByText(text).waitFor();
    }
    for (const name of ['Apollo', 'urql']) {
      await page.getByText(`${name}: 10 friends`).waitFor();
      await page.getByRole('button', { name: `More of ${name}` }).click();
      await page.getByText(`${name}: 20 friends`).waitFor();
      isDown = true;
      await page.getByRole('button', { name: `More of ${name}` }).click();
      await page.getByText('More friends cannot be loaded now.').waitFor();
      expect(await page.getByText(`${name}: 20 friends`).count()).toBe(1);
      isDown = false;
      if (name === 'Apollo') await page.getByRole('button', { name: `More of ${name}` }).click();
      await page.getByText(`${name}: 30 friends`).waitFor();
    }
    expect(complaints).toEqual([]);
    await browser.close();
    await demo.stop();
  });
});
