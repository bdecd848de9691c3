import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { newFile } from '../kit/at-end.ts';
import { SETTINGS } from '../kit/upstream.ts';
import { ask, start, upstream } from './setup.ts';

/* What the built program does in place of serving. */

const run = (args: string[], env: Record<string, string> = {}) => {
  const options = { env: { ...SETTINGS, ...env }, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['dist/main.js', ...args], options);
  return { status, stdout, stderr };
};

const JWT = { JWT_ISSUER: 'https://login.example', JWT_AUDIENCE: 'gateway' };

test('--check prints each setting and where it came from, no secret, and what the files hold', () => {
  const JWT_SECRET_FILE = newFile('secret', 'a-secret-of-a-test-with-many-bytes');
  const PERSISTED_OPERATIONS_FILE = newFile('operations.json', {
    'a-1': '{ me { id } }',
    'a-2': 'query B { me { id } }',
  });
  const { status, stdout } = run(['--check'], {
    ...{ ...JWT, JWT_SECRET_FILE, PERSISTED_OPERATIONS_FILE, PERSISTED_OPERATIONS: 'log', MAX_DEPTH: '7' },
    REST_BASE_URL: 'http://127.0.0.1:1',
  });
  expect(status).toBe(0);
  const lines = stdout.split('\n');
  expect(lines[0]).toMatch(/^referral-gateway \d+\.\d+\.\d+, Node v/);
  expect(lines).toEqual(
    expect.arrayContaining([
      'MAX_DEPTH: "7" (variable)',
      'MAX_TOKENS: default',
      expect.stringMatching(/^JWT_SECRET: \[sha256 [0-9a-f]{6}\] \(JWT_SECRET_FILE\)$/),
      'operations in manifests: 2',
      'client tokens: none',
      'The configuration can be used.',
    ]),
  );
  expect(stdout).not.toMatch(/secret-of-a-test|key-for-tests/);
});

test('--check ends with 1 and names what is wrong, also in a manifest', () => {
  const wrong = run(['--check'], { MAX_DEPTH: 'seven', NODE_ENV: 'production', REDIS_ULR: 'x' });
  expect([wrong.status, wrong.stdout]).toEqual([1, '']);
  expect(wrong.stderr).toMatch(/MAX_DEPTH: must be a whole number/);
  expect(wrong.stderr).toMatch(/REDIS_ULR: is no setting; did you mean REDIS_URL\?/);
  const PERSISTED_OPERATIONS_FILE = newFile('operations.json', { 'a-1': '{ nobody { id } }' });
  const manifest = run(['--check'], { PERSISTED_OPERATIONS: 'log', PERSISTED_OPERATIONS_FILE });
  expect([manifest.status, manifest.stderr]).toEqual([1, expect.stringContaining('Cannot query field')]);
});

test('--check reads a manifest with the schema that the gateway would serve: that of a subgraph with FEDERATION', () => {
  const entities = 'query Reviews($all: [_Any!]!) { _entities(representations: $all) { ... on Player { id } } }';
  const PERSISTED_OPERATIONS_FILE = newFile('operations.json', { 'r-1': entities });
  const env = { PERSISTED_OPERATIONS: 'log', PERSISTED_OPERATIONS_FILE, REST_BASE_URL: 'http://127.0.0.1:1' };
  expect(run(['--check'], { ...env, FEDERATION: 'true' })).toMatchObject({ status: 0, stderr: '' });
  const alone = run(['--check'], env);
  expect([alone.status, alone.stderr]).toEqual([1, expect.stringContaining('Unknown type "_Any"')]);
});

