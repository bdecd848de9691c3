/*
 * Prints the test files that failed, from Jest's JSON report: node test/kit/failed-files.mjs REPORT.json
 * Exits with 1 when there is no report, no failed file, or more of them than a busy machine explains.
 */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const MAX_FILES = 3;

const { testResults } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const failed = testResults.filter(({ status }) => status === 'failed').map(({ name }) => relative('.', name));
if (failed.length === 0 || failed.length > MAX_FILES) process.exitCode = 1;
else console.log(failed.join(' '));
