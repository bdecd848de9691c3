import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { loadReferenceConfig } from '../src/config.ts';

const folder = mkdtempSync(join(tmpdir(), 'reference-config-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'database-url');
const URL_WITH_PASSWORD = 'postgres://rewards:hunter2-of-a-test@db.example:5432/rewards';
writeFileSync(join(folder, 'no-address'), 'hunter2');
writeFileSync(file, `${URL_WITH_PASSWORD}\n`);

test('the address of the database can stand in a file', () => {
  expect(loadReferenceConfig({ DATABASE_URL_FILE: file }).databaseUrl).toBe(URL_WITH_PASSWORD);
});

test.each([
  ['both', { DATABASE_URL_FILE: file, DATABASE_URL: URL_WITH_PASSWORD }, 'DATABASE_URL: set it or DATABASE_URL_FILE'],
  ['a file that is not there', { DATABASE_URL_FILE: join(folder, 'none') }, 'DATABASE_URL_FILE: cannot be read'],
  [
    'a file that holds something else',
    { DATABASE_URL_FILE: join(folder, 'no-address') },
    'DATABASE_URL: must be an address',
  ],
])('%s refuses to start and tells no password', (_case, env, report) => {
  expect(() => loadReferenceConfig(env)).toThrow(report);
  expect(() => loadReferenceConfig(env)).not.toThrow('hunter2');
});
