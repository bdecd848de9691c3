import { EventEmitter, once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { respond, STATES, type State } from '@referral-gateway/client/testing';
import type { Browser, Page } from 'playwright-core';
import { until } from '../kit/until.ts';
import { buildExample, describeInBrowser, launch, SHOTS, violations } from './example.ts';

/* What examples/web shows in each state, with the package's responses in the place of a gateway. */

const DIST = fileURLToPath(new URL('../../examples/web/dist/', import.meta.url));
const MANIFEST = new URL('../../examples/web/src/generated/persisted-query-manifest.json', import.meta.url);
const URL_OF_PAGE = 'http://localhost/';
jest.setTimeout(90_000);

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
  'demo-long-names': [/^Bartholomew/, 'A friend', '🎉 Ada 👩‍👩‍👧‍👦'],
  'expired-token': ['You have been signed out.', 'Sign in again'],
  'invalid-input': ['Demo Player', /^The check-in was not accepted, and nothing was counted/],
  forbidden: ['Demo Player', /^Your coupons cannot be loaded now/, 'Friend 1'],
  'rate-limited': ['That was a little too fast. Wait a moment, then try again.'],
};
const WITH_CHECK_IN = new Set<State>(['invalid-input', 'demo-lost-event', 'demo-event-then-down', 'demo-player']);

describeInBrowser('the web example in each state', () => {
  let browser: Browser;
  let page: Page;
  let texts: Map<string, string>;
  beforeAll(async () => {
    buildExample();
    const { operations } = JSON.parse(readFileSync(MANIFEST, 'utf8'));
    texts = new Map(operations.map(({ id, body }: { id: string; body: string }) => [id, body]));
    browser = await launch();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    page = await browser.newPage({ viewport: { width: 390, height: 844 } });
    await page.emulateMedia({ reducedMotion: 'reduce' });
  });
  afterEach(() => page.close());

  /** Serves the built application, its login service, and a gateway in this state. */
  async function open(state: State, first: Promise<unknown> = Promise.resolve()): Promise<void> {
    // An error that may be retried is shown after the last attempt: nobody waits for that here.
    await page.clock.install();
    await page.route('**/*', async (route) => {
      const { pathname } = new URL(route.request().url());
      if (pathname === '/session') return route.fulfill({ json: { token: 'token', graphql: `${URL_OF_PAGE}graphql` } });
      if (pathname === '/graphql') {
        await first;
        const { documentId, variables } = route.request().postDataJSON();
        const { status, headers, body } = respond(state, texts.get(documentId) ?? '', variables);
        return route.fulfill({ status, headers, body: JSON.stringify(body) });
      }
      const path = join(DIST, pathname === '/' ? 'index.html' : pathname);
      return existsSync(path) ? route.fulfill({ path }) : route.fulfill({ status: 404 });
    });
    await page.goto(URL_OF_PAGE);
  }

  /** Waits for a text. Meanwhile the page's clock runs fast. */
  async function see(text: string | RegExp): Promise<void> {
    const shown = page.getByText(text).first();
    await until(async () => {
      const isVisible = await shown.isVisible();
      if (!isVisible) await page.clock.runFor(1_000);
      return isVisible;
    });
  }

  /** How many pixels of the page are beyond its right edge. */
  const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  const checkIn = () => page.getByRole('button', { name: 'Check in today' }).click();

  test.each(STATES)('%s', async (state) => {
    await open(state);
    if (WITH_CHECK_IN.has(state)) {
      await see('Check in today');
      await checkIn();
    }
    for (const text of SEEN[state]) await see(text);
    expect(await page.locator('button.primary').count()).toBe(1);
    for (const width of [320, 390, 1280]) {
      await page.setViewportSize({ width, height: 844 });
      expect([width, await overflow()]).toEqual([width, 0]);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        expect(await violations(page)).toEqual([]);
        await page.screenshot({ path: join(SHOTS, `${state}-${width}-${colorScheme}.png`), fullPage: true });
      }
    }
  });

  test('the skeleton can be seen, before the program has arrived and until there is a response', async () => {
    const begin = new EventEmitter();
    await open('demo-player', once(begin, 'first'));
    await page.getByText('Your rewards are loading.').waitFor({ state: 'attached' });
    for (const box of await page.locator('.placeholder').all()) {
      expect((await box.boundingBox())?.height).toBeGreaterThan(40);
    }
    expect(await violations(page)).toEqual([]);
    expect(readFileSync(join(DIST, 'index.html'), 'utf8')).toContain('class="placeholder tall"');
    begin.emit('first');
    await see('Demo Player');
  });

  test('the focus stays on the button while friends are loaded, up to the last page', async () => {
    await open('demo-player');
    await see('Friend 1');
    const friends = page.locator('.friends li');
    const more = page.locator('.friends + div button');
    await more.focus();
    for (const count of [40, 60]) {
      await page.keyboard.press('Enter');
      await friends.nth(count - 1).waitFor();
      expect(await more.evaluate((button) => button === document.activeElement)).toBe(true);
    }
    expect(await more.textContent()).toBe('These are all');
    expect(await more.getAttribute('aria-disabled')).toBe('true');
  });

  test('a check-in that is refused is told as what it is, and one that is done is not sent again', async () => {
    await open('demo-player');
    await see('Check in today');
    let count = 0;
    await page.route('**/graphql', (route) => {
      count += 1;
      const userErrors = [{ __typename: 'UserError', code: 'INVALID', message: 'No such event.' }];
      const trackEvents = { __typename: 'TrackEventsPayload', eventNames: [], userErrors };
      return route.fulfill({ json: { data: { trackEvents } } });
    });
    await checkIn();
    await see(/^The check-in was not accepted, and nothing was counted/);
    expect(count).toBe(1);
    await page.unroute('**/graphql');
    await checkIn();
    await see('✓ Checked in today');
    await page.reload();
    await see('✓ Checked in today');
    expect(await page.locator('button.primary').getAttribute('aria-disabled')).toBe('true');
  });
});
