import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { parse } from 'jsonc-parser';
import { newFile, newFolder } from '../../../test/kit/at-end.ts';
import builtIn from '../programme.json' with { type: 'json' };
import { loadProgramme } from '../src/programme/file.ts';

const folder = newFolder();
const load = (content: unknown) => loadProgramme(newFile('programme.json', content, folder));

test('the built-in programme has a group of every type; the one of the README can be used', () => {
  const programme = load(builtIn);
  expect(programme).toEqual(loadProgramme(undefined));
  // As editors of Windows write it.
  expect(load(`\ufeff${JSON.stringify(builtIn)}`)).toEqual(programme);
  const types = ['custom', 'fixed_discount', 'fixed_rate_discount', 'free_product', 'free_shipping'];
  expect(programme.groups.map(({ coupon }) => coupon.type).sort()).toEqual([...types, 'percentage_discount']);
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const [, example = ''] = /```jsonc\n([\s\S]*?)```/.exec(readme) ?? [];
  expect(load(parse(example))).toMatchObject({ contact: 'mobile', contactExpiryDays: 60 });
});

const GROUP = { handle: 'g', title: 'G', coupon: { type: 'custom' } };
const groups = (change: object) => ({ groups: [{ ...GROUP, ...change }] });
const coupon = (change: object) => groups({ coupon: { type: 'custom', ...change } });
const MUG = { productId: 5, productName: 'mug', productDisplayName: ['Mug'] };
const reward = { at: 'active', to: 'friend', group: 'x' };

test.each<[change: object | string, ...problems: string[]]>([
  ['{', 'cannot be read: '],
  [{ languages: [] }, 'languages: Too small: expected array to have >=1 items'],
  [{ languages: ['en', 'english!'] }, 'languages[1]: must be a language code like "en"'],
  [{ languages: ['en', 'en-12'] }, 'languages[1]: must be a language code like "en"'],
  [{ languages: ['en'], landing: { it: builtIn.landing.en } }, 'landing.it: is not one of the languages'],
  [{ landing: {} }, 'landing: must have a language'],
  [{ landing: { en: { ...builtIn.landing.en, thanks: '' } } }, 'landing.en.thanks: Too small'],
  [{ rewrads: [] }, 'the file: Unrecognized key: "rewrads"'],
  [coupon({ amount: 1 }), 'groups[0].coupon: Unrecognized key: "amount"'],
  [coupon({ type: 'free_product' }), 'groups[0].coupon.product: is required for the type free_product'],
  [
    coupon({ product: MUG }),
    'groups[0].coupon.product: is required for the type free_product, and not allowed for others',
  ],
  [groups({ startDate: 'soon' }), 'groups[0].startDate: must be a date like 2025-05-01'],
  [{ groups: [GROUP, GROUP], rewards: [] }, 'groups[1].handle: is the handle of another group too'],
  [{ groups: [GROUP], rewards: [reward] }, 'rewards[0].group: is not the handle of a group'],
  [coupon({ options: { ExpiryAfter: 36_501, UsageLimit: 2 ** 31 } }), 'ExpiryAfter: Too big', 'UsageLimit: Too big'],
  [groups({ maxPerPlayer: 2 ** 31 }), 'groups[0].maxPerPlayer: Too big'],
  [
    {
      contact: 'fax',
      groups: [GROUP, { ...GROUP, startDate: '2030-01-01', expiryDate: '2029-01-01' }],
      rewards: [reward],
    },
    ...['contact: Invalid option', 'groups[1].handle: is the handle', 'groups[1].expiryDate: is before the startDate'],
    'rewards[0].group: is not the handle',
  ],
  [{ ...coupon({ type: 'gift' }), rewards: [reward] }, 'groups[0].coupon.type: Invalid', 'rewards[0].group: is not'],
  [{ groups: [{}], rewards: [] }, 'groups[0].handle: Invalid input', 'groups[0].coupon: Invalid input'],
  [{ groups: 'g', landing: 1 }, 'groups: Invalid input', 'landing: Invalid input'],
  ['[]', 'the file: Invalid input'],
  [{ contact: 'fax', ...groups({ maxPerPlayer: 0 }) }, 'contact: Invalid option', 'groups[0].maxPerPlayer: Too small'],
])('refuses %j, naming its place', (change, ...problems) => {
  const content = typeof change === 'string' ? change : { ...builtIn, ...change };
  for (const problem of [`The programme in ${folder}/programme.json cannot be `, ...problems]) {
    expect(() => load(content)).toThrow(problem);
  }
});
