import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { post } from '../kit/gateway.ts';
import { startProcess } from '../kit/process.ts';
import { until } from '../kit/until.ts';
import { ROOT, read } from './files.ts';

const HEALTH_CHECK = /HEALTHCHECK [^\n]*\\\n\s+CMD \["node", (.*MANAGEMENT_PORT.*)\]/;

/** The exit code of the image's health check. */
async function checkHealth(managementPort: string): Promise<unknown> {
  const [, args = ''] = HEALTH_CHECK.exec(read('deploy/Dockerfile')) ?? [];
  const child = spawn(process.execPath, JSON.parse(`[${args}]`), { env: { MANAGEMENT_PORT: managementPort } });
  return (await once(child, 'exit'))[0];
}

test('the files of the image run as a gateway: dist, schema and package.json alone; the health check knows it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'image-'));
  const filter = (path: string) => !path.startsWith(join(ROOT, 'dist/reference'));
  for (const part of ['dist', 'schema', 'package.json']) {
    cpSync(join(ROOT, part), join(folder, part), { recursive: true, filter });
  }
  const gateway = await startProcess({ REST_BASE_URL: 'http://127.0.0.1:1' }, [], join(folder, 'dist/main.js'));
  const { port } = new URL(gateway.management);
  expect((await post(gateway.url, { query: '{ __typename }' })).data).toEqual({ __typename: 'Query' });
  expect(await checkHealth(port)).toBe(0);
  await gateway.kill();
  rmSync(folder, { recursive: true });
  expect(await checkHealth(port)).toBe(1);
});

test('the SBOM has no package that the reference service alone needs', () => {
  const own = JSON.parse(read('package.json')).dependencies;
  const { dependencies } = JSON.parse(read('packages/reference/package.json'));
  const sbom = JSON.parse(execFileSync('npm', ['run', '--silent', 'sbom'], { cwd: ROOT, encoding: 'utf8' }));
  const named = sbom.components.map(({ name }: { name: string }) => name);
  expect(named).toContain('fastify');
  expect(Object.keys(dependencies).filter((name) => !(name in own) && named.includes(name))).toEqual([]);
});

/** Docker with a daemon, or podman (with buildah). */
const engine = ['docker', 'podman'].find((command) => spawnSync(command, ['info']).status === 0);

(engine ? test : test.skip).each([
  ['gateway', 4001, { REST_BASE_URL: 'https://rest.example', NODE_ENV: 'development' }],
  ['reference', 4100, { PUBLIC_URL: 'https://refer.example', REST_API_KEY: 'a-key', REST_SECRET_KEY: 'a-secret-key' }],
])('the image of the %s is built and runs, read-only and not as root', async (target, port, env) => {
  const run = (...args: string[]) => execFileSync(engine ?? '', args, { cwd: ROOT, encoding: 'utf8' }).trim();
  const name = `referral-test-${target}:${process.pid}`;
  run('build', '--file', 'deploy/Dockerfile', '--target', target, '--tag', name, '.');
  const settings = Object.entries({ ...env, MANAGEMENT_HOST: '0.0.0.0' }).map((entry) => `--env=${entry.join('=')}`);
  const id = run('run', '--detach', '--read-only', '--publish', `127.0.0.1::${port}`, ...settings, name);
  try {
    const [address] = run('port', id, String(port)).split('\n');
    await until(() =>
      fetch(`http://${address}/readyz`).then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    expect(run('exec', id, 'id', '-u')).toBe('1000');
    expect(run('exec', id, 'sh', '-c', 'ls node_modules').includes('libsql')).toBe(target === 'reference');
  } finally {
    run('rm', '--force', '--volumes', id);
    run('rmi', '--force', name);
  }
});
