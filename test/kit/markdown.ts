import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What is installed or built; test/docs/bounds.md is a template. */
const SKIPPED = /(?:^|\/)(?:node_modules|dist|\.\w[^/]*|bounds\.md)$/;

/** Every Markdown file of the repository, by its path from the root: pages, and the README files of packages, examples and tests. */
export function markdownFiles(folder = ''): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true })
    .map((entry) => ({ entry, path: folder ? `${folder}/${entry.name}` : entry.name }))
    .filter(({ path }) => !SKIPPED.test(path))
    .flatMap(({ entry, path }) => {
      if (entry.isDirectory()) return markdownFiles(path);
      return path.endsWith('.md') ? [path] : [];
    });
}
