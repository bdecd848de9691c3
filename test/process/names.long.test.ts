import { execFileSync, spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';

/* The name of the REST service moves, or is slow or impossible to resolve. test/process/names.mjs has the network and the cases. */

const ISOLATED = ['--mount', '--net', process.execPath];
const mayIsolate = spawnSync('unshare', [...ISOLATED, '-e', ''], { stdio: 'ignore' }).status === 0;

(mayIsolate ? test : test.skip)(
  'network namespace: new connections follow the name, use all its addresses and avoid what was not reached; one look-up serves 50 reads',
  () => {
    const text = execFileSync('unshare', [...ISOLATED, 'test/process/names.mjs'], { encoding: 'utf8' });
    const results = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const [shared, avoided, refused, swallowed, redis, failing, ...slow] = results.slice(5, -3);
    // The age in the second case is 3 s, and what was looked up is used for 2 s.
    expect(results.slice(0, 5).filter(({ ms }) => !(ms < 5_000))).toEqual([]);
    expect(results.slice(0, 5)).toEqual(
      ['answers 503', 'answers well', 'has no route', 'is for another host', 'refuses'].map((how) => ({
        ...{ name: `the old address ${how}`, isWell: true, ms: expect.any(Number), isSlowWell: true },
      })),
    );
    // With one chance in two, fewer than 5 of 40 happen once in 10 million times.
    expect(shared).toEqual({ name: 'a name has two servers', isWell: true, least: expect.any(Number) });
    expect(shared.least).toBeGreaterThanOrEqual(5);
    // It would get every connection again, and where it swallows them, each would wait.
    expect(avoided).toEqual({ name: 'an address is not reached', isWell: true, requests: 0 });
    // One of the start, and one of the reads.
    expect(refused).toEqual({ name: 'TLS fails at an address', isWell: true, resets: expect.any(Number) });
    expect(refused.resets).toBeLessThanOrEqual(2);
    expect(swallowed).toEqual({ name: 'three addresses swallow what is sent', isWell: true, again: true });
    expect(redis).toEqual({ name: 'an address of Redis swallows what is sent', isWell: true });
    // What it said before is used.
    expect(failing).toEqual({ name: 'the name server fails', isWell: true });
    expect(slow).toEqual(
      ['a name server takes a second', 'it does so for the name of an egress proxy'].map((name) => ({
        ...{ name, answered: 50, queries: expect.any(Number) },
      })),
    );
    // One for each family of addresses and time to live, not one for each of 50 connections.
    for (const { queries } of slow) expect(queries).toBeLessThanOrEqual(3);
    expect(results.slice(-3)).toEqual([
      { name: 'an address of the egress proxy is not reached', isWell: true, tunnels: 0 },
      { name: 'the first name server is silent', isReady: true, isShared: true, mistakes: [] },
      { name: 'the name server fails for IPv6', isReady: true, isWell: true },
    ]);
  },
);
