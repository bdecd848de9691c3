import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ApolloServerErrorCode } from '@apollo/server/errors';
import { describe, expect, test } from '@jest/globals';
import { isExecutableDefinitionNode, parse, validate } from 'graphql';
import { VARIABLES } from '../../src/config/variables.ts';
import { writtenFiles } from '../../tools/docs/files.ts';
import { schema } from '../kit/schema.ts';

/* The books say nothing that the repository does not have: links, files, commands, settings and GraphQL are checked. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const books = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
].map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));

function book(path: string): string {
  return books.find((one) => one.path === path)?.text ?? '';
}

function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, found = '']) => found);
}

describe.each(books)('$path', ({ path, text }) => {
  const prose = text.replace(/```.*?```/gs, '');

  test('every relative link leads to a file', () => {
    const targets = matches(prose, /\]\(([^)\s]+)\)/g).filter((target) => !/^(?:https?:|mailto:|#)/.test(target));
    const broken = targets.filter((target) => !existsSync(join(ROOT, dirname(path), target.replace(/#.*/, ''))));
    expect(broken).toEqual([]);
  });

  test('every file that it names exists', () => {
    const named = matches(prose, /`((?:src|schema|test|deploy|docs|examples|\.ci)\/[\w./-]*)`/g);
    expect(path === 'CHANGELOG.md' ? [] : named.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });

  test('every npm script that it names exists', () => {
    const { scripts }: { scripts: Record<string, string> } = JSON.parse(
      readFileSync(join(ROOT, 'package.json'), 'utf8'),
    );
    expect(matches(text, /npm run ([\w:-]+)/g).filter((name) => !(name in scripts))).toEqual([]);
  });

  test('every GraphQL snippet is valid', () => {
    for (const snippet of matches(text, /```graphql\n(.*?)```/gs)) {
      const document = parse(snippet);
      // A piece of the schema can only be parsed.
      if (document.definitions.every(isExecutableDefinitionNode)) expect(validate(schema, document)).toEqual([]);
    }
  });
});

const variables = Object.keys(VARIABLES.shape);

test.each(Object.entries(await writtenFiles()))('%s is what npm run docs writes', (path, text) => {
  expect(readFileSync(join(ROOT, path), 'utf8')).toBe(text);
});

test('the settings in the README are declared', () => {
  const [, rows = ''] = book('README.md').split('| variable | default | meaning |');
  const named = matches(rows, /`([A-Z][A-Z0-9_]{3,})[`=]/g);
  expect(named.length).toBeGreaterThanOrEqual(10);
  expect(named.filter((name) => !variables.includes(name))).toEqual([]);
});

test('every error code has a row in docs/errors.md, and no other', () => {
  const codesIn = (path: string) => matches(readFileSync(join(ROOT, path), 'utf8'), /^ +\| '([A-Z_]+)'/gm);
  const codes = [
    ...codesIn('src/errors.ts'),
    ...codesIn('packages/client/src/errors.ts'),
    ...Object.keys(ApolloServerErrorCode),
  ];
  const rows = matches(book('docs/errors.md'), /^\| (`.*?) \|/gm).flatMap((row) => matches(row, /`(\w+)`/g));
  // No client sees the first; the second is of servers without persisted queries.
  const unused = new Set(['CANCELLED', 'PERSISTED_QUERY_NOT_SUPPORTED']);
  expect(rows.sort()).toEqual([...new Set(codes)].filter((code) => !unused.has(code)).sort());
});

test('every scope has a row in docs/security.md', async () => {
  const { SCOPES } = await import('../../src/config/scopes.ts');
  for (const scope of SCOPES) expect(book('docs/security.md')).toContain(`\n| \`${scope}\` |`);
});

test("no recipe gives a player's own token the bare scope events:write", () => {
  const [, section = ''] = book('docs/security.md').split('## Token recipes');
  const own = matches(section, /^(\|.*)$/gm).filter((row) => /^\|.*JWT of the player/.test(row));
  expect(own).toHaveLength(1);
  for (const row of own) expect(row).not.toMatch(/`events:write`|`figures:write`|`any-player`/);
});