test('--name prints the name that a player has in the log; other arguments are refused with the usage', async () => {
  const LOG_KEY = 'a-key-for-the-log-of-a-test';
  const gateway = await start({ LOG_KEY, SLOW_OPERATION_MS: '1' });
  upstream.on('GET /player', { status: 500 });
  await ask(gateway, 'player-who-complains');
  const name = run(['--name', 'player-who-complains'], { LOG_KEY }).stdout.trim();
  expect(name).toMatch(/^hmac:[0-9a-f]{16}$/);
  expect(gateway.output()).not.toContain('player-who-complains');
  expect(run(['--name', 'another-player'], { LOG_KEY }).stdout.trim()).not.toBe(name);
  for (const args of [['--nmae', 'p'], ['--name'], ['--check', 'now']]) {
    expect(run(args)).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('--check | --probe') });
  }
});

test('the line "ready" says what runs: version, settings that are not the default with their values, and secrets by fingerprints', async () => {
  const LOG_KEY_FILE = newFile('log-key', 'a-key-for-the-log-of-a-test\n');
  const PERSISTED_OPERATIONS_FILE = newFile('operations.json', { 'a-1': '{ me { id } }' });
  const NO_PROXY = '127.0.0.1';
  const HTTP_PROXY = 'http://user:pass-of-proxy@127.0.0.1:9';
  const env = { LOG_KEY_FILE, PERSISTED_OPERATIONS_FILE, NO_PROXY, HTTP_PROXY, MAX_TOKENS: '1000' };
  const gateway = await start({ ...env, REVISION: 'abc1234' });
  const line = await gateway.logged(({ msg }) => msg === 'ready');
  const six = expect.stringMatching(/^[0-9a-f]{6}$/);
  expect(line).toMatchObject({ revision: 'abc1234', node: process.version, operations: 1 });
  expect(line.version).toMatch(/^\d+\.\d+\.\d+$/);
  expect(line.fingerprints).toEqual({
    REST_API_KEY: six,
    REST_SECRET_KEY: six,
    LOG_KEY: hash('sha256', 'a-key-for-the-log-of-a-test').slice(0, 6),
  });
  // 1,000 is the default.
  expect(line.settings).toMatchObject({
    ...{ PORT: '0', NO_PROXY, PERSISTED_OPERATIONS_FILE },
    REST_API_KEY: `[sha256 ${line.fingerprints.REST_API_KEY}]`,
    HTTP_PROXY: expect.stringMatching(/^\[sha256 [0-9a-f]{6}\]$/),
  });
  expect(Object.keys(line.settings)).not.toContain('MAX_TOKENS');
  expect(gateway.output()).not.toMatch(/key-for-the-log|pass-of-proxy/);
});

test('a container that is smaller than the heap may get is a warning of --check and of the start', async () => {
  const small = 'data:text/javascript,process.constrainedMemory = () => 2 ** 27';
  const warning =
    /^the heap limit is above 90 % of the memory of the container: set NODE_OPTIONS=--max-old-space-size=77$/;
  const NODE_OPTIONS = `--import "${small.replaceAll(' ', '%20')}"`;
  const { stdout } = run(['--check'], { NODE_OPTIONS, REST_BASE_URL: 'http://127.0.0.1:1' });
  expect(stdout).toMatch(/^heap limit: \d+ MB; memory of the container: 128 MB$/m);
  expect(stdout).toMatch(new RegExp(`^WARNING: ${warning.source.slice(1)}`, 'm'));
  const gateway = await start({}, ['--import', small]);
  expect(await gateway.logged(({ level }) => level === 40)).toMatchObject({ msg: expect.stringMatching(warning) });
});

test.each([
  ['', 1_500],
  ['--network-family-autoselection-attempt-timeout=4000', 4_000],
])('with NODE_OPTIONS=%s every connection gives an address %d ms before it tries the next', (option, expected) => {
  const report = `import net from 'node:net';
    process.on('exit', () => console.error(net.getDefaultAutoSelectFamilyAttemptTimeout()));`;
  const NODE_OPTIONS = `${option} --import data:text/javascript,${encodeURIComponent(report)}`;
  const { stderr } = run(['--check'], { NODE_OPTIONS, REST_BASE_URL: 'http://127.0.0.1:1' });
  expect(Number(stderr)).toBe(expected);
});
