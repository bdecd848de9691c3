import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';

/*
 * docs/clients.md says nothing that no test runs. Each block of code is a file below test/clients/, or a region of one, that
 * the tests there import; each command is a script or a dependency of its package.json.
 */

const ROOT = new URL('../', import.meta.url);
const CLIENTS = new URL('test/clients/', ROOT);
const read = (path: string, from = ROOT) => readFileSync(new URL(path, from), 'utf8');

const book = read('docs/clients.md');
const blocks = [...book.matchAll(/^```(?<language>\w*)\n(?:\/\/ (?<file>\S+)\n)?(?<text>.*?)^```$/gms)].map(
  ({ groups }) => ({
    language: groups?.['language'] ?? '',
    file: groups?.['file'] ?? '',
    text: groups?.['text'] ?? '',
  }),
);
const snippets = blocks.filter(({ language }) => language !== 'sh');
const commands = blocks.filter(({ language }) => language === 'sh').flatMap(({ text }) => text.trim().split('\n'));

/** A file, or what stands between `// #region name` and `// #endregion name`, without its indentation. */
function contentOf(file: string): string {
  const [path = '', region] = file.split('#');
  const text = read(path, CLIENTS);
  if (region === undefined) return text;
  const [, content] = new RegExp(`^ *// #region ${region}\n(.*?)^ *// #endregion ${region}$`, 'ms').exec(text) ?? [];
  if (content === undefined) throw new Error(`${path} has no region ${region}`);
  const indent = /^ */.exec(content)?.[0] ?? '';
  return `${content.replaceAll(new RegExp(`^${indent}`, 'gm'), '').trimEnd()}\n`;
}

test('there are snippets and commands', () => {
  expect(snippets.length).toBeGreaterThanOrEqual(8);
  expect(commands.length).toBeGreaterThanOrEqual(3);
});

test.each(snippets)('$file is as it stands in the book', ({ file, text }) => {
  expect(text).toBe(contentOf(file));
});

describe('commands', () => {
  const { dependencies, devDependencies, scripts } = JSON.parse(read('package.json', CLIENTS));
  test.each(commands)('%s', (command) => {
    const [program, action, ...rest] = command.split(' ');
    if (`${program} ${action}` === 'npm run') {
      expect(JSON.parse(read('package.json')).scripts).toHaveProperty(rest[0] ?? '');
    } else if (`${program} ${action}` === 'npm install') {
      const packages = rest.filter((word) => !word.startsWith('-'));
      expect(packages.filter((name) => !(name in dependencies || name in devDependencies))).toEqual([]);
    } else {
      expect(Object.values(scripts)).toContain(command.replace(/^npx /, ''));
    }
  });
});

test('every file that the book shows is in a folder with a test, or is imported by one', () => {
  const folders = snippets.map(({ file }) => file.split('/')).filter((path) => path.length > 1);
  for (const [folder] of folders) expect(existsSync(new URL(`${folder}/${folder}.long.test.ts`, CLIENTS))).toBe(true);
});

test('the book is short: at most 250 lines', () => {
  expect(book.trimEnd().split('\n').length).toBeLessThanOrEqual(250);
});

test("the package's README is short: at most 120 lines", () => {
  expect(read('packages/client/README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(120);
});
