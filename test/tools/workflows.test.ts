import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

/* What the workflows of `.github/` and the installs may do: a package or an action that was taken over gets no rights. */

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = join(ROOT, '.github/workflows');
const workflows = readdirSync(FOLDER).map((name): [string, string] => [name, readFileSync(join(FOLDER, name), 'utf8')]);

test.each(workflows)('%s has no rights but those of each job, actions by commit, and keeps no token', (_, text) => {
  expect(text).toMatch(/^permissions: \{\}$/m);
  const actions = [...text.matchAll(/uses: (\S+)/g)].map(([, action]) => action);
  expect(actions.length).toBeGreaterThan(0);
  for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
  const checkouts = [...text.matchAll(/uses: actions\/checkout@.*\n((?: {8,}.*\n)*)/g)].map(([, options]) => options);
  expect(checkouts.length).toBeGreaterThan(0);
  for (const options of checkouts) expect(options).toMatch(/^ +persist-credentials: false$/m);
});

test.each(['.', 'test/bench', 'test/clients', 'test/federation', 'test/mutation'])(
  'npm runs no script of a package that it installs in %s',
  (folder) => {
    expect(readFileSync(join(ROOT, folder, '.npmrc'), 'utf8')).toMatch(/^ignore-scripts=true$/m);
  },
);
