/* The site: `npm run docs:site` builds it into docs/.vitepress/dist. SITE_BASE is the path at which it is served. */
import { fileURLToPath } from 'node:url';
import { DOORS, linkOf, pathOf, REPOSITORY, rewrite, TAGLINE } from './pages.mjs';

const HOME = 'index.md';
const NAMES = ['Clients', 'Operators', 'Contributors'];
const ICON = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#4338ca" d="M8 0l7 4v8l-7 4-7-4V4z"/></svg>')}`;

export default {
  title: 'Referral gateway',
  description: TAGLINE,
  lang: 'en',
  base: process.env.SITE_BASE || '/',
  head: [['link', { rel: 'icon', href: ICON }]],
  srcDir: '..',
  srcExclude: ['test/docs/**'],
  rewrites: rewrite,
  cleanUrls: true,
  ignoreDeadLinks: 'localhostLinks',
  themeConfig: {
    nav: DOORS.map(({ items }, index) => ({
      text: NAMES[index],
      link: items[0].link,
      activeMatch: `^(?:${items.map(({ link }) => link).join('|')})`,
    })),
    sidebar: DOORS.map(({ items }, index) => ({ text: NAMES[index], items })),
    outline: [2, 3],
    search: { provider: 'local', options: { _render: (text, env, md) => md.set({ highlight: null }).render(text, env) } },
    ...(REPOSITORY && {
      socialLinks: [{ icon: 'github', link: REPOSITORY }],
      editLink: { pattern: `${REPOSITORY}/edit/main/:path` },
    }),
  },
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark' },
    anchor: { slugify },
    config(md) {
      md.core.ruler.push('links', links);
      const { fence, code_inline: inline } = md.renderer.rules;
      // Vue would take two braces in code for an expression.
      md.renderer.rules.code_inline = (tokens, index, ...rest) => {
        tokens[index].attrSet('v-pre', '');
        return inline(tokens, index, ...rest);
      };
      // What is indented in the README is commands.
      md.renderer.rules.code_block = (tokens, index, ...rest) => {
        tokens[index].info = 'sh';
        return fence(tokens, index, ...rest);
      };
      md.renderer.rules.fence = (tokens, index, ...rest) =>
        tokens[index].info === 'mermaid'
          ? `<Mermaid text="${encodeURIComponent(tokens[index].content)}" />`
          : fence(tokens, index, ...rest);
    },
  },
  transformPageData: (page) => (page.relativePath === HOME ? { frontmatter: home() } : undefined),
  // Mermaid is one large file. It is loaded only by pages with a diagram.
  vite: {
    build: { chunkSizeWarningLimit: 4_000 },
    plugins: [{ name: 'vue-of-this-folder', enforce: 'pre', resolveId }],
  },
};

/** Pages outside of this folder find the package Vue too. */
function resolveId(id, importer) {
  if (/^vue(?:\/|$)/.test(id) && importer) return this.resolve(id, fileURLToPath(import.meta.url), { skipSelf: true });
}

/** The anchors that the forge makes of headings: test/docs/pages.test.ts has the same rule. */
function slugify(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

/** Links between files become links between pages. The first screen has the title and the first paragraph of the README. */
function links({ tokens, env }) {
  const path = pathOf(env.realPath ?? env.path);
  if (path === 'README.md' && env.realPath) tokens.splice(0, 6);
  const inline = tokens.flatMap(({ children }) => children ?? []);
  for (const [index, token] of inline.entries()) {
    if (token.type !== 'link_open') continue;
    const link = linkOf(path, token.attrGet('href'));
    if (link !== undefined) token.attrSet('href', link);
    else {
      token.attrs = [];
      token.hidden = true;
      inline.slice(index).find(({ type }) => type === 'link_close').hidden = true;
    }
  }
}

function home() {
  return {
    layout: 'home',
    hero: {
      name: 'Referral gateway',
      tagline: TAGLINE,
      actions: [
        { theme: 'brand', text: 'Start', link: '#start' },
        { theme: 'alt', text: 'Schema', link: '/schema' },
      ],
    },
    features: DOORS.map(({ title, readers, items }) => ({
      title: `${title}: for ${readers}`,
      details: items.map(({ text }) => text).join(', '),
      link: items[0].link,
      linkText: items[0].text,
    })),
  };
}
