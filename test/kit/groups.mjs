/*
 * Prints for each optional group of tests whether it ran, from Jest's JSON reports: node test/kit/groups.mjs REPORT.json…
 * Exits with 1 when a group was skipped on a machine that has what the group needs, and when any other test was skipped.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { delimiter } from 'node:path';

const runs = (command, ...args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;
const isInstalled = (command) =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(`${folder}/${command}`));
const hasChromium = () =>
  existsSync(process.env.CHROMIUM ?? '') ||
  ['chromium', 'chromium-browser', 'google-chrome'].some((name) => existsSync(`/usr/bin/${name}`));

const hasIpv6 = () => Object.values(networkInterfaces()).some((ones) => ones.some(({ address }) => address === '::1'));

/** By name, what matches the file and the title of each test of the group, and whether this machine has what it needs. */
const GROUPS = {
  Redis: [/^(?!.*Redis with TLS).*(?:Redis|redis)/, () => isInstalled('redis-server')],
  'Redis with TLS': [
    /Redis with TLS/,
    () => runs('sh', '-c', 'openssl version && redis-cli --help 2>&1 | grep -- --tls'),
  ],
  PostgreSQL: [/PostgreSQL/, () => listens(process.env.TEST_DATABASE_URL, 5432)],
  browser: [/test\/web\/|browser\.long|Chromium/, hasChromium],
  nginx: [/nginx/, () => isInstalled('nginx')],
  promtool: [/promtool/, () => isInstalled('promtool')],
  Prometheus: [/prometheus\.long/, () => isInstalled('prometheus')],
  IPv6: [/ipv6\.test/, hasIpv6],
  image: [/the image of the \w+ is built/, () => runs('docker', 'info') || runs('podman', 'info')],
  jq: [/docs\/operations\.test/, () => isInstalled('jq')],
  certificates: [/openssl/, () => runs('openssl', 'version')],
  'network namespace': [/network namespace/, () => runs('unshare', '--mount', '--net', 'true')],
  'client libraries': [/test\/clients\//, () => existsSync('test/clients/node_modules')],
  'types of Kubernetes': [/test\/kubernetes\//, () => existsSync('test/kubernetes/node_modules')],
  'federation gateway': [/supergraph\.long/, () => existsSync('test/federation/node_modules')],
};

const tests = process.argv
  .slice(2)
  .flatMap((path) =>
    JSON.parse(readFileSync(path, 'utf8')).testResults.flatMap(({ name, assertionResults }) =>
      assertionResults.map(({ fullName, status }) => ({ title: `${name} ${fullName}`, status })),
    ),
  );
const isSkipped = ({ status }) => status === 'pending' || status === 'skipped' || status === 'todo';
const say = (isWrong, line) => {
  if (isWrong) process.exitCode = 1;
  console.log(`ci: ${line}${isWrong ? ': FAILED' : ''}`);
};

for (const [name, [pattern, isPossible]] of Object.entries(GROUPS)) {
  const own = tests.filter(({ title }) => pattern.test(title));
  const skipped = own.filter(isSkipped).length;
  const ran = own.length - skipped;
  if (ran > 0 && skipped === 0) say(false, `${name}: ran (${ran} tests)`);
  else if (!(await isPossible())) say(false, `${name}: skipped; this machine does not have it`);
  else say(true, `${name}: ${skipped} tests skipped, ${ran} ran, though this machine has what they need`);
}
const others = tests.filter(
  (test) => isSkipped(test) && !Object.values(GROUPS).some(([pattern]) => pattern.test(test.title)),
);
for (const { title } of others) say(true, `skipped without a group: ${title}`);
console.log(`ci: Node ${process.version}; .github/workflows/ci.yml has the other versions`);

/** Whether something listens where a URL says, on this machine without one. */
function listens(url, defaultPort) {
  const { hostname, port } = new URL(url ?? 'tcp://127.0.0.1');
  const socket = connect(Number(port || defaultPort), hostname);
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  }).finally(() => socket.destroy());
}
