import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { MobileScreenDocument } from '@referral-gateway/client';
import { respond, STATES } from '@referral-gateway/client/testing';
import { transform } from 'esbuild';
import type { Page } from 'playwright-core';
import { atEnd } from '../../kit/at-end.ts';
import { startDemo } from '../../kit/demo.ts';
import { until } from '../../kit/until.ts';
import { hasBrowser, launch, serveBuilt } from '../../web/example.ts';
import { documented, newProject, pack, ROOT, readJson, run } from './project.ts';

/*
 * The packed package in tools with their default settings: Jest, Vitest, webpack 5 and Next.js, in a project for each. React runs
 * each screen in its StrictMode too, which mounts everything twice.
 */

jest.setTimeout(300_000);
const { packed } = await pack();
const code = documented();
const inChromium = hasBrowser ? test : test.skip;

/** The `imports` of a test, and what it does with them. */
const testWith = (imports: string) => `${imports}
test.each(STATES)('%s', (state) => {
  expect(respond(state, MobileScreenDocument, { playerUniqueId: 'a' })).toEqual(expected[state]);
});
test('a client responds without pauses, with its own errors', async () => {
  const { status, headers, body } = expected['rate-limited'];
  let attempts = 0;
  const fetch = async () => {
    attempts += 1;
    return new Response(JSON.stringify(body), { status, headers });
  };
  const client = createClient({ url: 'http://gateway.example', fetch });
  const error = await client.request(MobileScreenDocument, { playerUniqueId: 'a' }).catch((error) => error);
  expect([error instanceof GatewayError, error.code, attempts]).toEqual([true, 'RATE_LIMITED', 5]);
  expect(typeof useHealing).toBe('function');
});
`;
const MODULES = `
import { createClient, GatewayError, MobileScreenDocument } from '@referral-gateway/client';
import { useHealing } from '@referral-gateway/client/react';
import { respond, STATES } from '@referral-gateway/client/testing';
import expected from './expected.json';
`;
const REQUIRED = `
const { createClient, GatewayError, MobileScreenDocument } = require('@referral-gateway/client');
const { useHealing } = require('@referral-gateway/client/react');
const { respond, STATES } = require('@referral-gateway/client/testing');
const expected = require('./expected.json');
`;
const EXPECTED = JSON.stringify(
  Object.fromEntries(STATES.map((state) => [state, respond(state, MobileScreenDocument, { playerUniqueId: 'a' })])),
);

test('Jest runs tests without a configuration, and TypeScript with the presets of Babel', async () => {
  const tools = ['jest', '@babel/core', '@babel/preset-env', '@babel/preset-typescript', 'graphql', 'react'];
  const presets = [['@babel/preset-env', { targets: { node: 'current' } }], '@babel/preset-typescript'];
  const { folder, runThere } = await newProject(packed, tools, {
    'expected.json': EXPECTED,
    'states.test.js': testWith(REQUIRED),
    'typescript/expected.json': EXPECTED,
    'typescript/states.test.ts': testWith(MODULES),
    'typescript/.babelrc.json': JSON.stringify({ presets }),
  });
  await runThere('jest', ['--json', '--outputFile=report.json']);
  const { numPassedTests, numTotalTests } = readJson(join(folder, 'report.json'));
  expect([numPassedTests, numTotalTests]).toEqual(Array(2).fill(2 * (STATES.length + 1)));
});

test('Vitest runs tests without a configuration', async () => {
  const { folder, runThere } = await newProject(packed, ['vitest', 'graphql', 'react'], {
    'expected.json': EXPECTED,
    'states.test.ts': testWith(`import { expect, test } from 'vitest';${MODULES}`),
  });
  await runThere('vitest', ['run', '--reporter=json', '--outputFile=report.json']);
  const { numPassedTests, numTotalTests } = readJson(join(folder, 'report.json'));
  expect([numPassedTests, numTotalTests]).toEqual(Array(2).fill(STATES.length + 1));
});

