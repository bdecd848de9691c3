import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const REFUSED = [
  'export const jitter = Math.random();',
  'export const pick = (random = Math.random) => random();',
  'export const isKey = (given: string, apiKey: string) => given === apiKey;',
  'export const isNot = (given: string, { secretKey }: { secretKey: string }) => secretKey !== given;',
  'export const isOne = (given: string, config: { secret: string }) => given === config.secret;',
  'export const isSame = (given: string, value: object) => reveal(value) === given;',
  'export const isHash = (given: string, digest: string) => digest == given;',
];
const ALLOWED = [
  'export const isAbsent = (secret: string | undefined) => secret === undefined;',
  "export const isKind = (key: { kind: string }) => key.kind === 'secret';",
  'export const isEqual = (digest: Buffer, given: Buffer) => timingSafeEqual(digest, given);',
];

test('Math.random and === with a secret are refused in both programs', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lint-'));
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  for (const path of ['biome.json', 'tools/lint']) await cp(join(ROOT, path), join(folder, path), { recursive: true });
  const lines = [...REFUSED, ...ALLOWED];
  for (const path of ['src', 'packages/reference/src']) {
    await mkdir(join(folder, path), { recursive: true });
    await writeFile(join(folder, path, 'example.ts'), lines.join('\n'));
    const args = ['node_modules/@biomejs/biome/bin/biome', 'lint', '--reporter=github', path];
    const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
    const found = [...stdout.matchAll(/title=plugin,file=[^,]*,line=(\d+)/g)].map(([, line]) => Number(line) - 1);
    expect([...new Set(found)].sort((a, b) => a - b).map((index) => lines[index])).toEqual(REFUSED);
  }
  await rm(folder, { recursive: true });
});
