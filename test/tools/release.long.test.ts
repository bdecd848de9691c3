import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';

test('version, changelog, schema, SBOM and package fit together; images are built where that is possible', () => {
  const { status, stdout, stderr } = spawnSync('node', ['tools/release-check.mjs'], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout.match(/^ok /gm)).toHaveLength(7);
});
