/*
 * `npm run mutation [-- PATH...]`: StrykerJS changes the program in many small ways, and for each change (a mutant) runs the tests
 * that reach it. A mutant that no test notices survives. It needs a test, or less code, or an entry with a reason in
 * survivors.json. Exits with 1 for a survivor without an entry, and for an entry whose mutant does not survive.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Stryker } from '@stryker-mutator/core';
import jest from '../jest.config.mjs';

/** By the start of a path (the first that fits), its tests. Tests that start the built program are not among them: it has no mutants. */
const TESTS = {
  'src/access/': ['test/access'],
  'src/rest/decode/': ['test/rest/decode', 'test/rest/decode-properties'],
  'src/rest/': ['test/rest'],
  'src/engine/': ['test/engine', 'test/limits/limits', 'test/hostile/hostile', 'test/graphql/errors'],
  'src/graphql/writes.ts': ['test/graphql/errors', 'test/graphql/idempotency', 'test/graphql/retryable'],
  'src/graphql/idempotency': ['test/graphql/idempotency', 'test/graphql/retryable'],
  'src/limits/': ['test/limits'],
  'src/player-id.ts': ['test/rest/paths', 'test/hostile/hostile', 'test/graphql/errors'],
  'packages/reference/src/': ['packages/reference/test'],
  'packages/client/src/': ['packages/client/test'],
};
const accepted = JSON.parse(readFileSync(new URL('survivors.json', import.meta.url), 'utf8'));
const local = (file) => fileURLToPath(new URL(file, import.meta.url));

/** Mutates these files with the tests of their part. Resolves to the mutants, each with its status. */
function run(mutate, tests) {
  const testMatch = tests.flatMap((path) => [`<rootDir>/${path}/**/*.test.ts`, `<rootDir>/${path}.test.ts`]);
  const own = {
    rootDir: undefined,
    testTimeout: 20_000,
    runner: local('runner.cjs'),
    testEnvironment: local('environment.cjs'),
  };
  const stryker = new Stryker({
    mutate,
    testRunner: 'jest',
    testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
    jest: { projectType: 'custom', config: { ...jest, ...own, testMatch } },
    ignorePatterns: ['docs', 'deploy', 'examples'],
    // Git, Biome and the tests leave dist/ out.
    tempDirName: 'dist/mutation',
    plugins: ['@stryker-mutator/*', local('reporter.mjs')],
    reporters: [process.stderr.isTTY ? 'line' : 'progress-append-only'],
    // Most texts are for people.
    mutator: { excludedMutations: ['StringLiteral'] },
    concurrency: 1,
    // Jest keeps memory of each run, and a gateway refuses work when memory is short.
    maxTestRunnerReuse: 10,
    timeoutMS: 15_000,
    dryRunTimeoutMinutes: 20,
    warnings: { slow: false },
  });
  return stryker.runMutationTest();
}

/** What survivors.json says of a mutant: its line before and after, without a number that every edit above would change. */
function describe({ fileName, location: { start, end }, replacement }) {
  const lines = readFileSync(fileName, 'utf8').split('\n');
  const [first = '', last = ''] = [lines[start.line - 1], lines[end.line - 1]];
  const mutant = first.slice(0, start.column - 1) + replacement + last.slice(end.column - 1);
  return { line: first.trim(), mutant: mutant.replace(/\s+/g, ' ').trim() };
}
const keyOf = ({ line, mutant }) => `${line} → ${mutant}`;

/** Prints the result of a file. Returns whether its survivors are those that are accepted. */
function judge(file, mutants) {
  const count = (...statuses) => mutants.filter(({ status }) => statuses.includes(status)).length;
  const detected = `${count('Killed', 'RuntimeError')} killed, ${count('Timeout')} timed out`;
  const survivors = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  console.log(`${file}: ${detected}, ${survivors.length} survived`);
  const entries = accepted[file] ?? [];
  const keys = new Set(survivors.map((one) => keyOf(describe(one))));
  const unknown = survivors.filter((one) => !entries.some((entry) => keyOf(entry) === keyOf(describe(one))));
  const needless = entries.filter((entry) => !keys.has(keyOf(entry)));
  for (const one of unknown) {
    console.log(`  ${one.status}, line ${one.location.start.line}: ${JSON.stringify(describe(one))}`);
  }
  for (const entry of needless)
    console.log(`  survivors.json has it, but it does not survive: ${JSON.stringify(entry)}`);
  return unknown.length + needless.length === 0;
}

const asked = process.argv.slice(2).map((path) => relative('.', path));
const began = performance.now();
const files = ['src', 'packages/reference/src', 'packages/client/src']
  .flatMap((folder) => readdirSync(folder, { recursive: true }).map((path) => join(folder, path)))
  .filter((path) => /(?<!\.d)\.ts$/.test(path) && !path.includes('/generated/'));
const partOf = (file) => Object.keys(TESTS).find((part) => file.startsWith(part));
const gone = Object.keys(accepted).filter((file) => !files.includes(file));
for (const file of gone) console.log(`survivors.json names ${file}, which does not exist`);
let isGood = gone.length === 0;
let mutated = 0;
for (const [part, tests] of Object.entries(TESTS)) {
  const isAsked = (file) => asked.length === 0 || asked.some((path) => `${file}/`.startsWith(`${path}/`));
  const chosen = files.filter((file) => partOf(file) === part && isAsked(file)).sort();
  if (chosen.length === 0) continue;
  // One by one, so that a run that is ended has told of the files before.
  for (const file of chosen) isGood = judge(file, await run([file], tests)) && isGood;
  mutated += chosen.length;
}
if (mutated === 0) throw new Error(`No file of these is mutated: ${asked.join(' ')}`);
console.log(`mutation: ${mutated} files in ${Math.round((performance.now() - began) / 60_000)} min`);
process.exitCode = isGood ? 0 : 1;
