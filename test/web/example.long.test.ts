import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { executablePath } from '../kit/chromium.ts';
import { API_KEY, SECRET_KEY, startUpstream, type Upstream } from '../kit/upstream.ts';
import { type Example, SHOTS, startExample, violations } from './example.ts';

/* examples/web in Chromium: with the demo player, then with a REST service that fails. Screenshots are in SHOTS. */

const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true };
jest.setTimeout(90_000);

(executablePath === undefined ? describe.skip : describe)('the web example', () => {
  let data: string;
  let browser: Browser;
  let demo: Example;
  let upstream: Upstream;
  let scripted: Example;
  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'example-'));
    demo = await startExample({ DATA_DIR: data });
    upstream = await startUpstream();
    const keys = { REST_API_KEY: API_KEY, REST_SECRET_KEY: SECRET_KEY };
    const env = { REST_BASE_URL: upstream.url, EXAMPLE_PLAYER: 'p1', ...keys };
    scripted = await startExample(env, '--built');
    browser = await chromium.launch({ ...(executablePath && { executablePath }), args: ['--disable-gpu'] });
  });
  afterAll(async () => {
    await browser?.close();
    await demo?.stop();
    await scripted?.stop();
    await upstream?.close();
    await rm(data, { recursive: true, force: true });
  });

  let context: BrowserContext;
  let page: Page;
  const complaints: string[] = [];
  beforeEach(async () => {
    context = await browser.newContext({ ...PHONE, permissions: ['clipboard-read', 'clipboard-write'] });
    page = await context.newPage();
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  });
  afterEach(async () => {
    await context.close();
    complaints.splice(0);
    upstream.forget();
    for (const endpoint of ['GET /player', 'GET /coupon', 'GET /referrals'] as const) upstream.on(endpoint, 'usual');
  });

  const shot = (name: string) => page.screenshot({ path: join(SHOTS, `${name}.png`) });
  const friends = () => page.locator('.friends li');
  const alert = (text: string) => page.getByRole('alert').filter({ hasText: text });
  const events = () => upstream.calls().filter((call) => call === 'POST /integrations/event').length;

  test('shows the demo player: copies a code and the link, loads friends while one scrolls, checks in', async () => {
    const bodies: unknown[] = [];
    page.on('request', (request) => request.url().endsWith('/graphql') && bodies.push(request.postDataJSON()));
    await page.goto(demo.url);
    await page.getByRole('heading', { name: 'Demo Player' }).waitFor();
    await friends().first().waitFor();
    await shot('screen');

    const code = page.locator('button.code').first();
    await code.click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toBe(await code.locator('code').textContent());
    await page.getByText('✓ Copied').waitFor();

    await page.getByRole('button', { name: 'Share my link' }).click();
    await page.getByText('✓ The link is copied.').waitFor();
    const link = await page.getByRole('region', { name: 'Invite friends' }).getByRole('link').getAttribute('href');
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(link);

    await page.getByRole('button', { name: 'Check in today' }).click();
    await page.getByText('Thank you, see you tomorrow!').waitFor();
    await shot('checked-in');

    const counts = new Set<number>();
    for (let count = 0; count < 60; count = await friends().count()) {
      counts.add(count);
      await page.mouse.wheel(0, 1_000);
      await page.evaluate(() => new Promise(requestAnimationFrame));
    }
    expect(counts.size).toBeGreaterThan(1);
    expect(new Set(await friends().locator('span').allInnerTexts()).size).toBe(60);
    await friends().last().scrollIntoViewIfNeeded();
    await shot('friends');

    // Trusted documents: no request has a text.
    expect(bodies.length).toBeGreaterThanOrEqual(5);
    expect(bodies.filter((body) => typeof body === 'object' && body !== null && 'query' in body)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test('is accessible in light and dark, on a phone and on a desktop, and by keyboard', async () => {
    await page.goto(demo.url);
    await friends().first().waitFor();
    expect(await violations(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await violations(page)).toEqual([]);
    await shot('dark');
    await page.setViewportSize({ width: 1280, height: 900 });
    await shot('desktop');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('Thank you, see you tomorrow!').waitFor();
  });

  test('shows that it loads, then the player', async () => {
    const held = upstream.hold('GET /player');
    await page.goto(scripted.url);
    await page.getByText('Your rewards are loading.').waitFor({ state: 'attached' });
    await held.arrived;
    await shot('loading');
    expect(await violations(page)).toEqual([]);
    held.release();
    await page.getByRole('heading', { name: 'Player p1' }).waitFor();
  });

  test('shows what is missing in its place, and what appears when the service is well again', async () => {
    upstream.on('GET /coupon', { status: 500 });
    upstream.on('GET /referrals', { status: 500 });
    await page.goto(scripted.url);
    await page.getByRole('heading', { name: 'Player p1' }).waitFor();
    await alert('Your coupons cannot be loaded now.').waitFor();
    await alert('Your friends cannot be loaded now.').waitFor();
    await shot('parts-missing');

    upstream.on('GET /coupon', 'usual');
    upstream.on('GET /referrals', 'usual');
    await page.locator('button.code').first().waitFor();
    await friends().first().waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('says that nothing can be loaded, and tries again', async () => {
    upstream.on('GET /player', { status: 500 });
    await page.goto(scripted.url);
    await alert('Your rewards cannot be loaded now.').waitFor();
    await shot('failed');
    upstream.on('GET /player', 'usual');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Player p1' }).waitFor();
  });

  test('a check-in whose responses are lost is counted once, also after the page was loaded again', async () => {
    await page.goto(scripted.url);
    await page.getByRole('heading', { name: 'Player p1' }).waitFor();
    await page.route(
      (url) => url.pathname === '/graphql',
      async (route) => {
        await route.fetch();
        await route.abort();
      },
    );
    await page.getByRole('button', { name: 'Check in today' }).click();
    await page.getByText('No connection. Try again: it counts once.').waitFor();
    await shot('no-connection');
    await page.unrouteAll();
    await page.reload();
    await page.getByText('Your last check-in was not sent yet.').waitFor();
    await page.getByRole('button', { name: 'Check in today' }).click();
    await page.getByText('Thank you, see you tomorrow!').waitFor();
    expect(events()).toBe(1);
  });
});
