import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BIOME = join(ROOT, 'node_modules/@biomejs/biome/bin/biome');

const REFUSED = [
  'export const jitter = Math.random();',
  'export const pick = (random = Math.random) => random();',
  'export const isKey = (given: string, apiKey: string) => given === apiKey;',
  'export const isNot = (given: string, { secretKey }: { secretKey: string }) => secretKey !== given;',
  'export const isOne = (given: string, config: { secret: string }) => given === config.secret;',
  'export const isSame = (given: string, value: object) => reveal(value) === given;',
  'export const isToken = (given: string, token: string) => token !== given;',
  'export const isHash = (given: string, digest: string) => digest == given;',
];
const ALLOWED = [
  'export const isAbsent = (secret: string | undefined) => secret === undefined;',
  "export const isKind = (key: { kind: string }) => key.kind === 'secret';",
  'export const isEqual = (digest: Buffer, given: Buffer) => timingSafeEqual(digest, given);',
];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lint-'));
  await mkdir(join(folder, 'node_modules'));
  await symlink(join(ROOT, 'node_modules/@biomejs'), join(folder, 'node_modules/@biomejs'));
  for (const path of ['biome.json', 'tools/lint']) {
    await cp(join(ROOT, path), join(folder, path), { recursive: true });
  }
});
afterAll(() => rm(folder, { recursive: true }));

/** The lines of a file that the rule for secrets refuses, with the configuration of this repository. */
async function refusedIn(path: string, lines: readonly string[]): Promise<string[]> {
  await mkdir(join(folder, path, '..'), { recursive: true });
  await writeFile(join(folder, path), lines.join('\n'));
  const args = [BIOME, 'lint', '--reporter=github', path];
  const report = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, { cwd: folder }, (_error, stdout) => resolve(stdout));
  });
  const found = [...report.matchAll(/title=plugin,file=[^,]*,line=(\d+)/g)].map(([, line]) => lines[Number(line) - 1]);
  return [...new Set(found)].filter((line) => line !== undefined);
}

test.each(['src/example.ts', 'packages/reference/src/example.ts'])(
  'Math.random and === with a secret are refused in %s',
  async (path) => {
    expect(await refusedIn(path, [...REFUSED, ...ALLOWED])).toEqual(REFUSED);
  },
);
