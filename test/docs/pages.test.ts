import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { markdownFiles, ROOT } from '../kit/markdown.ts';

/* The form of the pages: short paragraphs, anchors that exist, links from the README, and a first sentence that says who a page is for. */

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const proseOf = (text: string) => text.replace(/^ *```.*?^ *```/gms, '');
const pages = markdownFiles();
const docs = pages.filter((path) => dirname(path) === 'docs');

/** The anchors that a forge makes of the headings of a page. */
function anchorsOf(path: string): string[] {
  const seen = new Map<string, number>();
  return [...proseOf(read(path)).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => {
    const words = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = words.replace(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-');
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
}

test.each(pages)('%s: no paragraph has more than 600 characters, and anchors of links exist', (path) => {
  const prose = proseOf(read(path));
  const paragraphs = prose
    .replace(/^#.*/gm, '')
    .split(/\n\s*\n|\n(?=\s*(?:[-*|]|\d+\.) )/)
    .filter((text) => !/^\s*\||^<!--/.test(text));
  expect(paragraphs.filter((text) => text.length > 600 && !text.startsWith('    '))).toEqual([]);
  const links = [...prose.matchAll(/\]\(([^)\s:#]*)#([^)\s]+)\)/g)];
  const dead = links.filter(([, target, anchor = '']) => {
    const to = target ? join(dirname(path), target) : path;
    return to.endsWith('.md') && !anchorsOf(to).includes(anchor) && !read(to).includes(`id="${anchor}"`);
  });
  expect(dead.map(([link]) => link)).toEqual([]);
});

test('every page can be reached from the README by links', () => {
  const reached = new Set(['README.md']);
  for (const path of reached) {
    for (const [, link = ''] of proseOf(read(path)).matchAll(/\]\(([^)#:\s]+\.md)[^)]*\)/g)) {
      reached.add(join(dirname(path), link));
    }
  }
  expect(pages.filter((path) => !reached.has(path))).toEqual([]);
});

test.each(docs)('%s begins with who it is for', (path) => {
  expect(read(path)).toMatch(/^# .+\n\nFor .+ After this page /);
});

test.each([
  ['README.md', 120],
  ['docs/benchmarks.md', 80],
])('%s has at most %i lines', (path, most) => {
  expect(read(path).split('\n').length - 1).toBeLessThanOrEqual(most);
});

test('the changes of 0.2.0 have at most 120 lines', () => {
  const section = read('CHANGELOG.md').split(/^(?=## )/m)[1] ?? '';
  expect(section).toMatch(/^## 0\.2\.0 .*^### To upgrade the gateway$/ms);
  expect(section.trimEnd().split('\n').length).toBeLessThanOrEqual(120);
});
