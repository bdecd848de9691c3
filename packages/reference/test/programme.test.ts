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

const groups = (change: object) => ({ groups: [{ ...GROUP, ...change }] });
const coupon = (change: object) => groups({ coupon: { type: 'custom', ...change } });
const reward = { at: 'active', to: 'friend', group: 'x' };

test.each<[change: object, ...problems: string[]]>([
  [{ contact: 'fax' }, 'contact: Invalid option: expected one of "email"|"mobile"'],
  [{ languages: [] }, 'languages: Too small: expected array to have >=1 items'],
  [{ languages: ['en', 'english!'] }, 'languages[1]: must be a language code like "en"'],
  [{ rewrads: [] }, 'the file: Unrecognized key: "rewrads"'],
  [coupon({ amount: 1 }), 'groups[0].coupon: Unrecognized key: "amount"'],
  [coupon({ type: 'cash' }), 'groups[0].coupon.type: Invalid option'],
  [coupon({ type: 'free_product' }), 'groups[0].coupon.product: must say which product is free'],
  [groups({ startDate: 'soon' }), 'groups[0].startDate: must be a date like 2025-05-01'],
  [groups({ maxPerPlayer: 0 }), 'groups[0].maxPerPlayer: Too small'],
  [{ groups: [GROUP, GROUP], rewards: [] }, 'groups[1].handle: is the handle of another group too'],
  [{ groups: [GROUP], rewards: [reward] }, 'rewards[0].group: is not the handle of a group'],
  [
    { contact: 'fax', ...groups({ title: '' }), rewards: [{ at: 'never', to: 'all', group: 'g' }] },
    ...['contact: Invalid option', 'groups[0].title: Too small'],
    ...['rewards[0].at: Invalid option', 'rewards[0].to: Invalid option'],
  ],
])('refuses %j, naming its place', async (change, ...problems) => {
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
