import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { newFolder } from '../kit/at-end.ts';

const REFUSED = [
  'export const pick = (random = Math.random) => random();',
  'export const isKey = (given: string, apiKey: string) => given === apiKey;',
  'export const isNot = (given: string, { secretKey }: { secretKey: string }) => secretKey !== given;',
  'export const isSame = (given: string, value: object) => reveal(value) === given;',
  'export const isHash = (given: string, config: { digest: string }) => config.digest == given;',
];
const ALLOWED = [
  'export const isAbsent = (secret: string | undefined) => secret === undefined;',
  "export const isKind = (key: { kind: string }) => key.kind === 'secret';",
  'export const isEqual = (digest: Buffer, given: Buffer) => timingSafeEqual(digest, given);',
];

test.each(['src', 'packages/reference/src'])('Math.random and === with a secret are refused in %s', (path) => {
  const folder = newFolder();
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  for (const part of ['biome.json', 'tools/lint']) cpSync(part, join(folder, part), { recursive: true });
  mkdirSync(join(folder, path), { recursive: true });
  const lines = [...REFUSED, ...ALLOWED];
  writeFileSync(join(folder, path, 'example.ts'), lines.join('\n'));
  const args = ['node_modules/@biomejs/biome/bin/biome', 'lint', '--reporter=github', path];
  const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  const found = [...stdout.matchAll(/title=plugin,file=[^,]*,line=(\d+)/g)].map(([, line]) => lines[Number(line) - 1]);
  expect(new Set(found)).toEqual(new Set(REFUSED));
});

test('Git for Windows checks files out as they are, with LF', () => {
  const folder = newFolder();
  const git = (...args: string[]) => spawnSync('git', ['-c', 'core.autocrlf=true', ...args], { cwd: folder });
  const script = join(folder, 'run');
  writeFileSync(script, '#!/usr/bin/env bash\ntrue\n');
  cpSync('.gitattributes', join(folder, '.gitattributes'));
  git('init');
  git('add', '.');
  rmSync(script);
  git('checkout', '--', 'run');
  expect(readFileSync(script, 'utf8')).toBe('#!/usr/bin/env bash\ntrue\n');
});