describe('webpack 5', () => {
  /**
   * Shows the screen that the page's `window.name` names. `Effect` calls `heal` itself. It and `Coupons` begin with what a server has
   * read: React mounts twice what is there at the first render.
   */
  const MAIN = `
    import { createElement, StrictMode, useEffect, useState } from 'react';
    import { createRoot } from 'react-dom/client';
    import { heal, MobileScreenDocument } from '@referral-gateway/client';
    import { App } from './App';
    import { CheckIn } from './CheckIn';
    import { Coupons } from './Coupons';
    import { client } from './plain';
    import { PlainScreen } from './PlainScreen';

    const errors = [{ message: 'Not now.', path: ['player', 'coupons'], extensions: { retryable: true } }];
    function Effect({ playerUniqueId }) {
      const [coupons, show] = useState(null);
      useEffect(() => {
        const closing = new AbortController();
        const again = async () => {
          const result = await client.request(MobileScreenDocument, { playerUniqueId }, closing);
          show(result.data.player.coupons);
          return result;
        };
        heal({ errors, again, signal: closing.signal });
        return () => closing.abort();
      }, [playerUniqueId]);
      return coupons && coupons.length + ' coupons';
    }
    const screen = { App, CheckIn, Coupons, Effect, PlainScreen }[window.name];
    const first = { data: { player: { id: 'demo-player', coupons: null } }, errors };
    const element = createElement(screen, { playerUniqueId: 'demo-player', first, onSent() {} });
    createRoot(document.getElementById('root')).render(createElement(StrictMode, null, element));
  `;
  const BUILD = `
    const webpack = require('webpack');
    const builds = ['development', 'production'].map((mode) => ({
      ...{ mode, entry: './src/main.js', performance: false, output: { path: __dirname + '/' + mode } },
    }));
    webpack(builds, (error, stats) => {
      if (error) throw error;
      console.log(JSON.stringify(stats.toJson({ all: false, errors: true, warnings: true }).children));
    });
  `;
  let folder: string;
  let report: unknown;
  beforeAll(async () => {
    const files: Record<string, string> = { 'build.cjs': BUILD, 'src/main.js': MAIN };
    for (const name of [
      'App.tsx',
      'CheckIn.tsx',
      'Coupons.tsx',
      'NoPlayer.tsx',
      'PlainScreen.tsx',
      'plain.ts',
      'session.ts',
      'texts.ts',
    ]) {
      const { code: script } = await transform(code[`src/${name}`] ?? '', { loader: 'tsx', jsx: 'automatic' });
      files[`src/${name.replace(/\..*/, '.js')}`] = script;
    }
    for (const mode of ['development', 'production'])
      files[`${mode}/index.html`] = '<!doctype html><div id="root"></div><script src="/main.js"></script>';
    const tools = ['webpack', 'react', 'react-dom', '@apollo/client', 'graphql', 'rxjs'];
    ({ folder } = await newProject(packed, tools, files));
    const { stdout } = await run(process.execPath, ['build.cjs'], { cwd: folder });
    report = JSON.parse(stdout);
  });

  test('bundles the code of the documents without a warning', () => {
    expect(report).toEqual(Array(2).fill(expect.objectContaining({ errors: [], warnings: [] })));
  });

  /** Waits for a text. Meanwhile the page's clock runs fast. */
  const seeSoon = (page: Page, text: RegExp) =>
    until(async () => {
      const isVisible = await page.getByText(text).isVisible();
      if (!isVisible) await page.clock.runFor(1_000);
      return isVisible;
    });

  // The first read of a screen misses the coupons.
  const READ_TWICE = ['MobileScreen', 'MobileScreen'];
  inChromium.each(
    ['production', 'development'].flatMap((mode) => [
      [mode, 'useHealing with Apollo Client', 'App', /^\d+ coupons$/, READ_TWICE] as const,
      [mode, 'useHealing at the first render', 'Coupons', /^\d+ coupons$/, READ_TWICE] as const,
      [mode, 'watch', 'PlainScreen', /^Plain: \d+ coupons$/, READ_TWICE] as const,
      [mode, 'heal in an effect', 'Effect', /^\d+ coupons$/, READ_TWICE] as const,
      [mode, 'an event', 'CheckIn', /^You are checked in\./, ['TrackEvents']] as const,
    ]),
  )('%s in StrictMode in Chromium: %s sends each request once', async (mode, _, screen, text, expected) => {
    const page = await (await launch()).newPage();
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.addInitScript((name) => {
      window.name = name;
    }, screen);
    await page.clock.install();
    const sent: string[] = [];
    await serveBuilt(page, join(folder, mode), 'a-token', ({ query, variables }) => {
      sent.push(/(?:query|mutation) (\w+)/.exec(query)?.[1] ?? '');
      return respond(sent.length === 1 ? 'demo-no-coupons' : 'demo-player', query, variables);
    });
    if (screen === 'CheckIn') await page.getByRole('button').click();
    await seeSoon(page, text);
    // What a second mount had begun would be sent by then.
    await page.clock.runFor(120_000);
    expect([sent, complaints]).toEqual([expected, []]);
  });
});

