/*
 * Prints for each optional group of tests whether it ran, from Jest's JSON reports: node test/kit/groups.mjs REPORT.json…
 * Exits with 1 when a group was skipped on a machine that has what the group needs, and when any other test was skipped.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { delimiter } from 'node:path';

const runs = (command, ...args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;
const installed = (command) =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(`${folder}/${command}`));
const CHROMIUM = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  process.env.CHROMIUM ?? '',
];

/** `tests` matches the file and the title of each test of the group. */
const GROUPS = [
  { name: 'Redis', tests: /Redis|redis/, has: () => installed('redis-server') },
  { name: 'PostgreSQL', tests: /PostgreSQL/, has: () => listens(process.env.TEST_DATABASE_URL, 5432) },
  {
    name: 'browser',
    tests: /test\/web\/|browser\.long|Chromium/,
    has: () => CHROMIUM.some((path) => existsSync(path)),
  },
  { name: 'nginx', tests: /nginx/, has: () => installed('nginx') },
  { name: 'promtool', tests: /promtool/, has: () => installed('promtool') },
  {
    name: 'image',
    tests: /the image of the \w+ is built/,
    has: () => runs('buildah', 'version') || runs('docker', 'info'),
  },
  { name: 'client libraries', tests: /test\/clients\//, has: () => existsSync('test/clients/node_modules') },
  { name: 'federation gateway', tests: /supergraph\.long/, has: () => existsSync('test/federation/node_modules') },
];

const tests = process.argv
  .slice(2)
  .flatMap((path) =>
    JSON.parse(readFileSync(path, 'utf8')).testResults.flatMap(({ name, assertionResults }) =>
      assertionResults.map(({ fullName, status }) => ({ title: `${name} ${fullName}`, status })),
    ),
  );
const isSkipped = ({ status }) => status === 'pending' || status === 'skipped' || status === 'todo';
let failed = false;
const say = (isWrong, line) => {
  failed ||= isWrong;
  console.log(`ci: ${line}${isWrong ? ': FAILED' : ''}`);
};

for (const { name, tests: pattern, has } of GROUPS) {
  const own = tests.filter(({ title }) => pattern.test(title));
  const ran = own.filter((test) => !isSkipped(test)).length;
  const skipped = own.length - ran;
  if (ran > 0 && skipped === 0) say(false, `${name}: ran (${ran} tests)`);
  else if (await has())
    say(true, `${name}: ${skipped} tests skipped, ${ran} ran, though this machine has what they need`);
  else say(false, `${name}: skipped; this machine does not have it`);
}
const others = tests.filter((test) => isSkipped(test) && !GROUPS.some((group) => group.tests.test(test.title)));
for (const { title } of others) say(true, `skipped without a group: ${title}`);
console.log(`ci: Node ${process.version}; .github/workflows/ci.yml has the other versions`);
process.exitCode = failed ? 1 : 0;

/** Whether something listens where a URL says, on this machine without one. */
function listens(url, defaultPort) {
  const { hostname, port } = new URL(url ?? 'tcp://127.0.0.1');
  const socket = connect(Number(port || defaultPort), hostname);
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  }).finally(() => socket.destroy());
}
