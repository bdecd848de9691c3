import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { newFile } from '../../../test/kit/at-end.ts';
import { loadReferenceConfig } from '../src/config.ts';

const fileOf = (content: string) => newFile('secret', content);
const DATABASE = 'postgres://rewards:hunter2-of-a-test@db.example:5432/rewards';
const PRODUCTION = {
  NODE_ENV: 'production',
  PUBLIC_URL: 'https://x.example',
  REST_API_KEY: 'a',
  REST_SECRET_KEY: 'b',
  CONTACT_HASH_KEY: 'c'.repeat(32),
};

test('keys and the address of the database can stand in files, which are read at the start', () => {
  const files = {
    DATABASE_URL_FILE: fileOf(`${DATABASE}\n`),
    REST_API_KEY: '',
    REST_API_KEY_FILE: fileOf('\ufeffkey\r\n'),
  };
  const { databaseUrl, keys } = loadReferenceConfig({ ...PRODUCTION, ...files });
  expect(databaseUrl).toBe(DATABASE);
  expect(['key', 'a', 'key\n'].map((key) => keys.apiKey.matches(key))).toEqual([true, false, false]);
});

test('the address that Kubernetes sets for a service with the name `reference` is no port', () => {
  expect(loadReferenceConfig({ ...PRODUCTION, REFERENCE_PORT: 'tcp://10.0.0.1:4100' }).port).toBe(4_100);
});

test.each<[env: NodeJS.ProcessEnv, ...problems: string[]]>([
  [
    { NODE_ENV: 'production', REST_API_KEY: '', REST_SECRET_KEY: 'development-secret-key' },
    'REST_API_KEY: must be set in production, as REST_API_KEY or REST_API_KEY_FILE',
    'REST_SECRET_KEY: must be set in production, as REST_SECRET_KEY or REST_SECRET_KEY_FILE',
    'PUBLIC_URL: must be set in production: referral links begin with it',
    'CONTACT_HASH_KEY: must be set in production, as CONTACT_HASH_KEY or CONTACT_HASH_KEY_FILE',
  ],
  [
    { REFERENCE_PORT: '99999', PUBLIC_URL: 'x', REFERENCE_TRUST_PROXY: 'a', REFERENCE_LANDING_PER_MINUTE: 'x' },
    'REFERENCE_PORT: must be a port, 0 to 65535',
    'PUBLIC_URL: must be an http or https address',
    'REFERENCE_TRUST_PROXY: must be addresses or networks like 10.0.0.0/8, separated by commas',
    'REFERENCE_LANDING_PER_MINUTE: must be a number from 0 (no limit) to 1000000',
  ],
  [
    { REST_API_KEY: 'a', REST_API_KEY_FILE: '/none', DATABASE_URL: 'mysql://u:hunter2@h/d' },
    'REST_API_KEY: set it or REST_API_KEY_FILE, not both',
    'DATABASE_URL: must be an address like postgres://user:password@host:5432/database',
  ],
  [{ REFERENCE_HOST: '0.0.0.0', REST_API_KEY: '' }, 'REFERENCE_HOST: everybody knows the development keys; set REST_'],
  [
    { REST_API_KEY: 'schlüssel', REST_SECRET_KEY: ' spaced', PUBLIC_URL: 'https://x.example/?a=1' },
    ...['REST_API_KEY', 'REST_SECRET_KEY'].map((name) => `${name}: must have printable ASCII characters only`),
    'PUBLIC_URL: must have neither a query nor a fragment',
  ],
  [{ DATABASE_URL_FILE: '/none' }, 'DATABASE_URL_FILE: cannot be read: '],
  [
    { CONTACT_HASH_KEY: 'hunter2', REST_SECRET_KEY_ON: 'some' },
    'CONTACT_HASH_KEY: must have at least 32 characters',
    'REST_SECRET_KEY_ON: must be sensitive or all',
  ],
  [
    { REFERENCE_OPERATOR_PORT: 'x', BACKUP_KEEP: '0' },
    'REFERENCE_OPERATOR_PORT: must be a port, 0 to 65535',
    'BACKUP_KEEP: must be a number from 1 to 1000',
  ],
  [
    { NODE_ENV: 'production', REST_SECRET_KEY_ON: 'x', REST_API_KEY: 'a', REST_SECRET_KEY: 'b' },
    'REST_SECRET_KEY_ON: must be sensitive or all',
    'PUBLIC_URL: must be set in production',
    'CONTACT_HASH_KEY: must be set in production',
  ],
  [
    { REST_SECRET_KEY_ON: 'x', REFERENCE_HOST: '::' },
    'REST_SECRET_KEY_ON: must be sensitive or all',
    'REFERENCE_HOST: everybody knows the development keys',
  ],
  [{ REST_API_KEY_FILE: fileOf('\n') }, 'REST_API_KEY_FILE: the file is empty'],
  [{ DATABASE_URL_FILE: fileOf('hunter2') }, 'DATABASE_URL: must be an address like postgres://'],
])('%j is refused with one report that names each variable and no password', (env, ...problems) => {
  let report = '';
  try {
    loadReferenceConfig(env);
  } catch (error) {
    report = String(error);
  }
  const [first, ...lines] = report.split('\n');
  expect(first).toBe('Error: The configuration cannot be used:');
  expect(lines).toHaveLength(problems.length);
  for (const problem of problems) expect(report).toContain(`\n  ${problem}`);
  expect(report).not.toContain('hunter2');
});

test('the settings of the README are those of the program, at most fifteen, with their defaults', () => {
  const textOf = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
  const rows = [...textOf('README.md').matchAll(/^\| `([A-Z_]+)`[^|]*\| ([^|]*) \|/gm)];
  const documented = Object.fromEntries(rows.map(([, name, value]) => [name, value]));
  const settings = [...textOf('src/config.ts').matchAll(/^ {4}([A-Z_]+): /gm)].map(([, name]) => name);
  expect(Object.keys(documented).sort()).toEqual(settings.sort());
  expect(rows.length).toBeLessThanOrEqual(15);
  const { host: REFERENCE_HOST, dataDir: DATA_DIR, port, landingPerMinute } = loadReferenceConfig({});
  expect(loadReferenceConfig({})).toMatchObject({
    backupKeep: Number(documented['BACKUP_KEEP']),
    operatorPort: undefined,
  });
  const numbers = { REFERENCE_PORT: `${port}`, REFERENCE_LANDING_PER_MINUTE: `${landingPerMinute}` };
  expect(documented).toMatchObject({ REFERENCE_HOST, DATA_DIR, ...numbers });
});
