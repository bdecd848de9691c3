import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { newFolder } from '../kit/at-end.ts';

type Entry = { link?: boolean; os?: string[]; cpu?: string[]; libc?: string[] };

/* Each package is one more to review and to update. What only a test needs has a lock file of its own: see CONTRIBUTING.md. */
test('npm ci installs at most 860 packages', () => {
  const { packages }: { packages: Record<string, Entry> } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  // Of packages that exist for each platform, one is installed: on Linux, x64, glibc as anywhere.
  const fits = ({ os, cpu, libc }: Entry) =>
    (os ?? ['linux']).includes('linux') && (cpu ?? ['x64']).includes('x64') && (libc ?? ['glibc']).includes('glibc');
  const installed = Object.entries(packages).filter(
    ([path, entry]) => path.includes('node_modules/') && !entry.link && fits(entry),
  );
  expect(installed.length).toBeGreaterThan(400);
  expect(installed.length).toBeLessThanOrEqual(860);
});

test.each([
  ['start', '--check', 'The configuration can be used.'],
  ['token', '--client tool --recipe support', '"name":"tool"'],
])('npm run %s runs what was built where a platform has removed the packages of development', (script, args, text) => {
  const folder = newFolder();
  for (const name of ['package.json', 'build.mjs', 'dist', 'schema', 'assets'])
    cpSync(name, join(folder, name), { recursive: true });
  const run = spawnSync('npm', ['run', script, '--', ...args.split(' ')], { cwd: folder, encoding: 'utf8' });
  expect(run.stdout + run.stderr).toContain(text);
});
