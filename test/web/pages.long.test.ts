import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { startDemo } from '../kit/demo.ts';
import { hasBrowser, launch } from './example.ts';

/* The IDE and the start page of the gateway in Chromium, at each width and in each colour: for axe, by keyboard, for the eye. */

/** The folder in which pictures are written, to look at; none without it. */
const SHOTS = process.env['SCREENSHOTS'];
const SCHEMES = ['light', 'dark'] as const;
const at = (...widths: number[]) => widths.flatMap((width) => SCHEMES.map((scheme) => [width, scheme] as const));

(hasBrowser ? describe : describe.skip)('the pages of the gateway', () => {
  let demo: Awaited<ReturnType<typeof startDemo>>;
  let browser: Browser;
  let axe: string;
  beforeAll(async () => {
    demo = await startDemo();
    browser = await launch();
    axe = readFileSync('examples/web/node_modules/axe-core/axe.min.js', 'utf8');
  });

  /** What axe finds: the rules, and the elements that break them. Evaluated, because the pages allow no other script. */
  async function findings(page: Page): Promise<unknown> {
    await page.evaluate(axe);
    return await page.evaluate(
      'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]))',
    );
  }

  /** Presses Tab until an element has the focus. */
  async function tabTo(page: Page, selector: string): Promise<void> {
    const hasFocus = () => page.locator(selector).evaluate((element) => element === document.activeElement);
    for (let left = 80; left > 0 && !(await hasFocus()); left -= 1) await page.keyboard.press('Tab');
    expect([selector, await hasFocus()]).toEqual([selector, true]);
  }

  const shoot = (page: Page, name: string) => SHOTS && page.screenshot({ path: join(SHOTS, `${name}.png`) });

  test.each(at(1280, 900))(
    'the IDE at %i px, %s: runs by keyboard, is readable, and axe finds nothing',
    async (width, scheme) => {
      const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme: scheme });
      await page.goto(`${demo.url}/graphiql`);
      await page.locator('.graphiql-query-editor').getByText('MobileScreen').first().waitFor();
      await page.getByRole('link', { name: 'Query', exact: true }).waitFor();
      await tabTo(page, '.graphiql-execute-button');
      await page.keyboard.press('Enter');
      await page.locator('#upstream').getByText('3 REST calls').waitFor();
      await page.locator('.result-window').getByText('demo-player').waitFor();
      await tabTo(page, '#upstream');
      await page.keyboard.press('Tab');
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Copy as curl');
      const copy = await page.locator('#upstream button').boundingBox();
      expect((copy?.y ?? 800) + (copy?.height ?? 0)).toBeLessThan(800);
      await shoot(page, `ide-${width}-${scheme}`);

      const editor = await page.locator('.graphiql-query-editor .monaco-scrollable-element').first().boundingBox();
      const lines = await page.locator('.graphiql-query-editor .view-line > span').all();
      const ends = await Promise.all(lines.map(async (line) => (await line.boundingBox()) ?? { x: 0, width: 0 }));
      expect(editor?.width).toBeGreaterThan(200);
      expect(Math.max(...ends.map((end) => end.x + end.width))).toBeLessThanOrEqual(
        (editor?.x ?? 0) + (editor?.width ?? 0),
      );
      const tabs = await Promise.all((await page.locator('.graphiql-tab').all()).map((tab) => tab.boundingBox()));
      expect(new Set(tabs.map((tab) => Math.round(tab?.y ?? 0))).size).toBeLessThanOrEqual(width === 1280 ? 2 : 3);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
      expect(await findings(page)).toEqual([]);
      await page.close();
    },
  );

  test.each(at(390, 1280))(
    'the start page at %i px, %s: fits, its links work by keyboard, and axe finds nothing',
    async (width, scheme) => {
      const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme: scheme });
      const hosts = new Set<string>();
      page.on('request', (request) => hosts.add(new URL(request.url()).host));
      await page.goto(demo.url);
      await page.locator('output').getByText('Demo Player').waitFor();
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
      await shoot(page, `start-${width}-${scheme}`);
      expect(await findings(page)).toEqual([]);
      await tabTo(page, 'a[href="/docs/clients.md"]');
      await page.keyboard.press('Enter');
      await page.getByText('For teams that write web clients').first().waitFor();
      expect([...hosts]).toEqual([new URL(demo.url).host]);
      await page.close();
    },
  );
});
