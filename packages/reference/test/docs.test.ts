import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { parse } from 'jsonc-parser';
import { loadReferenceConfig } from '../../src/reference/config.ts';
import { programme } from '../../src/reference/programme/schema.ts';

const book = await readFile(new URL('../../docs/reference-service.md', import.meta.url), 'utf8');

test('the programme file of the documentation can be used', () => {
  const [, example = ''] = /```jsonc\n([\s\S]*?)```/.exec(book) ?? [];
  const result = programme.safeParse(parse(example));
  expect(result.error?.issues ?? []).toEqual([]);
  expect(result.data).toMatchObject({ contact: 'mobile', country: 'DE', contactExpiryDays: 60 });
});

test('the settings of the documentation are the settings of the program, with their defaults', () => {
  const rows = [...book.matchAll(/^\| (`[A-Z].*?) \| (.*?) \|/gm)];
  const documented = new Map<string, string>();
  for (const [, names = '', defaults = ''] of rows) {
    const variables = [...names.matchAll(/`([A-Z_]+)`/g)].map(([, name = '']) => name);
    const values = defaults.split(', ');
    for (const [index, name] of variables.entries()) documented.set(name, values[index] ?? defaults);
  }
  const defaultOf = (name: string) => documented.get(name);
  const config = loadReferenceConfig({});
  expect({
    REFERENCE_PORT: defaultOf('REFERENCE_PORT'),
    REFERENCE_MANAGEMENT_PORT: defaultOf('REFERENCE_MANAGEMENT_PORT'),
    REFERENCE_LANDING_PER_ADDRESS: defaultOf('REFERENCE_LANDING_PER_ADDRESS'),
    REFERENCE_LANDING_PER_LINK: defaultOf('REFERENCE_LANDING_PER_LINK'),
    REFERENCE_DATABASE_POOL: defaultOf('REFERENCE_DATABASE_POOL'),
    REFERENCE_DATABASE_STATEMENT_TIMEOUT_MS: defaultOf('REFERENCE_DATABASE_STATEMENT_TIMEOUT_MS'),
    REFERENCE_DATABASE_CONNECT_TIMEOUT_MS: defaultOf('REFERENCE_DATABASE_CONNECT_TIMEOUT_MS'),
    REFERENCE_DATABASE_HEALTH_TIMEOUT_MS: defaultOf('REFERENCE_DATABASE_HEALTH_TIMEOUT_MS'),
    SHUTDOWN_GRACE_MS: defaultOf('SHUTDOWN_GRACE_MS'),
    SHUTDOWN_DELAY_MS: defaultOf('SHUTDOWN_DELAY_MS'),
    DATA_DIR: defaultOf('DATA_DIR'),
  }).toEqual({
    REFERENCE_PORT: String(config.port),
    REFERENCE_MANAGEMENT_PORT: String(config.management.port),
    REFERENCE_LANDING_PER_ADDRESS: String(config.landingLimits.perAddress),
    REFERENCE_LANDING_PER_LINK: String(config.landingLimits.perLink),
    REFERENCE_DATABASE_POOL: String(config.database.poolSize),
    REFERENCE_DATABASE_STATEMENT_TIMEOUT_MS: String(config.database.statementTimeoutMs),
    REFERENCE_DATABASE_CONNECT_TIMEOUT_MS: String(config.database.connectTimeoutMs),
    REFERENCE_DATABASE_HEALTH_TIMEOUT_MS: String(config.database.healthTimeoutMs),
    SHUTDOWN_GRACE_MS: String(config.shutdown.graceMs),
    SHUTDOWN_DELAY_MS: String(config.shutdown.delayMs),
    DATA_DIR: config.dataDir,
  });
});
