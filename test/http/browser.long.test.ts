import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Browser, chromium, type Page, type Route } from 'playwright-core';
import { executablePath } from '../kit/chromium.ts';
import { startDemo } from '../kit/demo.ts';
import { startBoth } from '../kit/gateway.ts';
import { examples } from '../kit/schema.ts';
import { secretSigner, token } from '../kit/tokens.ts';

/** Chromium makes no requests of its own. */
const QUIET = ['--disable-gpu', '--disable-quic', '--disable-background-networking', '--disable-component-update'];

(executablePath === undefined ? describe.skip : describe)('what a newcomer sees in a browser', () => {
  let demo: Awaited<ReturnType<typeof startDemo>>;
  let browser: Browser;
  beforeAll(async () => {
    demo = await startDemo();
    browser = await chromium.launch({ ...(executablePath && { executablePath }), args: QUIET });
  });
  afterAll(async () => {
    await browser?.close();
  });

  test('the IDE runs the examples, shows the documentation, and asks nobody but the gateway', async () => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    const seen = watch(page);
    await page.goto(`${demo.url}/graphiql`);
    await execute(page, 'Demo Player');

    const panel = page.getByRole('region', { name: 'Upstream' });
    await panel.getByText('for Player.referredFriends').waitFor();
    await panel.getByText('3 REST calls').waitFor();
    expect(await panel.getByText('players:read coupons:read referrals:read').count()).toBe(1);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await panel.getByRole('button', { name: 'Copy as curl' }).press('Enter');
    await panel.getByText('Copied').waitFor();
    const command = await page.evaluate(() => navigator.clipboard.readText());
    const { data } = JSON.parse(execFileSync('sh', ['-c', `${command} -s`], { encoding: 'utf8' }));
    expect(data.player.id).toBe('demo-player');

    for (const name of ['UpsertPlayer', 'TrackEvents', 'DeletePlayer', 'Node']) {
      const box = await tabs(page).getByRole('button', { name, exact: true }).boundingBox();
      expect(box && box.x >= 0 && box.x + box.width <= 1280 && box.y + box.height <= 800).toBe(true);
    }

    const shown = await tabs(page).getByRole('button').allInnerTexts();
    const names = examples.map(({ document }) => /^(?:query|mutation) (\w+)/m.exec(document)?.[1]);
    expect(shown.filter((name) => names.includes(name))).toEqual(names);

    // Every tab takes the first click; GraphiQL by itself loses it.
    for (const name of ['Players', 'Node', 'MobileScreen', 'UpsertPlayer']) {
      await tabs(page).getByRole('button', { name, exact: true }).click();
      await current(page, name).waitFor();
    }
    await execute(page, 'Grace H.');
    await panel.getByText('for Mutation.upsertPlayer').waitFor();

    await page.getByRole('link', { name: 'Query', exact: true }).click();
    await page.getByText('One player by your own identifier.').waitFor();

    const again = await context.newPage();
    await again.goto(`${demo.url}/graphiql`);
    await current(again, 'MobileScreen').waitFor();
    await context.close();

    expect([...seen.hosts]).toEqual([new URL(demo.url).host]);
    expect(seen.complaints).toEqual([]);
  });

  test('the Sandbox at /graphql begins with the first example, sent to this gateway', async () => {
    const page = await browser.newPage();
    // In place of Apollo's script.
    const body = 'window.EmbeddedSandbox = class { constructor(options) { window.made = options; } };';
    await page.route(/apollographql\.com/, (route) => route.fulfill({ contentType: 'text/javascript', body }));
    await page.goto(`${demo.url}/graphql`);
    const made = await page.evaluate('window.made');
    const initialState = expect.objectContaining({ document: examples[0]?.document });
    expect(made).toMatchObject({ initialEndpoint: `${demo.url}/graphql`, initialState });
    // The Sandbox hands operations to the page it is embedded in, which sends them.
    expect(await page.evaluate(ask, `${demo.url}/graphql`)).toEqual({ player: { id: 'demo-player' } });
  });

  test('the start page shows a response, and opens a player of the demo in the IDE', async () => {
    const page = await browser.newPage({ viewport: { width: 390, height: 800 } });
    const seen = watch(page);
    await page.goto(demo.url);
    await page.locator('output').getByText('Demo Player').waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    expect(seen.complaints).toEqual([]);
    await page.getByRole('link', { name: 'demo-empty' }).click();
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.locator('.graphiql-query-editor').getByText('"demo-empty"').waitFor();
    await execute(page, '"coupons": []');
    expect([...seen.hosts]).toEqual([new URL(demo.url).host]);
  });

  test.each<[string, (route: Route) => unknown]>([
    ['without the internet', (route) => route.abort()],
    ['behind a firewall that never answers', () => undefined],
  ])('the Sandbox at /graphql, %s, shows a link to the IDE', async (_where, handle) => {
    const page = await browser.newPage();
    await page.route(/apollographql\.com|googleapis\.com/, handle);
    await page.goto(`${demo.url}/graphql`, { waitUntil: 'commit' });
    await page.getByRole('heading', { name: 'The first query' }).waitFor();
    await page.getByRole('link', { name: 'The IDE', exact: true }).click();
    await page.waitForURL(`${demo.url}/graphiql`);
    await execute(page, 'Demo Player');
  });

  test('the IDE of a gateway with tokens says why there is no schema, and takes a token for all tabs', async () => {
    const signer = secretSigner();
    const both = await startBoth(signer.env);
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    await page.goto(`${both.gateway.url}/graphiql`);
    const notice = page.getByText('This gateway needs a token');
    await notice.waitFor();

    await page.locator('.view-line', { hasText: '"authorization": "Bearer "' }).click();
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.insertText(token(signer, { scope: 'players:read' }));
    await page.getByRole('button', { name: 'Re-fetch GraphQL schema' }).click();
    await notice.waitFor({ state: 'hidden' });
    await tabs(page).getByRole('button', { name: 'Me', exact: true }).click();
    await execute(page, '"id": "p1"');
    expect(await page.evaluate(() => JSON.stringify({ ...localStorage }))).not.toContain('Bearer ey');
  });
});

/** Runs in the page: sends an operation as the Sandbox does. */
async function ask(endpoint: string): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  const body = '{"query":"{ player(playerUniqueId: \\"demo-player\\") { id } }"}';
  return (await (await fetch(endpoint, { method: 'POST', headers, body })).json()).data;
}

/** The hosts that a page sends requests to, and what the browser complains about. */
function watch(page: Page): { hosts: Set<string>; complaints: string[] } {
  const seen = { hosts: new Set<string>(), complaints: [] as string[] };
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol !== 'blob:' && protocol !== 'data:') seen.hosts.add(host);
  });
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') seen.complaints.push(message.text());
  });
  page.on('pageerror', (error) => seen.complaints.push(String(error)));
  return seen;
}

const tabs = (page: Page) => page.locator('.graphiql-tabs');
const current = (page: Page, name: string) => tabs(page).locator(`[aria-current=true]:text-is("${name}")`);

/** Presses the button until the answer shows: a page that is still loading takes the first press for nothing. */
async function execute(page: Page, expected: string): Promise<void> {
  for (let left = 10; left > 0; left -= 1) {
    await page.getByRole('button', { name: 'Execute query' }).click();
    const shown = page.locator('.result-window').getByText(expected).waitFor({ timeout: 5_000 });
    try {
      return await shown;
    } catch (error) {
      if (left === 1) throw error;
    }
  }
}
