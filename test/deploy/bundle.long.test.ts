/* What `npm run build` has made. */
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

const IMPORTS = /^(?:.* from |import |.*\bimport\()"(\.{1,2}\/[^"]+\.js)"/gm;

/** The texts of a program's files, by where they are: what it begins with, and what that imports now or when it is wanted. */
function filesOf(program: URL, files = new Map<string, string>()): Map<string, string> {
  if (files.has(program.href)) return files;
  const text = readFileSync(program, 'utf8');
  files.set(program.href, text);
  for (const [, file = ''] of text.matchAll(IMPORTS)) filesOf(new URL(file, program), files);
  return files;
}

const files = filesOf(new URL('../../dist/main.js', import.meta.url));
const reference = filesOf(new URL('../../dist/reference/main.js', import.meta.url));
const text = [...files.values()].join('\n');

test('the gateway and the reference service share no file and no package that the reference service alone needs', () => {
  expect([...reference.keys()].filter((file) => !file.includes('/dist/reference/'))).toEqual([]);
  expect([...files.keys()].filter((file) => file.includes('/dist/reference/'))).toEqual([]);
  for (const name of ['libsql', 'pg', 'kysely']) {
    expect(text).not.toMatch(new RegExp(`^(?:import .*"${name}| *(?:// |")node_modules/${name}/)`, 'm'));
    expect([...reference.values()].join('')).toContain(name);
  }
});

test.each(['graphql', 'graphql-jit', '@apollo/server'])('%s is there once, not as CommonJS and ESM', (name) => {
  // esbuild writes the name of each module before it.
  const heading = new RegExp(`^ *(?:// |")node_modules/${name}/([^" ]+?)\\.[cm]?js\\b`, 'gm');
  const modules = [...new Set([...text.matchAll(heading)].map(([, path = '']) => path))];
  expect(modules.length).toBeGreaterThan(5);
  const forms = modules.map((path) => path.replace(/(?<=^|\/)(?:cjs|esm)(?=\/)/, ''));
  expect(forms.filter((form, place) => forms.indexOf(form) < place)).toEqual([]);
});

test('no file of the gateway has a character beyond Latin-1, which would double its memory', () => {
  expect([...files].filter(([, content]) => /[^\0-\xff]/.test(content)).map(([file]) => file)).toEqual([]);
});
