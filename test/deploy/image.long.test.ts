import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { atEnd, newFolder } from '../kit/at-end.ts';
import { post } from '../kit/post.ts';
import { startProcess } from '../kit/process.ts';
import { freePort } from '../kit/redis.ts';
import { until } from '../kit/until.ts';

/** Packages that the reference service alone needs. */
const REFERENCE_ALONE = ['libsql', 'pg', 'kysely'];
const IMPORTS = /^(?:.* from |import |.*\bimport\()"(\.{1,2}\/[^"]+\.js)"/gm;

/** The texts of a program's files, by where they are: what it begins with, and what that imports now or when it is wanted. */
function filesOf(program: URL, files = new Map<string, string>()): Map<string, string> {
  if (files.has(program.href)) return files;
  const text = readFileSync(program, 'utf8');
  files.set(program.href, text);
  for (const [, file = ''] of text.matchAll(IMPORTS)) filesOf(new URL(file, program), files);
  return files;
}

test('the gateway and the reference service share no file, and bundle and SBOM no package of the latter', () => {
  const files = filesOf(new URL('../../dist/main.js', import.meta.url));
  const reference = filesOf(new URL('../../dist/reference/main.js', import.meta.url));
  expect([...reference.keys()].filter((file) => !file.includes('/dist/reference/'))).toEqual([]);
  expect([...files.keys()].filter((file) => file.includes('/dist/reference/'))).toEqual([]);
  // A character beyond Latin-1 would double the memory of its file.
  expect([...files].filter(([, content]) => /[^\0-\xff]/.test(content)).map(([file]) => file)).toEqual([]);
  for (const name of REFERENCE_ALONE) {
    const imported = new RegExp(`^(?:import .*"${name}| *(?:// |")node_modules/${name}/)`, 'm');
    expect([...files.values()].join('\n')).not.toMatch(imported);
    expect([...reference.values()].join('')).toContain(name);
  }
  const sbom = JSON.parse(execFileSync('npm', ['run', '--silent', 'sbom'], { encoding: 'utf8' }));
  const named = sbom.components.map(({ name }: { name: string }) => name);
  expect(named).toContain('fastify');
  expect(REFERENCE_ALONE.filter((name) => named.includes(name))).toEqual([]);
});

test('the files of the image run as a gateway: dist, schema, assets and package.json alone; the health check knows it', async () => {
  const folder = newFolder();
  for (const part of ['dist', 'schema', 'assets', 'package.json']) {
    cpSync(part, join(folder, part), { recursive: true, filter: (path) => path !== 'dist/reference' });
  }
  // Redis and traces load more files.
  const more = { REDIS_URL: 'redis://127.0.0.1:1', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' };
  const env = { REST_BASE_URL: 'http://127.0.0.1:1', ...more };
  const gateway = await startProcess(env, [], join(folder, 'dist/main.js'));
  const licences = readFileSync(join(folder, 'dist/LICENSES.txt'), 'utf8');
  for (const name of ['fastify', 'graphql', 'ioredis', 'undici']) {
    expect(licences).toMatch(new RegExp(`^${name} \\d\\S+ \\(MIT\\)\n\n`, 'm'));
  }
  const { port: MANAGEMENT_PORT } = new URL(gateway.management);
  const command = /HEALTHCHECK [^\n]*\\\n\s+CMD \["node", (.*MANAGEMENT_PORT.*)\]/;
  const [, args = ''] = command.exec(readFileSync('deploy/Dockerfile', 'utf8')) ?? [];
  const checkHealth = () => spawnSync(process.execPath, JSON.parse(`[${args}]`), { env: { MANAGEMENT_PORT } }).status;
  expect((await post(gateway.url, { query: '{ __typename }' })).data).toEqual({ __typename: 'Query' });
  expect(checkHealth()).toBe(0);
  gateway.child.kill('SIGKILL');
  await gateway.ended;
  rmSync(folder, { recursive: true });
  expect(checkHealth()).toBe(1);
});

/** The commands of the health checks of both images and of compose: what Node evaluates. */
const CHECKS = [
  ...Array.from(readFileSync('deploy/Dockerfile', 'utf8').matchAll(/CMD \["node", "-e", "(http.+|fetch.+)"\]/g)),
  ...Array.from(readFileSync('deploy/compose.yaml', 'utf8').matchAll(/ -e,\n +"(.+)",$/gm)),
].map(([, script = '']) => script);

test('the health checks go around an egress proxy, and fail when the status is not 200', async () => {
  expect(CHECKS).toHaveLength(4);
  const asked: string[] = [];
  let status = 200;
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    response.writeHead(status).end();
  });
  const proxied: string[] = [];
  const proxy = createServer(({ url = '' }, response) => {
    proxied.push(url);
    response.end();
  });
  for (const one of [server, proxy]) {
    await once(one.listen(0, '127.0.0.1'), 'listening');
    atEnd(() => one.close());
  }
  const [port, proxyPort] = [server, proxy].map((one) => `${Object(one.address()).port}`);
  // Node 24 does what this variable says, in `fetch` and in the agent that `http` has by default.
  const HTTP_PROXY = `http://127.0.0.1:${proxyPort}`;
  const env = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY, REFERENCE_PORT: port, MANAGEMENT_PORT: port };
  const end = (script: string) =>
    new Promise((resolve) => {
      const own = script.replace(/(port: |127\.0\.0\.1:)4\d{3}/, `$1${port}`);
      execFile(process.execPath, ['-e', own], { env }, (error) => resolve(error?.code ?? 0));
    });
  const endAll = () => Promise.all(CHECKS.map(end));
  expect(await endAll()).toEqual([0, 0, 0, 0]);
  expect(asked.sort()).toEqual(['/healthz', '/readyz', '/readyz', '/readyz']);
  status = 503;
  expect(await endAll()).toEqual([1, 1, 1, 1]);
  server.close();
  server.closeAllConnections();
  expect(await endAll()).toEqual([1, 1, 1, 1]);
  expect(proxied).toEqual([]);
});

