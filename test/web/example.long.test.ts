import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { respond, STATES, type State } from '@referral-gateway/client/testing';
import type { Browser, Page } from 'playwright-core';
import { newFolder } from '../kit/at-end.ts';
import { until } from '../kit/until.ts';
import { API_KEY, SECRET_KEY, startUpstream, type Upstream } from '../kit/upstream.ts';
import { hasBrowser, launch, serveBuilt, startExample } from './example.ts';

/* examples/web in Chromium: with the demo player, with a REST service that fails, and in each state. */

const FOLDER = fileURLToPath(new URL('../../examples/web/', import.meta.url));
const DIST = `${FOLDER}dist`;
const SESSION = JSON.stringify({ token: 'token', graphql: '/graphql' });
/** The folder in which screenshots of each state are written, to look at; none without it. */
const SHOTS = process.env['SCREENSHOTS'];

/** What must be seen in a state. */
const SEEN: Record<State, (string | RegExp)[]> = {
  'demo-player': ['Demo Player', '10% off', /\$5\.00 off × 2/, 'Orders of $25.00 and more', /^From /, 'Friend 20'],
  'demo-empty': ['My rewards', 'No coupons yet. Invite a friend to get one.', 'No friends yet. Share your link above.'],
  'demo-slow-coupons': ['Demo Player', /^Your coupons cannot be loaded now/, 'Friend 1'],
  'demo-no-coupons': ['Demo Player', /^Your coupons cannot be loaded now/, 'Friend 1'],
  'demo-no-friends': ['Demo Player', '10% off', /^Your friends cannot be loaded now/],
  'demo-lost-event': ['Demo Player', 'We do not know whether this was counted. Look at your coupons later.'],
  'demo-event-then-down': ['Demo Player', '✓ Checked in today', 'Thank you, see you tomorrow!'],
  'demo-throttled': ['Your rewards cannot be loaded now.'],
  'demo-long-names': [/^Maximiliane/, 'A friend', '山田太郎'],
  'expired-token': ['You have been signed out.', 'Sign in again'],
  'invalid-input': ['Demo Player', /^The check-in was not accepted, and nothing was counted/],
  forbidden: ['Demo Player', 'Your coupons cannot be shown.', 'Friend 1'],
  'rate-limited': ['That was a little too fast. Wait a moment, then try again.'],
};
const WITH_CHECK_IN = new Set<State>(['invalid-input', 'demo-lost-event', 'demo-event-then-down', 'demo-player']);