describe('Next.js with its App Router', () => {
  const OWN = {
    'app/layout.tsx': `
      import type { ReactNode } from 'react';
      export default function Layout({ children }: { children: ReactNode }) {
        return <html lang="en"><body>{children}</body></html>;
      }`,
    // The login service of the page.
    'app/session/route.ts': "export const POST = () => new Response('a-token');",
    'tsconfig.json': JSON.stringify({
      // Copied: Turbopack reads no file outside of the project.
      compilerOptions: {
        ...readJson(`${ROOT}tsconfig.json`).compilerOptions,
        ...{ module: 'esnext', moduleResolution: 'bundler', lib: ['es2023', 'dom', 'dom.iterable'], jsx: 'react-jsx' },
        ...{ esModuleInterop: true, resolveJsonModule: true, incremental: false },
      },
      include: ['**/*.ts', '**/*.tsx'],
    }),
  };
  const DOCUMENTED = ['next.config.ts', 'app/players/[playerUniqueId]/page.tsx'];
  const IN_SRC = ['ServerRewards.tsx', 'Coupons.tsx', 'session.ts'].map((name) => `src/${name}`);
  const TOOLS = 'next react react-dom typescript @types/node @types/react @types/react-dom'.split(' ');
  let url = '';
  beforeAll(async () => {
    const demo = await startDemo();
    const files = Object.fromEntries([...DOCUMENTED, ...IN_SRC].map((name) => [name, code[name] ?? 'missing']));
    const { folder, runThere } = await newProject(packed, TOOLS, { ...OWN, ...files });
    const env = { NEXT_TELEMETRY_DISABLED: '1', GATEWAY_URL: `${demo.url}/graphql` };
    // Next.js checks the types too.
    await runThere('next', ['build'], env);
    const program = join(folder, 'node_modules/next/dist/bin/next');
    const server = spawn(process.execPath, [program, 'start', '--port', '0', '--hostname', '127.0.0.1'], {
      cwd: folder,
      env: { PATH: process.env['PATH'], NO_COLOR: '1', ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    atEnd(() => server.kill('SIGTERM') && once(server, 'exit'));
    let output = '';
    server.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    await until(() => {
      if (server.exitCode !== null) throw new Error(`Next.js did not start:\n${output}`);
      [url = ''] = /http:\/\/127\.0\.0\.1:[1-9]\d*/.exec(output) ?? [];
      return url !== '';
    });
  });

  test.each([
    ['demo-player', /<p>\d+ coupons<\/p>/],
    ['demo-no-coupons', /<p>Your coupons come soon\.<\/p>/],
    ['nobody', /<p>There is no such player\.<\/p>/],
  ])('a server component reads %s', async (playerUniqueId, html) => {
    const response = await fetch(`${url}/players/${playerUniqueId}`);
    expect([response.status, await response.text()]).toEqual([200, expect.stringMatching(html)]);
  });

  inChromium('a client component in Chromium asks for the coupons that the server did not get', async () => {
    const page = await (await launch()).newPage();
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.goto(`${url}/players/demo-coupons-come-back`);
    await page.getByText('Your coupons come soon.').waitFor();
    await page.getByText(/^\d+ coupons$/).waitFor();
    expect(complaints).toEqual([]);
  });
});
