import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from '@jest/globals';
import { newFile } from '../kit/at-end.ts';

test('version, changelog, schema, SBOM and package fit together; images are built where that is possible', () => {
  const { status, stdout, stderr } = spawnSync('node', ['tools/release-check.mjs'], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout.match(/^ok /gm)).toHaveLength(7);
});

/** An engine for images that pulls and builds nothing. The image of nginx is so many days old, the others are of today. */
function engineWith(days: number) {
  const text = `#!/bin/sh
case "$1 $2 $*" in
  *nginx*) [ "$1" = image ] && date -u -d '${days} days ago' +%FT%TZ ;;
  "image inspect "*) date -u +%FT%TZ ;;
esac
exit 0`;
  const file = newFile('docker', text);
  chmodSync(file, 0o755);
  const env = { ...process.env, PATH: `${dirname(file)}:${process.env['PATH']}` };
  return spawnSync('node', ['tools/release-check.mjs'], { encoding: 'utf8', env });
}

test('a base image of 61 days is refused by its name; one of 59 days is not', () => {
  const [image] = /nginx:\S+/.exec(readFileSync('deploy/compose.yaml', 'utf8')) ?? [];
  expect(engineWith(61)).toMatchObject({
    ...{ status: 1, stderr: `FAILED  check base images: older than 60 days: ${image}\n` },
  });
  expect(engineWith(59)).toMatchObject({ status: 0, stderr: '' });
});
