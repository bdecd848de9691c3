import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium, type Page } from 'playwright-core';
import { atEnd } from '../kit/at-end.ts';
import { executablePath } from '../kit/chromium.ts';
import { until } from '../kit/until.ts';

/** Starts the web example as `npm run example` does, on free ports; `--built` serves what was built before. */
export async function startExample(env: Record<string, string>, ...args: string[]) {
  const ports = { EXAMPLE_PORT: '0', PORT: '0', MANAGEMENT_PORT: '0', REFERENCE_PORT: '0' };
  const child = spawn(process.execPath, ['examples/web/serve.mjs', ...args], {
    cwd: fileURLToPath(new URL('../../', import.meta.url)),
    env: { ...process.env, NODE_ENV: 'development', ...ports, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  atEnd(() => child.kill('SIGTERM') && once(child, 'exit'));
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  let url = '';
  await until(() => {
    if (child.exitCode !== null) throw new Error(`The example did not start:\n${output}`);
    [url = ''] = /(?<=Example {2,})http\S+(?=,)/.exec(output) ?? [];
    return url !== '';
  }, 110_000);
  return { url };
}

/** Tests in a browser are skipped where there is none. */
export const hasBrowser = executablePath !== undefined;
export async function launch() {
  const browser = await chromium.launch({ ...(executablePath && { executablePath }), args: ['--disable-gpu'] });
  atEnd(() => browser.close());
  return browser;
}

type Operation = Record<'query' | 'documentId', string> & { variables: Record<string, unknown> };
type Answer = { status: number; headers?: Readonly<Record<string, string>>; body: unknown };

/** Opens a built application; the login service responds with `session`, the gateway as `answer` says. */
export async function serveBuilt(
  page: Page,
  folder: string,
  session: string,
  answer: (operation: Operation) => Promise<Answer> | Answer,
): Promise<void> {
  await page.route('**/*', async (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname === '/session') return route.fulfill({ body: session });
    if (pathname === '/graphql') {
      const { body, ...response } = await answer(route.request().postDataJSON());
      return route.fulfill({ ...response, body: JSON.stringify(body) });
    }
    const path = join(folder, pathname === '/' ? 'index.html' : pathname);
    return existsSync(path) ? route.fulfill({ path }) : route.fulfill({ status: 404 });
  });
  await page.goto('http://localhost/');
}
