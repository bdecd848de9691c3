import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Browser, chromium, type Page } from 'playwright-core';
import { executablePath } from '../../../test/kit/chromium.ts';
import { post } from '../../../test/kit/post.ts';
import { startProcess } from '../../../test/kit/process.ts';
import { KEYS } from './client.ts';
import { contentOf, found, STORES, startReference } from './kit.ts';
import { environmentOf, forkReference } from './process.ts';

/** The folder in which screenshots are written, to look at; none without it. */
const SHOTS = process.env['SCREENSHOTS'];

/** What must be the same in every language: nothing is cut off, overlaps or is too small to touch on a phone. */
async function expectFits(page: Page): Promise<void> {
  const { width, isWider } = await page.evaluate<{ width: number; isWider: boolean }>(
    '(({ clientWidth, scrollWidth }) => ({ width: clientWidth, isWider: scrollWidth > clientWidth }))(document.documentElement)',
  );
  expect(isWider).toBe(false);
  for (const element of await page.locator('h1, label, input, button, p').all()) {
    const box = await element.boundingBox();
    expect(box && box.x >= 0 && box.x + box.width <= width).toBe(true);
  }
  for (const element of await page.locator('input, button, a').all()) {
    expect((await element.boundingBox())?.height).toBeGreaterThanOrEqual(44);
  }
}

/** A referral from the link to its deletion, by the built programs and a browser on a phone. */
(executablePath === undefined ? describe.skip : describe)('the whole story, in Chromium', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ ...(executablePath && { executablePath }), args: ['--disable-gpu'] });
  });
  afterAll(() => browser?.close());

  test.each(STORES)(
    'on $name: link, landing page, sign-up, order, coupon, deletion, nothing but hashes',
    async ({ place, name }) => {
      const at = await place();
      const service = await forkReference(environmentOf(at));
      const keys = { REST_API_KEY: KEYS.APIKey, REST_SECRET_KEY: KEYS.secretKey };
      const gateway = await startProcess({ REST_BASE_URL: service.url, ...keys });
      const ask = async (query: string, variables: object) => {
        const { data, errors } = await post(gateway.url, { query, variables });
        expect(errors).toEqual([]);
        return data;
      };
      const upsert = (playerUniqueId: string, attributes: object) =>
        ask(
          'mutation ($input: UpsertPlayerInput!) { upsertPlayer(input: $input) { player { referralLink } userErrors { code } } }',
          { input: { playerUniqueId, attributes } },
        );
      const rewardsOf = async (id: string) =>
        (
          await ask(
            'query ($id: ID!) { player(playerUniqueId: $id) { coupons { group { handle } } referredFriends { totalPending totalActive } } }',
            { id },
          )
        ).player;

      const { referralLink } = (await upsert('host-secret', { displayName: 'Host' })).upsertPlayer.player;
      for (const [locale, direction, contact, index] of [
        ['de-DE', 'ltr', 'eva-secret@bücher.example', 0],
        ['ar-EG', 'rtl', ' omar-secret١@shop.example ', 1],
      ] as const) {
        const context = await browser.newContext({ locale, viewport: { width: 390, height: 844 }, hasTouch: true });
        const page = await context.newPage();
        const shot = (step: string) => SHOTS && page.screenshot({ path: join(SHOTS, `landing-${locale}-${step}.png`) });
        await page.goto(referralLink);
        expect(await page.locator('html').getAttribute('lang')).toBe(locale.slice(0, 2));
        expect(await page.evaluate('getComputedStyle(document.body).direction')).toBe(direction);
        await expectFits(page);
        await shot('form');
        await page.getByRole('button').tap();
        await page.getByRole('alert').waitFor();
        expect(await page.evaluate('document.activeElement?.id')).toBe('contact');
        await expectFits(page);
        await shot('invalid');
        await page.getByRole('textbox').fill(contact);
        await page.getByRole('button').tap();
        await page.getByRole('status').waitFor();
        await expectFits(page);
        await shot('thanks');
        await context.close();
        const email = ['EVA-secret@xn--bcher-kva.example', 'omar-secret1@shop.example'][index];
        await upsert(`friend-${index}-secret`, { email, displayName: 'Friend-secret' });
      }
      expect(await rewardsOf('host-secret')).toEqual({
        coupons: [],
        referredFriends: { totalPending: 2, totalActive: 0 },
      });

      await ask('mutation ($input: TrackEventsInput!) { trackEvents(input: $input) { eventNames } }', {
        input: {
          playerUniqueId: 'friend-0-secret',
          events: [{ name: 'place_order', metadata: { note: 'order-secret' } }],
        },
      });
      const thanks = { group: { handle: 'thank-you' } };
      expect(await rewardsOf('host-secret')).toEqual({
        coupons: [thanks],
        referredFriends: { totalPending: 1, totalActive: 1 },
      });
      expect((await rewardsOf('friend-0-secret')).coupons).toEqual([{ group: { handle: 'welcome' } }, thanks]);

      for (const playerUniqueId of ['friend-0-secret', 'friend-1-secret', 'host-secret']) {
        await ask('mutation ($input: DeletePlayerInput!) { deletePlayer(input: $input) { deletedPlayerUniqueId } }', {
          input: { playerUniqueId },
        });
      }
      expect(await service.end('SIGTERM')).toBe(0);
      const { counted, ...others } = await contentOf(await startReference({ at }));
      expect(Object.values(others).flat()).toEqual([]);
      expect(counted).toHaveLength(2);
      expect(JSON.stringify(counted)).not.toMatch(/secret|@/);
      if (name === 'SQLite') expect(await found(at.dataDir, { any: '-secret' })).toEqual([]);
    },
  );
});
