import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

/*
 * The REST service, the key server, Redis and a proxy are 300 ms away, and one of their two families of addresses does not work.
 * test/process/far.mjs has the network and the cases.
 */

const ISOLATED = ['--mount', '--net', process.execPath];
const succeeds = (command: string, ...args: string[]) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;
const OPENS_DEVICE = 'open("/dev/net/tun", "r+b", 0)';
const problem =
  (!succeeds('unshare', ...ISOLATED, '-e', '') && 'network namespaces') ||
  (!succeeds('python3', '-c', OPENS_DEVICE) && 'Python and /dev/net/tun') ||
  (!succeeds('openssl', 'version') && 'openssl');
if (problem) console.warn(`This machine has no ${problem}: the test of a network that is far is skipped.`);

const ALL = { isReady: true, answered: [20, 20], isShared: true };

(problem ? test.skip : test)(
  'network namespace: where IPv4 or IPv6 is dropped or refused, all that the gateway needs is reached from 300 ms away',
  async () => {
    const { stdout } = await promisify(execFile)('unshare', [...ISOLATED, 'test/process/far.mjs']);
    const results = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const cases = [4, 6].flatMap((first) =>
      [4, 6].flatMap((broken) => ['drop', 'refuse'].map((policy) => ({ first, broken, policy }))),
    );
    expect(results).toEqual(cases.map((one) => ({ ...one, plain: ALL, TLS: ALL, 'TLS by a proxy': ALL })));
  },
);
