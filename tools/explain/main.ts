/*
 * `npm run explain -- FILE…` says what each operation of documents (`*.graphql`) and manifests (`*.json`) needs.
 * `npm run explain -- --check SDL FILE…` exits with 1 when an operation is not valid against a schema.
 */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { validate } from 'graphql';
import { reasonOf } from '../../src/errors.ts';
import { checkFiles } from './check.ts';
import { type Explanation, startExplaining } from './explain.ts';
import { type FileOperation, readFileOperations } from './operations.ts';

const USAGE =
  'usage: npm run explain -- [--check SDL] FILE…  (documents *.graphql, manifests *.json of any tool, with --check also folders)';

const operations = read();
if (operations.length > 0) await explain(operations);

/** The operations to explain; none when there is nothing to explain, or they cannot be read: then it has said why. */
function read(): FileOperation[] {
  try {
    const { values, positionals } = parseArgs({ options: { check: { type: 'string' } }, allowPositionals: true });
    if (positionals.length === 0) fail([USAGE]);
    else if (values.check === undefined) return positionals.flatMap(readFileOperations);
    else check(values.check, positionals);
  } catch (error) {
    fail([reasonOf(error)]);
  }
  return [];
}

function fail(messages: readonly string[]): void {
  for (const message of messages) console.error(message);
  process.exitCode = 1;
}

function check(sdl: string, files: readonly string[]): void {
  const problems = checkFiles(files, readFileSync(sdl, 'utf8'));
  if (problems.length > 0) fail(problems);
  else console.log(`Every operation is valid against ${sdl}.`);
}

async function explain(operations: readonly FileOperation[]): Promise<void> {
  const explaining = await startExplaining(pathToFileURL('schema/'));
  try {
    for (const of of operations) {
      const title = `${of.operation.name?.value ?? 'without a name'} (${of.operation.operation}, ${of.from})`;
      const [invalid] = validate(explaining.schema, of.document);
      if (invalid) fail([`${title}\n  not valid    ${invalid.message}`]);
      else console.log([title, ...describe(await explaining.explain(of), explaining.limits), ''].join('\n'));
    }
  } finally {
    await explaining.close();
  }
}

function describe(
  { calls, least, most, cost, scopes, deprecated, notCompiled, errors }: Explanation,
  limits: { complexity: number; upstreamCalls: number },
): string[] {
  const range = (from: number, to: number) => (from === to ? `${from}` : `${from} to ${to}`);
  const { least: low, most: high } = cost;
  const list = (names: readonly string[]) =>
    names.map((name) => (name === 'events:write' ? `${name}(:<name>)` : name)).join(' ') || 'none';
  return [
    `  REST calls   ${range(least, most)} (limit ${limits.upstreamCalls})`,
    ...Object.entries(calls).map(([name, count]) => `                 ${range(count.least, count.most)} × ${name}`),
    `  complexity   ${range(low.complexity, high.complexity)} (limit ${limits.complexity}); counts as ${range(low.operations, high.operations)} of the caller's operations`,
    `  scopes       own player: ${list(scopes.own)}`,
    `               another player: ${scopes.other ? list(scopes.other) : 'cannot be asked for'}`,
    ...[...scopes.inputs].map(([scope, fields]) => `               ${scope} to send ${fields.join(', ')}`),
    ...deprecated.map((message) => `  deprecated   ${message}`),
    `  compiled     ${notCompiled ? `no: ${notCompiled}` : 'yes, after 50 requests'}`,
    ...errors.map((message) => `  error        ${message}`),
  ];
}
