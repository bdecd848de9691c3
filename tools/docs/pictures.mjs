// biome-ignore-all lint/style/noProcessEnv: the programs that it starts take settings.
/*
 * Writes docs/pictures/ with the demo in Chromium: the example, the IDE after its first operation, and the landing page.
 * Without Chromium (CHROMIUM may name one), or without the packages of the example, these pictures stay as they are.
 * Dates, codes and links are those of fixed.mjs; the durations in the IDE are measured, and differ in each run.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executablePath = process.env.CHROMIUM ?? PLACES.find((path) => existsSync(path));
const OUT = 'docs/pictures';
const TIME = '2026-11-28T12:00:00Z';
const FIXED = {
  PICTURES_TIME: TIME,
  NODE_OPTIONS: `--import=${new URL('fixed.mjs', import.meta.url)}`,
  // Referral links would have the port, which is free by chance.
  PUBLIC_URL: 'http://127.0.0.1:4100',
};

/** Starts a program, takes pictures of the address that it prints, and ends it. */
async function withProgram(args, pattern, take) {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'pictures-'));
  const env = { ...process.env, PORT: '0', MANAGEMENT_PORT: '0', REFERENCE_PORT: '0', EXAMPLE_PORT: '0' };
  const child = spawn(process.execPath, args, {
    env: { ...env, ...FIXED, DATA_DIR: dataDirectory },
    stdio: ['ignore', 'pipe', 1],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  try {
    let text = '';
    for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
      text += chunk;
      const url = pattern.exec(text)?.[1];
      if (url) {
        child.stdout.resume();
        await take(url);
        return;
      }
    }
    throw new Error(`${args[0]} ended before it printed an address.`);
  } finally {
    child.kill('SIGTERM');
    await ended;
    rmSync(dataDirectory, { recursive: true, force: true });
  }
}

if (executablePath === undefined) console.log('No Chromium: docs/pictures stays as it is.');
else {
  mkdirSync(OUT, { recursive: true });
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const browser = await chromium.launch({ executablePath, args: [...args, '--disable-gpu'] });
  const shoot = async (url, width, height, colorScheme, name, isReady) => {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme });
    await page.clock.setFixedTime(TIME);
    await page.goto(url);
    await isReady(page);
    await page.screenshot({ path: join(OUT, `${name}.png`) });
    await page.close();
  };
  const start = (page) => page.locator('output').getByText('Demo Player').waitFor();
  const ide = async (page) => {
    await page.locator('.graphiql-query-editor').getByText('MobileScreen').first().waitFor();
    await page.getByRole('link', { name: 'Query', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Execute query' }).click();
    await page.locator('#upstream').getByText('3 REST calls').waitFor();
    await page.locator('.result-window').getByText('demo-player').waitFor();
  };
  const example = (page) => page.getByText('Demo Player').first().waitFor();
  try {
    await withProgram(['dist/main.js'], /GraphQL +(http:\/\/[\d.]+:\d+)/, async (url) => {
      await shoot(url, 1280, 800, 'light', 'landing', start);
      await shoot(`${url}/graphiql`, 1280, 800, 'light', 'ide', ide);
      await shoot(`${url}/graphiql`, 1280, 800, 'dark', 'ide-dark', ide);
    });
    if (existsSync('examples/web/node_modules')) {
      await withProgram(['examples/web/serve.mjs'], /Example +(http:\S+\d)/, async (url) => {
        await shoot(url, 390, 800, 'light', 'example-phone', example);
        await shoot(url, 1280, 800, 'light', 'example-desktop', example);
        await shoot(url, 1280, 800, 'dark', 'example-desktop-dark', example);
      });
    } else console.log('examples/web has no packages: its pictures stay as they are.');
  } finally {
    await browser.close();
  }
}
