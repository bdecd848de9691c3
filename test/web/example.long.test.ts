import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { API_KEY, SECRET_KEY, startUpstream, type Upstream } from '../kit/upstream.ts';
import { describeInBrowser, type Example, launch, startExample } from './example.ts';

/* examples/web in Chromium: with the demo player, then with a REST service that fails. */

const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true };
jest.setTimeout(90_000);

describeInBrowser('the web example', () => {
  let data: string;
  let browser: Browser;
  let demo: Example;
  let upstream: Upstream;
  let scripted: Example;
  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'example-'));
    demo = await startExample({ DATA_DIR: data });
    upstream = await startUpstream();
    const env = { REST_BASE_URL: upstream.url, REST_API_KEY: API_KEY, REST_SECRET_KEY: SECRET_KEY };
    scripted = await startExample({ ...env, EXAMPLE_PLAYER: 'p1' }, '--built');
    browser = await launch();
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
    upstream.reset();
  });

  const friends = () => page.locator('.friends li');
  const alert = (text: string) => page.getByRole('alert').filter({ hasText: text });
  const see = (text: string) => page.getByText(text).waitFor();
  const seePlayer = (name: string) => page.getByRole('heading', { name }).waitFor();
  const checkIn = () => page.getByRole('button', { name: 'Check in today' }).click();

  test('shows the demo player: checks in by keyboard, copies a code and the link, loads friends while one scrolls', async () => {
    const bodies: unknown[] = [];
    page.on('request', (request) => request.url().endsWith('/graphql') && bodies.push(request.postDataJSON()));
    await page.goto(demo.url);
    await seePlayer('Demo Player');
    await friends().first().waitFor();

    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await see('Thank you, see you tomorrow!');

    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    const code = page.locator('button.code').first();
    await code.click();
    expect(await copied()).toBe(await code.locator('code').textContent());
    await see('✓ Copied');

    await page.getByRole('button', { name: 'Share my link' }).click();
    await see('✓ The link is copied.');
    const link = await page.getByRole('region', { name: 'Invite friends' }).getByRole('link').getAttribute('href');
    expect(await copied()).toBe(link);

    const counts = new Set<number>();
    for (let count = 0; count < 60; count = await friends().count()) {
      counts.add(count);
      await page.mouse.wheel(0, 1_000);
      await page.evaluate(() => new Promise(requestAnimationFrame));
    }
    expect(counts.size).toBeGreaterThan(1);
    expect(new Set(await friends().locator('span').allInnerTexts()).size).toBe(60);

    // Trusted documents: no request has a text.
    expect(bodies.length).toBeGreaterThanOrEqual(5);
    expect(bodies.filter((body) => typeof body === 'object' && body !== null && 'query' in body)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test('shows what is missing in its place, and what appears when the service is well again', async () => {
    upstream.on('GET /coupon', { status: 500 });
    upstream.on('GET /referrals', { status: 500 });
    await page.goto(scripted.url);
    await seePlayer('Player p1');
    await alert('Your coupons cannot be loaded now.').waitFor();
    await alert('Your friends cannot be loaded now.').waitFor();

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
    upstream.on('GET /player', 'usual');
    await page.getByRole('button', { name: 'Try again' }).click();
    await seePlayer('Player p1');
  });

  test('a check-in whose responses are lost is counted once, also after the page was loaded again', async () => {
    await page.goto(scripted.url);
    await seePlayer('Player p1');
    await page.route('**/graphql', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await checkIn();
    await see('No connection. Try again: it counts once.');
    await page.unrouteAll();
    await page.reload();
    await see('Your last check-in was not sent yet.');
    await checkIn();
    await see('Thank you, see you tomorrow!');
    expect(upstream.calls().filter((call) => call === 'POST /integrations/event')).toHaveLength(1);
  });
});
