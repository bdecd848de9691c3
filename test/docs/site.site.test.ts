import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { hasBrowser, launch } from '../web/example.ts';

/* The site that `npm run docs:site` builds, as it is published: below a path, with links to the repository. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SITE = join(ROOT, 'docs/.vitepress/dist');
const ORIGIN = 'http://localhost';
const BASE = '/gateway/';
const REPOSITORY = 'https://forge.example/owner/gateway';
const PHONE_WIDTH = 390;
/** The folder in which pictures are written, to look at; none without it. */
const SHOTS = process.env['SCREENSHOTS'];

const exists = (url: string) => existsSync(join(ROOT, new URL(url).pathname.replace(/^(?:\/[^/]+){2}\/\w+\/main/, '')));

/** Lets a page read the built files alone. */
async function serve(page: Page, complaints: string[]): Promise<void> {
  await page.route('**/*', async (route) => {
    const { origin, pathname } = new URL(route.request().url());
    const path = join(SITE, pathname.replace(BASE, '/'));
    const file = [path, `${path}.html`, join(path, 'index.html')].find((one) => /\.\w+$/.test(one) && existsSync(one));
    if (origin === ORIGIN && file !== undefined && pathname.startsWith(BASE)) return route.fulfill({ path: file });
    complaints.push(`${page.url()} asks for ${route.request().url()}`);
    return route.abort();
  });
}

(hasBrowser ? describe : describe.skip)('the site in Chromium', () => {
  let page: Page;
  let pages: string[];
  const complaints: string[] = [];
  const open = (path: string) => page.goto(`${ORIGIN}${BASE}${path}`);

  beforeAll(async () => {
    const [GITHUB_SERVER_URL, GITHUB_REPOSITORY] = REPOSITORY.split(/(?<=example)\//);
    const env = { ...process.env, SITE_BASE: BASE, GITHUB_SERVER_URL, GITHUB_REPOSITORY, NODE_ENV: 'production' };
    await promisify(execFile)('npm', ['run', '--silent', 'docs:site'], { cwd: ROOT, env });
    pages = readdirSync(SITE, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.html') && name !== '404.html')
      .map((name) => name.replace(/(?:(^|\/)index)?\.html$/, '$1'));
    const browser = await launch();
    page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' });
    page.on('pageerror', (error) => complaints.push(`${page.url()} ${error}`));
    page.on('console', (message) => message.type() === 'error' && complaints.push(`${page.url()} ${message.text()}`));
    await serve(page, complaints);
  });

  test('has the pages of docs/ and the README files, with no dead link or anchor and no error, and fits a phone', async () => {
    expect(pages).toEqual(expect.arrayContaining(['', 'schema', 'decisions/', 'packages/client/', 'examples/web/']));
    const ids = new Map<string, string[]>();
    const links = new Map<string, string>();
    const wide: string[] = [];
    await page.setViewportSize({ width: PHONE_WIDTH, height: 800 });
    for (const path of pages) {
      await open(path);
      await page.waitForFunction('document.querySelector("#app")?.__vue_app__');
      for (const diagram of await page.locator('.mermaid').all()) await diagram.locator('svg').waitFor();
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      if (width > PHONE_WIDTH) wide.push(`${path} is ${width} wide`);
      ids.set(`${ORIGIN}${BASE}${path}`, await page.locator('[id]').evaluateAll((all) => all.map(({ id }) => id)));
      const hrefs = await page.locator('a[href]').evaluateAll((all) => all.map((link) => String(Object(link).href)));
      for (const href of hrefs) links.set(href, path);
    }
    const dead = [...links].filter(([href]) => {
      const [url = '', anchor = ''] = href.split('#').map(decodeURIComponent);
      if (url.startsWith(`${REPOSITORY}/`)) return !exists(url);
      const { hostname, port } = new URL(url);
      if (hostname !== 'localhost' || port !== '') return false;
      const found = ids.get(url);
      return found === undefined || (anchor !== '' && !found.includes(anchor));
    });
    expect({ dead, wide }).toEqual({ dead: [], wide: [] });
    expect([...links.keys()].filter((href) => href.startsWith(REPOSITORY)).length).toBeGreaterThan(10);
    expect(complaints.splice(0)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test('finds a field by its search, without a service', async () => {
    await open('');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('searchbox').fill('referredFriendsConnection');
    await page.getByRole('option').first().click();
    await page.waitForURL(/#/);
    expect(complaints.splice(0)).toEqual([]);
  });

  test('shows two braces in code as they are written', async () => {
    await open('configuration.html');
    expect(await page.textContent('main')).toContain('{{ key }}');
  });

  test('has an anchor for each field, and draws diagrams again in dark mode', async () => {
    await open('schema#Player.coupons');
    expect(await page.locator('[id="Player.coupons"]').boundingBox()).toMatchObject({ y: expect.any(Number) });
    await open('architecture');
    const diagram = page.locator('.mermaid svg').first();
    const light = await diagram.innerHTML();
    await page.getByRole('switch').first().click();
    await page.locator('html.dark').waitFor();
    await page.waitForFunction((before) => document.querySelector('.mermaid svg')?.innerHTML !== before, light);
    expect(complaints.splice(0)).toEqual([]);
  });

  const takePictures = async () => {
    for (const width of [PHONE_WIDTH, 1280]) {
      for (const scheme of ['light', 'dark'] as const) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme: scheme });
        for (const path of ['', 'clients', 'schema', 'architecture', 'retries', 'operations']) {
          await open(path);
          await page.evaluate((name) => localStorage.setItem('vitepress-theme-appearance', name), scheme);
          await page.reload({ waitUntil: 'networkidle' });
          await page.evaluate(() => document.querySelector('.mermaid')?.scrollIntoView());
          await page.screenshot({ path: `${SHOTS}/${path || 'home'}-${width}-${scheme}.png`, fullPage: path === '' });
        }
      }
    }
  };
  if (SHOTS) test('is written as pictures', takePictures);
});
