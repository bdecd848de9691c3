import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

type Edit = { find: string; replace: string; tests: string[]; title?: string; survives?: string };

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const textOf = (path: string) => readFileSync(`${ROOT}/${path}`, 'utf8');
const groups: (Partial<Edit> & { file: string; edits: Edit[] })[] = JSON.parse(textOf('tools/mutants/edits.json'));
const edits = groups.flatMap(({ edits: list, ...group }) => list.map((edit) => ({ ...group, ...edit })));

test('each edit of the mutation run finds its text once in its file', () => {
  const wrong = edits.filter(({ file, find, replace }) => textOf(file).split(find).length !== 2 || find === replace);
  expect(wrong.map(({ file, find }) => `${file}: ${find}`)).toEqual([]);
});

test('the tests of each edit are there', () => {
  const files = ['test', 'packages/reference/test'].flatMap((folder) =>
    readdirSync(`${ROOT}/${folder}`, { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
  );
  const tests = files.filter((path) => path.endsWith('.test.ts') && !path.includes('node_modules'));
  const missing = edits.filter(({ tests: patterns, title = '' }) => {
    const found = patterns.map((pattern) => tests.filter((path) => path.includes(pattern)));
    return found.some(({ length }) => length === 0) || !found.flat().some((path) => textOf(path).includes(title));
  });
  expect(missing.map(({ find, tests: patterns, title }) => ({ find, patterns, title }))).toEqual([]);
});

test('docs/mutants.md lists each survivor with its reason, and no other', () => {
  const rows = [...textOf('docs/mutants.md').matchAll(/^\| `(.+?)` \| `(.+?)` \| (.+?) \|$/gm)];
  const survivors = edits.filter(({ survives }) => survives);
  expect(rows.map(([, ...row]) => row)).toEqual(survivors.map(({ file, find, survives }) => [file, find, survives]));
});
