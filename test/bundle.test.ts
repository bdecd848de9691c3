/* What `npm run build` has made. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const DIST = fileURLToPath(new URL('../dist/', import.meta.url));
const programs = readdirSync(DIST).filter((file) => file.endsWith('.js'));

/** The modules of a package that stand in the programs, as esbuild names each of them there. */
function modulesOf(name: string): string[] {
  const heading = new RegExp(`^ *(?:// |")node_modules/${name}/([^" ]+?\\.[cm]?js)\\b`, 'gm');
  const found = programs.flatMap((file) => [...readFileSync(join(DIST, file), 'utf8').matchAll(heading)]);
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
