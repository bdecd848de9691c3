import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import builtIn from '../programme.json' with { type: 'json' };
import { loadProgramme } from '../src/programme/file.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'programme-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function load(content: unknown) {
  const path = join(folder, 'programme.json');
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return loadProgramme(path);
}

test('the built-in programme, written to a file, is the built-in programme', async () => {
  expect(await load(builtIn)).toEqual(loadProgramme(undefined));
});

test('the built-in programme has a group of every type of coupon', () => {
  const types = loadProgramme(undefined).groups.map(({ coupon }) => coupon.type);
  expect(types.sort()).toEqual([
    'custom',
    'fixed_discount',
    'fixed_rate_discount',
    'free_product',
    'free_shipping',
    'percentage_discount',
  ]);
});

const GROUP = { handle: 'g', title: 'G', coupon: { type: 'custom' } };

test.each<[string, object, string[]]>([
  ['a contact of another kind', { contact: 'fax' }, ['contact: Invalid option: expected one of "email"|"mobile"']],
  ['no languages', { languages: [] }, ['languages: Too small: expected array to have >=1 items']],
  ['a language that is none', { languages: ['en', 'english!'] }, ['languages[1]: must be a language code like "en"']],
  ['a misspelt member', { rewrads: [] }, ['the file: Unrecognized key: "rewrads"']],
  [
    'a misspelt member of a coupon',
    { groups: [{ ...GROUP, coupon: { type: 'custom', amount: 1 } }] },
    ['groups[0].coupon: Unrecognized key: "amount"'],
  ],
  [
    'a coupon of another type',
    { groups: [{ ...GROUP, coupon: { type: 'cash' } }] },
    ['groups[0].coupon.type: Invalid option'],
  ],
  [
    'a free product without the product',
    { groups: [{ ...GROUP, coupon: { type: 'free_product' } }] },
    ['groups[0].coupon.product: must say which product is free'],
  ],
  [
    'a date that is none',
    { groups: [{ ...GROUP, startDate: 'soon' }] },
    ['groups[0].startDate: must be a date like 2025-05-01'],
  ],
  ['a limit of nothing', { groups: [{ ...GROUP, maxPerPlayer: 0 }] }, ['groups[0].maxPerPlayer: Too small']],
  [
    'two groups of one handle',
    { groups: [GROUP, GROUP], rewards: [] },
    ['groups[1].handle: is the handle of another group too'],
  ],
  [
    'a reward from no group',
    { groups: [GROUP], rewards: [{ at: 'active', to: 'friend', group: 'x' }] },
    ['rewards[0].group: is not the handle of a group'],
  ],
  [
    'several things at once',
    { contact: 'fax', groups: [{ ...GROUP, title: '' }], rewards: [{ at: 'never', to: 'all', group: 'g' }] },
    [
      'contact: Invalid option',
      'groups[0].title: Too small',
      'rewards[0].at: Invalid option',
      'rewards[0].to: Invalid option',
    ],
  ],
])('%s is refused, naming its place', async (_name, change, problems) => {
  const message = await load({ ...builtIn, ...change }).then(String, (error: Error) => error.message);
  expect(message.split('\n')[0]).toMatch(/^The programme in .*programme\.json cannot be used:$/);
  for (const problem of problems) expect(message).toContain(`\n  ${problem}`);
});

test.each([
  ['not JSON', '{', /^The programme in .* cannot be read: /],
  ['a list', [], /the file: Invalid input: expected object/],
])('a file that is %s is refused', async (_name, content, message) => {
  await expect(load(content)).rejects.toThrow(message);
});
