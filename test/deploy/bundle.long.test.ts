/* What `npm run build` has made. */
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

/** The texts of a program's files, by where they are: what it begins with, and what that imports now or when it is wanted. */
function filesOf(program: URL, files = new Map<string, string>()): Map<string, string> {
  if (files.has(program.href)) return files;
  const text = readFileSync(program, 'utf8');
  files.set(program.href, text);
  for (const [, file = ''] of text.matchAll(IMPORTS)) filesOf(new URL(file, program), files);
  return files;
}

const IMPORTS = /^(?:.* from |import |.*\bimport\()"(\.{1,2}\/[^"]+\.js)"/gm;

const files = filesOf(new URL('../../dist/main.js', import.meta.url));
const reference = filesOf(new URL('../../dist/reference/main.js', import.meta.url));

test('the gateway and the reference service share no file', () => {
  expect([...reference.keys()].filter((file) => !file.includes('/dist/reference/'))).toEqual([]);
  expect([...files.keys()].filter((file) => file.includes('/dist/reference/'))).toEqual([]);
});

test.each(['libsql', 'pg', 'kysely'])('the gateway has nothing of the package %s', (name) => {
  expect(modulesOf(name)).toEqual([]);
  expect([...files.values()].filter((text) => new RegExp(`^import .*"${name}`, 'm').test(text))).toEqual([]);
  expect([...reference.values()].join('')).toContain(name);
});

/** The modules of a package that stand in the gateway's files, as esbuild names each of them there. */
function modulesOf(name: string): string[] {
  const heading = new RegExp(`^ *(?:// |")node_modules/${name}/([^" ]+?\\.[cm]?js)\\b`, 'gm');
  const found = [...files.values()].flatMap((text) => [...text.matchAll(heading)]);
  return [...new Set(found.map(([, path = '']) => path))];
}

test.each(['graphql', 'graphql-jit', '@apollo/server'])(
  '%s is there in one form: what one copy makes is nothing to another',
  (name) => {
    const modules = modulesOf(name);
    expect(modules.length).toBeGreaterThan(5);
    const forms = modules.map((path) => path.replace(/(?<=^|\/)(?:cjs|esm)(?=\/)/, '').replace(/\.[cm]?js$/, ''));
    expect(forms.filter((form, place) => forms.indexOf(form) < place)).toEqual([]);
  },
);

test('no file of the gateway has a character beyond Latin-1, which would double its memory', () => {
  const doubled = [...files].filter(([, text]) => /[^\0-\xff]/.test(text)).map(([file]) => file);
  expect(doubled).toEqual([]);
});
