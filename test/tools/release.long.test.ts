import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { newFile, newFolder } from '../kit/at-end.ts';

/** Runs the checks. Programs of these names and texts are found before those of the machine. */
function check(programs: Record<string, string> = {}, CI = '') {
  const folder = newFolder();
  for (const [name, text] of Object.entries(programs)) chmodSync(newFile(name, `#!/bin/sh\n${text}`, folder), 0o755);
  const env = { ...process.env, CI, PATH: `${folder}:${process.env['PATH']}` };
  return spawnSync('node', ['tools/release-check.mjs'], { encoding: 'utf8', env });
}

test('version, changelog, schema, SBOM and package fit together; images are built where that is possible', () => {
  const { status, stdout, stderr } = check();
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout.match(/^(ok|SKIPPED) /gm)).toHaveLength(8);
});

test('what cannot be checked on this machine is SKIPPED, the last word; with CI=true it fails', () => {
  const { status, stdout, stderr } = check({ docker: 'exit 1', podman: 'exit 1' }, 'true');
  expect(stdout).toMatch(/^SKIPPED check base images: neither .+\nSKIPPED build images: neither .+$/m);
  expect(stdout).toMatch(/check base images, build images: SKIPPED\n$/);
  expect([status, stderr]).toEqual([1, 'FAILED  with CI=true no check may be skipped\n']);
});

/** An engine for images that pulls and builds nothing. The image of nginx is so many days old, the others are of today. */
const engineWith = (days: number) =>
  check({
    docker: `case "$1 $2 $*" in
  *nginx*) [ "$1" = image ] && date -u -d '${days} days ago' +%FT%TZ ;;
  "image inspect "*) date -u +%FT%TZ ;;
esac
exit 0`,
  });

test('a base image of 61 days is refused by its name; one of 59 days is not', () => {
  const [image] = /nginx:\S+/.exec(readFileSync('deploy/compose.yaml', 'utf8')) ?? [];
  expect(engineWith(61)).toMatchObject({
    ...{ status: 1, stderr: `FAILED  check base images: older than 60 days: ${image}\n` },
  });
  expect(engineWith(59)).toMatchObject({ status: 0, stderr: '' });
});

test('base images that cannot be pulled are SKIPPED, and the reason is printed', () => {
  const { status, stdout } = check({ docker: '[ "$1" != pull ] || { echo no way to the registry >&2; exit 125; }' });
  expect(stdout).toMatch(/^SKIPPED check base images: docker cannot pull \S+: no way to the registry$/m);
  expect(stdout).toMatch(/check base images: SKIPPED\n$/);
  expect(status).toBe(0);
});
