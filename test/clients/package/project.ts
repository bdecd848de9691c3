import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { newFolder } from '../../kit/at-end.ts';

/* Projects of users: a folder in which npm installed the packed package. */

export const run = promisify(execFile);
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
export const PACKAGE = `${ROOT}packages/client`;
const TOOLS = fileURLToPath(new URL('tools/', import.meta.url));
/** What every `npm install` of these tests has. Tests share npm's cache. */
export const INSTALL = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];

export const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

/** Makes the file of the package, which is built already. Of a folder, npm would not compare the peers. */
export async function pack() {
  const folder = newFolder();
  const options = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const { stdout } = await run('npm', options, { cwd: PACKAGE });
  const [{ filename, files }] = JSON.parse(stdout.slice(stdout.indexOf('[')));
  return { packed: `file:${folder}/${filename}`, files: files.map(({ path }: { path: string }) => path) as string[] };
}

/** The code of the documents for users, by the name of its file: blocks that begin with such a name. */
export function documented(): Record<string, string> {
  const texts = [`${PACKAGE}/README.md`, `${ROOT}docs/frameworks.md`].map((path) => readFileSync(path, 'utf8'));
  const blocks = [...texts.join('\n').matchAll(/^```tsx?\n\/\/ (\S+\.tsx?)\n(.*?)^```$/gms)];
  return Object.fromEntries(blocks.map(([, file = '', text = '']) => [file, text]));
}

/** Writes files, by their paths in a folder. */
export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
}

/** A project with the packed package and some of the tools of `tools/package.json`, in the versions of its lock file. */
export async function newProject(packed: string, tools: readonly string[], files: Readonly<Record<string, string>>) {
  const folder = newFolder();
  const versions = readJson(`${TOOLS}package.json`).dependencies;
  const dependencies = Object.fromEntries(tools.map((name) => [name, versions[name] ?? 'missing']));
  const ofProject = { private: true, dependencies: { ...dependencies, '@referral-gateway/client': packed } };
  writeFiles(folder, { ...files, 'package.json': JSON.stringify(ofProject) });
  copyFileSync(`${TOOLS}package-lock.json`, join(folder, 'package-lock.json'));
  await run('npm', INSTALL, { cwd: folder });
  /** Runs a program of the project. Resolves to what it printed, rejects with it. */
  const runThere = (name: string, args: readonly string[], env: Record<string, string> = {}) =>
    run(join(folder, 'node_modules/.bin', name), [...args], {
      cwd: folder,
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], NO_COLOR: '1', CI: 'true', ...env },
    }).then(
      ({ stdout, stderr }) => stdout + stderr,
      ({ stdout, stderr, message }) => {
        throw new Error(`${message}\n${stdout}${stderr}`);
      },
    );
  return { folder, runThere };
}
