/* The pages of the site: each Markdown file of the repository, in the order in which the README links them. */
import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';

const { dirname, join, relative } = posix;
/** The root of the repository. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replaceAll('\\', '/');
const read = (path) => readFileSync(join(ROOT, path), 'utf8');

/** GitHub Actions sets both. Elsewhere the repository has no address, and links to its files become text. */
const { GITHUB_SERVER_URL, GITHUB_REPOSITORY } = process.env;
export const REPOSITORY = GITHUB_REPOSITORY && `${GITHUB_SERVER_URL ?? 'https://github.com'}/${GITHUB_REPOSITORY}`;

/** The file of a page in the site: `docs/clients.md` is `clients.md`, each `README.md` is the index of its folder. */
export function rewrite(path) {
  // Two names that differ in case alone would be one file on some systems.
  if (path === 'SECURITY.md') return 'vulnerabilities.md';
  return path.replace(/^docs\//, '').replace(/(^|\/)README\.md$/, '$1index.md');
}

/** The path of a page in the site: `/clients`, `/packages/client/`. */
const addressOf = (path) => `/${rewrite(path)}`.replace(/(?:(\/)index)?\.md$/, '$1');

/** What a link in the file `from` is in the site; undefined where the repository has no address. */
export function linkOf(from, href) {
  if (/^(?:[a-z]+:|#|\/)/i.test(href)) return href;
  const [path, hash] = href.split(/(?=#)/);
  const target = join(dirname(from), path);
  if (target.endsWith('.md')) return addressOf(target) + (hash ?? '');
  return REPOSITORY && `${REPOSITORY}/blob/main/${target}${hash ?? ''}`;
}

/** The path from the root of the repository. */
export const pathOf = (file) => relative(ROOT, file.replaceAll('\\', '/'));

/** The Markdown files that a text links. */
function pagesIn(from, text) {
  const links = [...text.matchAll(/\]\(([^)#:\s]+\.md)[^)]*\)/g)].map(([, target]) => join(dirname(from), target));
  return [...new Set(links)].filter((path) => existsSync(join(ROOT, path)));
}

function entry(path) {
  const text = read(path);
  const [, title = path] = /^# (.+)$/m.exec(text) ?? [];
  const below = path.endsWith('/README.md') ? pagesIn(path, text).filter((one) => dirname(one) === dirname(path)) : [];
  const items = below.filter((one) => one !== path).map(entry);
  return { text: title, link: addressOf(path), ...(items.length > 0 && { items, collapsed: true }) };
}

/** README.md: its first paragraph, and its three doors with their pages. */
export const TAGLINE = read('README.md').split('\n\n')[1];
export const DOORS = [...read('README.md').matchAll(/^## (\w+ it): for (.+)\n([^]*?)(?=^## |$(?![^]))/gm)].map(
  ([, title, readers, text]) => ({ title, readers, items: pagesIn('README.md', text).map(entry) }),
);
