/*
 * `npm run mutants [-- TEXT...]`: whether the tests notice when the program is changed. docs/mutants.md describes it.
 *
 * A group of edits.json has a file, the tests that must notice (parts of their paths, perhaps of a title), and edits: a text that
 * occurs once in the file, its replacement and, for one that is expected to survive, the reason. With TEXTs, only groups whose
 * file contains one of them are run. The exit code is 1 when an edit is not as expected, or when the tests fail without one.
 */
import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** After this time, a run counts as failed: some edits make an endless loop. */
const RUN_TIMEOUT_MS = 600_000;
/** The reference service is tested on SQLite alone, in half the time. */
const WITHOUT_POSTGRES = { TEST_DATABASE_URL: 'postgres://127.0.0.1:1/none' };
const JEST = [
  ...['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'],
  ...['--config', 'test/jest.config.mjs', '--forceExit'],
];

/** Runs Node in the copy. Returns whether it succeeded. */
function node(cwd, args, env = {}) {
  const limits = { timeout: RUN_TIMEOUT_MS, killSignal: 'SIGKILL', stdio: 'ignore' };
  const options = { cwd, env: { ...process.env, ...WITHOUT_POSTGRES, ...env }, ...limits };
  return spawnSync(process.execPath, args, options).status === 0;
}

/** The tree without what is built, and a link to the packages that are installed. */
async function copyTree() {
  const copy = await mkdtemp(join(tmpdir(), 'mutants-'));
  await cp(ROOT, copy, { recursive: true, filter: (path) => !/\/(?:node_modules|dist|\.git)$/.test(path) });
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Whether one of these tests starts the built program. */
async function startsProgram(copy, tests) {
  const paths = await readdir(join(copy, 'test'), { recursive: true });
  const chosen = paths.filter((path) => path.endsWith('.ts') && tests.some((test) => `test/${path}`.includes(test)));
  const texts = await Promise.all(chosen.map((path) => readFile(join(copy, 'test', path), 'utf8')));
  return texts.some((text) => /kit\/(?:demo|process|reference)\.ts|'\.\/setup\.ts'/.test(text));
}

/** Runs tests in the copy. Resolves to the title of one that failed; undefined when none did. */
async function firstFailure(copy, tests, title = '') {
  if ((await startsProgram(copy, tests)) && !node(copy, ['build.mjs'])) throw new Error('the build failed');
  const report = join(copy, 'report.json');
  await rm(report, { force: true });
  const options = ['--testTimeout', '20000', '--json', '--outputFile', report, '-t', title];
  const isLong = tests.some((pattern) => pattern.includes('.long.'));
  const succeeded = node(copy, [...JEST, ...options, ...tests], isLong ? { TEST_TIER: 'long' } : {});
  const result = JSON.parse(await readFile(report, 'utf8').catch(() => 'null'));
  if (!result) return `no result within ${RUN_TIMEOUT_MS / 1_000} s`;
  if (result.numTotalTestSuites === 0) throw new Error(`no test file for ${tests.join(' ')}`);
  if (succeeded) return undefined;
  const failed = result.testResults.flatMap(({ assertionResults }) => assertionResults);
  return failed.find(({ status }) => status === 'failed')?.fullName ?? 'a test file cannot be run';
}

/** Makes one edit, runs the tests, and takes it back. */
async function tryEdit(copy, { file, tests, title, find, replace }) {
  const path = join(copy, file);
  const text = await readFile(path, 'utf8');
  if (text.split(find).length !== 2) throw new Error(`${file}: this text does not occur exactly once: ${find}`);
  const edited = text.replace(find, () => replace);
  await transform(edited, { loader: 'ts' });
  await writeFile(path, edited);
  try {
    return await firstFailure(copy, tests, title);
  } finally {
    await writeFile(path, text);
  }
}

const texts = process.argv.slice(2);
const groups = JSON.parse(await readFile(new URL('edits.json', import.meta.url), 'utf8'));
const edits = groups
  .filter(({ file }) => texts.length === 0 || texts.some((text) => file.includes(text)))
  .flatMap(({ edits: list, ...group }) => list.map((edit) => ({ ...group, ...edit })));
if (edits.length === 0) throw new Error(`No file of edits.json contains ${texts.join(' or ')}`);

const copy = await copyTree();
let [killed, unexpected] = [0, 0];
try {
  console.log(`mutants: ${edits.length} edits; first the tests without them, in ${copy}`);
  const failure = await firstFailure(copy, [...new Set(edits.flatMap(({ tests }) => tests))]);
  if (failure) throw new Error(`without an edit, this test fails: ${failure}`);
  for (const edit of edits) {
    const test = await tryEdit(copy, edit);
    if (test) killed += 1;
    const isExpected = Boolean(test) !== Boolean(edit.survives);
    if (!isExpected) unexpected += 1;
    const outcome = `${test ? `killed by "${test}"` : 'SURVIVED'}${isExpected ? '' : ' UNEXPECTEDLY'}`;
    console.log(`${edit.file}: ${edit.find} → ${edit.replace || '(nothing)'}: ${outcome}`);
  }
} finally {
  await rm(copy, { recursive: true });
}
console.log(`mutants: ${killed} of ${edits.length} killed, ${unexpected} unexpected`);
process.exitCode = unexpected > 0 ? 1 : 0;