(hasBrowser ? describe : describe.skip)('the web example', () => {
  let browser: Browser;
  let demo: Awaited<ReturnType<typeof startExample>>;
  let upstream: Upstream;
  let scripted: typeof demo;
  let texts: Map<string, string>;
  beforeAll(async () => {
    demo = await startExample({ DATA_DIR: newFolder() });
    upstream = await startUpstream();
    const env = { REST_BASE_URL: upstream.url, REST_API_KEY: API_KEY, REST_SECRET_KEY: SECRET_KEY };
    scripted = await startExample({ ...env, EXAMPLE_PLAYER: 'p1' }, '--built');
    browser = await launch();
    const { operations } = JSON.parse(readFileSync(`${FOLDER}src/generated/persisted-query-manifest.json`, 'utf8'));
    texts = new Map(operations.map(({ id, body }: Record<'id' | 'body', string>) => [id, body]));
  });

  test('gives no token to a page under another name', async () => {
    const { hostname, port } = new URL(demo.url);
    const statusAs = (host: string) =>
      new Promise<number | undefined>((resolve) => {
        const options = { hostname, port, path: '/session', method: 'POST', headers: { host } };
        request(options, ({ statusCode }) => resolve(statusCode)).end();
      });
    expect(
      await Promise.all(['rebound.example', `rebound.example:${port}`, `localhost:${port}`].map(statusAs)),
    ).toEqual([421, 421, 200]);
  });

  let page: Page;
  const complaints: string[] = [];
  beforeEach(async () => {
    const more = { hasTouch: true, permissions: ['clipboard-read', 'clipboard-write'] };
    page = await browser.newPage({ viewport: { width: 390, height: 844 }, reducedMotion: 'reduce', ...more });
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  });
  afterEach(async () => {
    await page.close();
    complaints.splice(0);
    upstream.reset();
  });

  const friends = () => page.locator('.friends li');
  const alert = (text: string) => page.getByRole('alert').filter({ hasText: text });
  const see = (text: string) => page.getByText(text).waitFor();
  const checkIn = () => page.getByRole('button', { name: 'Check in today' }).click();
  const violations = async () => {
    await page.addScriptTag({ path: `${FOLDER}node_modules/axe-core/axe.min.js` });
    return await page.evaluate('axe.run().then(({ violations }) => JSON.stringify(violations))');
  };

  test('shows the demo player: checks in by keyboard, copies a code and the link, loads friends while one scrolls', async () => {
    const bodies: object[] = [];
    page.on('request', (request) => request.url().endsWith('/graphql') && bodies.push(request.postDataJSON()));
    await page.goto(demo.url);
    await see('Demo Player');
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
    expect(bodies.filter((body) => 'query' in body)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test('shows what is missing in its place, and what appears when the service is well again', async () => {
    const fails = { status: 500 };
    for (const endpoint of ['GET /player', 'GET /coupon', 'GET /referrals'] as const) upstream.on(endpoint, fails);
    await page.goto(scripted.url);
    await alert('Your rewards cannot be loaded now.').waitFor();
    upstream.on('GET /player', 'usual');
    await page.getByRole('button', { name: 'Try again' }).click();
    await see('Player p1');
    await alert('Your coupons cannot be loaded now.').waitFor();
    await alert('Your friends cannot be loaded now.').waitFor();

    upstream.on('GET /coupon', 'usual');
    upstream.on('GET /referrals', 'usual');
    await page.locator('button.code').first().waitFor();
    await friends().first().waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('a check-in whose responses are lost is counted once, also in another tab and where storage is blocked', async () => {
    await page.addInitScript(
      "Object.defineProperty(window, 'localStorage', { get() { throw new Error('blocked'); } })",
    );
    await page.goto(scripted.url);
    await see('Player p1');
    await page.route('**/graphql', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await checkIn();
    await see('No connection. Try again: it counts once.');
    await page.unrouteAll();
    const other = await browser.newPage();
    for (const tab of [page, other]) {
      if (tab === other) await other.goto(scripted.url);
      await tab.getByRole('button', { name: 'Check in today' }).click();
      await tab.getByText('Thank you, see you tomorrow!').waitFor();
    }
    await other.close();
    expect(await page.locator('button.primary').getAttribute('aria-disabled')).toBe('true');
    expect(upstream.calls().filter((call) => call === 'POST /integrations/event')).toHaveLength(1);
  });

  test('after midnight another check-in is possible in the same page; who signs out leaves nothing behind', async () => {
    await page.clock.install({ time: '2026-03-01T23:30:00Z' });
    await page.goto(scripted.url);
    await see('Player p1');
    const held = upstream.hold('GET /player');
    await checkIn();
    await see('Thank you, see you tomorrow!');
    await held.arrived;
    await page.clock.runFor('01:00:00');
    // The read after the check-in has lost its time, and the screen is there all the same.
    await checkIn();
    held.release();
    await until(() => upstream.calls().filter((call) => call === 'POST /integrations/event').length === 2);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await see('You have signed out.');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Sign in');
    expect(await page.getByText('Player p1').count()).toBe(0);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await see('Player p1');
  });

  /** Opens the example in front of the package's response of this state. */
  async function open(state: State): Promise<void> {
    // An error that may be retried is shown after the last attempt: nobody waits for that here.
    await page.clock.install();
    await serveBuilt(page, DIST, SESSION, ({ documentId, variables }) =>
      respond(state, texts.get(documentId) ?? '', variables),
    );
  }

  /** Waits for a text. Meanwhile the page's clock runs fast. */
  const seeSoon = (text: string | RegExp) =>
    until(async () => {
      const isVisible = await page.getByText(text).first().isVisible();
      if (!isVisible) await page.clock.runFor(1_000);
      return isVisible;
    });

  test.each(STATES)('%s: says so, at three widths, light and dark, without a violation', async (state) => {
    await open(state);
    if (WITH_CHECK_IN.has(state)) {
      await seeSoon('Check in today');
      await checkIn();
    }
    for (const text of SEEN[state]) await seeSoon(text);
    expect(await page.locator('button.primary').count()).toBe(1);
    for (const width of [320, 390, 1280]) {
      await page.setViewportSize({ width, height: 844 });
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect([width, overflow]).toEqual([width, 0]);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        // Colours and names are the same at each width.
        if (width === 390) expect(await violations()).toBe('[]');
        const path = SHOTS && join(SHOTS, `${state}-${width}-${colorScheme}.png`);
        if (path) await page.screenshot({ path, fullPage: true });
      }
    }
  });

  test('the skeleton can be seen, before the program has arrived and until there is a response', async () => {
    await serveBuilt(page, DIST, SESSION, () => new Promise(() => undefined));
    await page.getByText('Your rewards are loading.').waitFor({ state: 'attached' });
    for (const box of await page.locator('.placeholder').all()) {
      expect((await box.boundingBox())?.height).toBeGreaterThan(40);
    }
    expect(await violations()).toBe('[]');
    expect(readFileSync(`${DIST}/index.html`, 'utf8')).toContain('class="placeholder tall"');
  });

  test('the focus stays on the button while friends are loaded, up to the last page', async () => {
    await open('demo-player');
    await seeSoon('Friend 1');
    const more = page.locator('.friends + div button');
    await more.focus();
    for (const count of [40, 60]) {
      await page.keyboard.press('Enter');
      const last = friends().nth(count - 1);
      await last.waitFor();
      expect(await more.evaluate((button) => button === document.activeElement)).toBe(true);
    }
    expect(await more.textContent()).toBe('These are all');
    expect(await more.getAttribute('aria-disabled')).toBe('true');
  });
});
