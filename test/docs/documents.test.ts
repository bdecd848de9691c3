import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ApolloServerErrorCode } from '@apollo/server/errors';
import { expect, test } from '@jest/globals';
import { isExecutableDefinitionNode, parse, validate } from 'graphql';
import { SCOPES } from '../../src/config/scopes.ts';
import { VARIABLES } from '../../src/config/variables.ts';
import { writtenFiles } from '../../tools/docs/files.ts';
import { markdownFiles, ROOT } from '../kit/markdown.ts';
import { schema } from '../kit/schema.ts';

/* The documents name nothing that the repository does not have: links, files, commands, settings and GraphQL are checked. */

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const scriptsIn = (folder: string) => JSON.parse(read(join(folder, 'package.json'))).scripts ?? {};
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found = '']) => found);

test.each(markdownFiles())(
  '%s: links lead to files, files and npm scripts that it names exist, GraphQL is valid',
  (path) => {
    const text = read(path);
    const prose = text.replace(/```.*?```/gs, '');
    const links = matches(prose, /\]\(([^)\s#]+)[^)\s]*\)/g).filter((target) => !/^(?:https?|mailto):/.test(target));
    const named = matches(prose, /`((?:src|schema|test|deploy|docs|examples|\.ci)\/[\w./-]*)`/g);
    // The changelog names files that are gone.
    const files = path === 'CHANGELOG.md' ? [] : named;
    const isThere = (file: string, folder = dirname(path)) => existsSync(join(ROOT, folder, file));
    expect(links.filter((link) => !isThere(link))).toEqual([]);
    // A package names its own files from its own folder; a block of code has the name of a file of the reader.
    const isOfReader = (file: string) => matches(text, /^(?:```\w+|\/\/) (\S+)$/gm).includes(file);
    expect(files.filter((file) => !isThere(file) && !isThere(file, '') && !isOfReader(file))).toEqual([]);
    const own = isThere('package.json') ? scriptsIn(dirname(path)) : {};
    const scripts = { ...scriptsIn(''), ...own };
    expect(matches(text, /npm run ([\w:-]+)/g).filter((name) => !(name in scripts))).toEqual([]);
    for (const snippet of matches(text, /```graphql\n(.*?)```/gs)) {
      const document = parse(snippet);
      // A piece of the schema can only be parsed.
      if (document.definitions.every(isExecutableDefinitionNode)) expect(validate(schema, document)).toEqual([]);
    }
  },
);

test.each(Object.entries(await writtenFiles()))('%s is what npm run docs writes', (path, text) => {
  expect(read(path)).toBe(text);
});

test('the settings in the README are declared', () => {
  const [, rows = ''] = read('README.md').split('| variable | default | meaning |');
  const named = matches(rows, /`([A-Z][A-Z0-9_]{3,})[`=]/g);
  expect(named.length).toBeGreaterThanOrEqual(10);
  expect(named.filter((name) => !(name in VARIABLES.shape))).toEqual([]);
});

test('every error code has a row in both tables of docs/errors.md, and no other', () => {
  // No client sees the first; the second is of servers without persisted queries.
  const unused = ['CANCELLED', 'PERSISTED_QUERY_NOT_SUPPORTED'];
  const ours = ['src/errors.ts', 'packages/client/src/generated/codes.ts'].map(read).join('\n');
  const codes = [...matches(ours, /^ +\| '([A-Z_]+)'/gm), ...Object.keys(ApolloServerErrorCode)];
  const ofClients = [...new Set(codes)].filter((code) => !unused.includes(code)).sort();
  const [, ...tables] = read('docs/errors.md').split(/^## /m);
  const rows = tables.map((table) => matches(table, /^\| (`.*?) \|/gm).flatMap((row) => matches(row, /`(\w+)`/g)));
  expect(rows.map((codesOfRows) => codesOfRows.sort())).toEqual([ofClients, ofClients]);
});

test("every scope has a row in docs/security.md; no recipe gives a player's own token the bare scope events:write", () => {
  const security = read('docs/security.md');
  for (const scope of SCOPES) expect(security).toContain(`\n| \`${scope}\` |`);
  const [own, ...others] = matches(security.split('## Token recipes')[1] ?? '', /^(\|.*\| JWT of the player.*)$/gm);
  expect(own).not.toMatch(/`events:write`|`figures:write`|`contacts:write`|`any-player`/);
  expect(others).toEqual([]);
});

/** A file below test/clients/, or what stands between `// #region name` and `// #endregion name`, without its indentation. */
function contentOf(file: string): string {
  const [path = '', region] = file.split('#');
  // The document shows the paths of a project whose node_modules is beside the file.
  const text = read(`test/clients/${path}`)
    .replaceAll('../node_modules/', 'node_modules/')
    .replaceAll("'../NoPlayer'", "'./NoPlayer'");
  if (region === undefined) return text;
  const [, indent = '', content = ''] =
    new RegExp(`^ *// #region ${region}\n( *)(.*?)\n *// #endregion ${region}$`, 'ms').exec(text) ?? [];
  return `${content.replaceAll(`\n${indent}`, '\n')}\n`;
}

const BLOCK = /^```(\w*)(?: (\S+))?\n(?:\/\/ (\S+)\n)?(.*?)^```$/gms;
const snippetsOf = (path: string) =>
  [...read(path).matchAll(BLOCK)].map(([, language, name = '', file = name, text = '']) => ({ language, file, text }));
// The other blocks of the package's README are compiled in an empty project, by a test of the package.
const inReadme = snippetsOf('packages/client/README.md')
  .map((snippet) => ({ ...snippet, file: snippet.file.replace(/^src\//, '') }))
  .filter(({ file }) => ['NoPlayer.tsx', 'texts.ts', 'handlers.ts', 'relay/Screen.tsx'].includes(file));
const snippets = [...inReadme, ...snippetsOf('docs/clients.md').filter(({ language }) => language !== 'sh')];
test.each(snippets)('$file is as it stands in the document', ({ file, text }) => expect(text).toBe(contentOf(file)));

test('the example tells errors with the same sentences as the README of the package', () => {
  expect(read('examples/web/src/texts.ts')).toBe(contentOf('texts.ts'));
});
