import { execFileSync, spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';

/* The name of the REST service moves, or is slow to resolve. test/process/names.mjs has the network and the cases. */

const ISOLATED = ['--mount', '--net', process.execPath];
const mayIsolate = spawnSync('unshare', [...ISOLATED, '-e', ''], { stdio: 'ignore' }).status === 0;

(mayIsolate ? test : test.skip)(
  'network namespace: new connections follow the name and avoid what was not reached; one look-up serves 50 reads',
  () => {
    const text = execFileSync('unshare', [...ISOLATED, 'test/process/names.mjs'], { encoding: 'utf8' });
    const [failing, well, avoided, slow] = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(failing).toEqual({ name: 'the old address answers 503', isWell: true, ms: expect.any(Number) });
    expect(well).toEqual({ name: 'the old address answers well', isWell: true, ms: expect.any(Number) });
    // It would get every connection again, and where it swallows them, each would wait.
    expect(avoided).toEqual({ name: 'an address is not reached', isWell: true, requests: 0 });
    expect(slow).toMatchObject({ answered: 50 });
    // One for each family of addresses and time to live, not one for each of 50 connections.
    expect(slow.queries).toBeLessThanOrEqual(3);
  },
);
