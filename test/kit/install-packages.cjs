/*
 * A filter of Jest. Some tests need packages that are no dependency of the product: client libraries, a web application.
 * It installs them from their own lock files before such tests run. Where that fails, it skips these tests and says so.
 */
const { spawnSync } = require('node:child_process');
const { existsSync, statSync } = require('node:fs');
const { join, relative, sep } = require('node:path');

const ROOT = join(__dirname, '../..');
/** The folder of packages, by the folder of tests. */
const FOLDERS = {
  'test/clients': 'test/clients',
  'test/federation': 'test/federation',
  'test/kubernetes': 'test/kubernetes',
  'test/web': 'examples/web',
};

module.exports = async (paths) => {
  const { startProgress } = await import('../../tools/progress.mjs');
  const missing = Object.keys(FOLDERS)
    .map((tests) => ({ tests: join(ROOT, tests) + sep, packages: join(ROOT, FOLDERS[tests]) }))
    .filter(({ tests, packages }) => paths.some((path) => path.startsWith(tests)) && !has(packages));
  const progress = startProgress(missing.length);
  const skipped = missing.filter(({ packages }) => {
    progress.step(`install the packages of ${relative(ROOT, packages)}`);
    return !install(packages);
  });
  progress.end();
  return { filtered: paths.filter((path) => !skipped.some(({ tests }) => path.startsWith(tests))) };
};

/** Whether the packages of a folder are installed. */
function has(folder) {
  const [lock, installed] = ['package-lock.json', 'node_modules/.package-lock.json'].map((name) => join(folder, name));
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs;
}

/** Returns whether it was possible. */
function install(folder) {
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder];
  const { status, stderr } = spawnSync('npm', args, { encoding: 'utf8', shell: process.platform === 'win32' });
  if (status !== 0)
    process.stderr.write(`Skipped: the tests that need the packages of ${folder}. npm ci failed:\n${stderr}\n`);
  return status === 0;
}
