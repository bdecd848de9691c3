import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse } from 'jsonc-parser';
import builtIn from '../programme.json' with { type: 'json' };
import { loadProgramme } from '../src/programme/file.ts';

let path: string;
beforeAll(async () => {
  path = join(await mkdtemp(join(tmpdir(), 'programme-')), 'programme.json');
});
afterAll(() => rm(join(path, '..'), { recursive: true }));

async function load(content: unknown) {
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return loadProgramme(path);
}

test('the built-in programme, written to a file, is the built-in programme, with a group of every type', async () => {
  const programme = await load(builtIn);
  expect(programme).toEqual(loadProgramme(undefined));
  const types = ['custom', 'fixed_discount', 'fixed_rate_discount', 'free_product', 'free_shipping'];
  expect(programme.groups.map(({ coupon }) => coupon.type).sort()).toEqual([...types, 'percentage_discount']);
});

test('the programme of the README can be used', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const [, example = ''] = /```jsonc\n([\s\S]*?)```/.exec(readme) ?? [];
  expect(await load(parse(example))).toMatchObject({ contact: 'mobile', contactExpiryDays: 60 });
});

const GROUP = { handle: 'g', title: 'G', coupon: { type: 'custom' } };
const groups = (change: object) => ({ groups: [{ ...GROUP, ...change }] });
const coupon = (change: object) => groups({ coupon: { type: 'custom', ...change } });
const reward = { at: 'active', to: 'friend', group: 'x' };

test.each<[change: object, ...problems: string[]]>([
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
    ...['contact: Invalid option: expected one of "email"|"mobile"', 'groups[0].title: Too small'],
    ...['rewards[0].at: Invalid option', 'rewards[0].to: Invalid option'],
  ],
])('refuses %j, naming its place', async (change, ...problems) => {
  const message = await load({ ...builtIn, ...change }).then(String, (error: Error) => error.message);
  expect(message.split('\n')[0]).toBe(`The programme in ${path} cannot be used:`);
  for (const problem of problems) expect(message).toContain(`\n  ${problem}`);
});

test('refuses a file that is not JSON', async () => {
  await expect(load('{')).rejects.toThrow(`The programme in ${path} cannot be read: `);
});
