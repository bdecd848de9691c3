import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { parse } from 'jsonc-parser';
import { loadReferenceConfig } from '../src/config.ts';
import { programme } from '../src/programme/file.ts';

const book = await readFile(new URL('../README.md', import.meta.url), 'utf8');
const config = await readFile(new URL('../src/config.ts', import.meta.url), 'utf8');

test('the programme file of the README can be used', () => {
  const [, example = ''] = /```jsonc\n([\s\S]*?)```/.exec(book) ?? [];
  const result = programme.safeParse(parse(example));
  expect(result.error?.issues ?? []).toEqual([]);
  expect(result.data).toMatchObject({ contact: 'mobile', contactExpiryDays: 60 });
});

test('the settings of the README are those of the program, at most ten, with their defaults', () => {
  const rows = [...book.matchAll(/^\| `([A-Z_]+)`[^|]*\| ([^|]*) \|/gm)];
  const documented = Object.fromEntries(rows.map(([, name, value]) => [name, value]));
  const settings = [...config.matchAll(/^ {4}([A-Z_]+): /gm)]
    .map(([, name]) => name)
    .filter((name) => name !== 'NODE_ENV');
  expect(Object.keys(documented).sort()).toEqual(settings.sort());
  expect(settings.length).toBeLessThanOrEqual(10);
  const defaults = loadReferenceConfig({});
  expect(documented).toMatchObject({
    REFERENCE_HOST: defaults.host,
    REFERENCE_PORT: String(defaults.port),
    REFERENCE_LANDING_PER_MINUTE: String(defaults.landingPerMinute),
    DATA_DIR: defaults.dataDir,
  });
});
