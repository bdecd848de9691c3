import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe } from '@jest/globals';
import { chromium, type Page } from 'playwright-core';
import { executablePath } from '../kit/chromium.ts';
import { until } from '../kit/until.ts';

/* The web example as `npm run example` runs it, and what a page of it is asked about. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const AXE = `${ROOT}examples/web/node_modules/axe-core/axe.min.js`;

/** Where screenshots are written; SCREENSHOTS names another folder. */
export const SHOTS = process.env['SCREENSHOTS'] ?? join(tmpdir(), 'web-example');

/** Builds the example into its dist/. */
export function buildExample(): void {
  const options = { cwd: `${ROOT}examples/web`, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'build'], options);
  if (status !== 0) throw new Error(`The example could not be built:\n${stdout}${stderr}`);
}

export type Example = Awaited<ReturnType<typeof startExample>>;

/** Starts the example on free ports; `--built` serves what was built before. */
export async function startExample(env: Record<string, string>, ...args: string[]) {
  const ports = { EXAMPLE_PORT: '0', PORT: '0', MANAGEMENT_PORT: '0', REFERENCE_PORT: '0' };
  const child = spawn(process.execPath, ['examples/web/serve.mjs', ...args], {
    cwd: ROOT,
    env: { ...process.env, NODE_ENV: 'development', ...ports, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  let url: string | undefined;
  await until(() => {
    if (child.exitCode !== null) throw new Error(`The example did not start:\n${output}`);
    [url] = /(?<=Example {2,})http\S+(?=,)/.exec(output) ?? [];
    return url !== undefined;
  });
  return {
    url: String(url),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** A browser, for tests that are skipped where there is none. */
export const launch = () => chromium.launch({ ...(executablePath && { executablePath }), args: ['--disable-gpu'] });
export const describeInBrowser = executablePath === undefined ? describe.skip : describe;

/** What axe-core finds wrong with a page, one line for each rule. */
export async function violations(page: Page): Promise<string[]> {
  await page.addScriptTag({ path: AXE });
  return await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<Record<'violations', Found[]>> } };
    const found = await axe.run();
    return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  });
}
interface Found {
  id: string;
  nodes: { html: string }[];
}