/** Docker with a daemon, or podman; test/deploy/engine.sh makes one. */
const engine = ['docker', 'podman'].find((command) => spawnSync(command, ['info']).status === 0);
const REFERENCE = {
  PUBLIC_URL: 'https://refer.example',
  ...{ REST_API_KEY: 'a-key', REST_SECRET_KEY: 'a-secret-key' },
  CONTACT_HASH_KEY: 'a-key-of-the-hashes-of-the-image-test',
};

/** What the images are built from, in a folder that only its owner may read. */
function contextWithUmask077(): string {
  const context = newFolder();
  const parts = readFileSync('.dockerignore', 'utf8').match(/(?<=^!).+/gm) ?? [];
  for (const part of [...parts, '.dockerignore', 'deploy/Dockerfile']) {
    cpSync(part, join(context, part), { recursive: true });
  }
  execFileSync('chmod', ['-R', 'go-rwx', context]);
  return context;
}

test('an image has files of its build stages alone, which make them readable whatever the modes of the checkout', () => {
  const stages = readFileSync('deploy/Dockerfile', 'utf8').split(/^(?=FROM )/m);
  const images = stages.filter((stage) => stage.includes('\nUSER 1000:1000\n'));
  expect(images).toHaveLength(2);
  for (const image of images) {
    for (const [, stage, path] of image.matchAll(/^COPY (?:--from=(\S+) )?(\S+)/gm)) {
      const built = stages.find((one) => one.startsWith(`FROM \${NODE_IMAGE} AS ${stage}\n`));
      // npm itself gives packages their modes.
      if (path?.endsWith('/node_modules')) continue;
      expect([path, built]).toEqual([path, expect.stringContaining('chmod -R a+rX')]);
    }
  }
});

(engine ? test : test.skip).each([
  ['gateway', 'MANAGEMENT_PORT', { REST_BASE_URL: 'https://rest.example', NODE_ENV: 'development', HOST: '127.0.0.1' }],
  ['reference', 'REFERENCE_PORT', REFERENCE],
])('the image of the %s is built and runs, read-only and not as root', async (target, portSetting, more) => {
  // OCI images have no HEALTHCHECK.
  const options = { encoding: 'utf8', env: { ...process.env, BUILDAH_FORMAT: 'docker' } } as const;
  const run = (...args: string[]) => execFileSync(engine ?? '', args, options).trim();
  const name = `referral-test-${target}:${process.pid}`;
  const context = contextWithUmask077();
  const file = join(context, 'deploy/Dockerfile');
  run('build', '--file', file, '--target', target, '--build-arg=REVISION=abc1234', '--tag', name, context);
  const port = await freePort();
  const env = { ...more, PORT: await freePort(), REFERENCE_OPERATOR_PORT: await freePort(), [portSetting]: port };
  const settings = Object.entries(env).map((entry) => `--env=${entry.join('=')}`);
  // The host's network: a bridge would need rules of its firewall, which an engine in a folder leaves behind.
  const safe = ['--read-only', '--network=host', '--cap-drop=ALL', '--security-opt=no-new-privileges'];
  const id = run('run', '--detach', ...safe, ...settings, name);
  try {
    await until(async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.status === 200);
    expect(run('exec', id, 'id', '-u')).toBe('1000');
    const [image] = JSON.parse(run('inspect', name));
    expect(JSON.stringify(image.Config.Healthcheck ?? image.Healthcheck)).toContain('http.get(');
    expect(JSON.stringify(image.Config.Labels)).toContain('abc1234');
    if (target === 'reference') {
      expect(run('exec', id, 'node', 'dist/main.js', 'backup')).toMatch('"/data/backups/reference-');
      expect(run('exec', id, 'ls', 'node_modules')).toContain('libsql');
    } else {
      expect(run('logs', id)).toContain('"revision":"abc1234"');
      expect(run('exec', id, 'ls').split('\n').sort()).toEqual(['assets', 'dist', 'package.json', 'schema']);
      expect(run('exec', id, 'ls', 'dist')).toMatch(/^LICENSES\.txt\n(?:.*\n)*smoke\.js$/m);
    }
  } finally {
    run('rm', '--force', '--volumes', id);
    run('rmi', '--force', name);
  }
});
