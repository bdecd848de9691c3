import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

/*
 * Each block of code in docs/clients.md is a file below test/clients/, or a region of one, which the tests there run. The
 * document shows the paths of a project whose node_modules is beside the file.
 */

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const BLOCK = /^```(\w*)(?: (\S+))?\n(?:\/\/ (\S+)\n)?(.*?)^```$/gms;
const snippets = [...read('docs/clients.md').matchAll(BLOCK)].flatMap(([, language, name, file = name, text]) =>
  language === 'sh' ? [] : { file, text },
);

/** A file, or what stands between `// #region name` and `// #endregion name`, without its indentation. */
function contentOf(file: string): string {
  const [path = '', region] = file.split('#');
  const text = read(`test/clients/${path}`);
  if (region === undefined) return text;
  const [, content = ''] =
    new RegExp(`^ *// #region ${region}\n(.*?)^ *// #endregion ${region}$`, 'ms').exec(text) ?? [];
  const indent = /^ */.exec(content)?.[0] ?? '';
  return `${content.replaceAll(new RegExp(`^${indent}`, 'gm'), '').trimEnd()}\n`;
}

test.each(snippets)('$file is as it stands in docs/clients.md', ({ file = '', text }) => {
  expect(text).toBe(contentOf(file).replaceAll('../node_modules/', 'node_modules/'));
});
