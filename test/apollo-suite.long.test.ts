import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';

/*
 * Runs Apollo's own integration tests (test/apollo-suite/suite.ts) in a Jest of their own, since they define their tests
 * themselves, and compares what failed with what is excused here. An excuse that is no longer needed fails too.
 */

const EXCUSED: [why: string, tests: string[]][] = [
  [
    'A body that is not announced as JSON in UTF-8 is answered 415, not 400.',
    ['CSRF prevention default', 'throws an error if POST body is empty', 'throws an error if invalid content-type'],
  ],
  [
    'Malformed JSON is told in words of the gateway: "The body is not valid JSON."',
    ['throws an error if POST JSON is malformed'],
  ],
  [
    'A batch of operations is refused in words of the gateway: "This gateway accepts one operation for each request".',
    [
      'applies cacheControl Headers for batched operation',
      'disables batch requests by default',
      'can handle batch requests',
      'can handle batch requests with one element',
      'returns an error on batch requests with no elements',
      'can handle batch requests in parallel',
      'clones batch context',
      'executes batch context if it is a function',
      'returns with batched persisted queries',
    ],
  ],
];

interface Outcome {
  fullName: string;
  status: 'passed' | 'failed' | 'pending';
}

const directory = await mkdtemp(join(tmpdir(), 'apollo-suite-'));
afterAll(() => rm(directory, { recursive: true }));

async function runSuite(): Promise<Outcome[]> {
  const file = join(directory, 'outcome.json');
  const jest = [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    'node_modules/jest/bin/jest.js',
    '--config=test/jest.config.mjs',
    '--testMatch=**/test/apollo-suite/suite.ts',
    '--json',
    `--outputFile=${file}`,
  ];
  // Its exit code says that some tests failed, which is looked at one by one.
  await new Promise((resolve) => execFile(process.execPath, jest, { maxBuffer: Number.POSITIVE_INFINITY }, resolve));
  const { testResults } = JSON.parse(await readFile(file, 'utf8'));
  return testResults[0].assertionResults;
}

test("Apollo's integration tests pass, but for those excused", async () => {
  const outcomes = await runSuite();
  const named = (status: Outcome['status']) => outcomes.filter((one) => one.status === status);
  const failed = named('failed').map(({ fullName }) => fullName);
  const excused = EXCUSED.flatMap(([, tests]) => tests);
  expect(failed.filter((name) => !excused.some((end) => name.endsWith(` ${end}`)))).toEqual([]);
  expect(excused.filter((end) => !failed.some((name) => name.endsWith(` ${end}`)))).toEqual([]);
  // Answers in several parts are none of this schema's.
  for (const { fullName } of named('pending')) expect(fullName).toMatch(/incremental delivery|with defer/);
  expect(named('passed').length).toBeGreaterThanOrEqual(227);
}, 120_000);
