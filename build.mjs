/*
 * Builds the programs into dist/: each with all that it imports in a few files. `--watch` does it again on every change.
 *
 * Why a server is bundled: it took most of its start to find a thousand files of 80 packages, and V8 kept the whole text of
 * each. In a few files it is ready in half the time and takes 20 MB less, and calls between modules are calls within one.
 * What is imported only when it is wanted (`await import`) is read only then here too.
 *
 * Types are not checked here, so that a start is quick; `npm run check` does that, and so do editors.
 *
 * Nothing is minified: a stack trace tells the function and a line of dist/ that can be read. With
 * NODE_OPTIONS=--enable-source-maps it tells the line of src/.
 */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { context } from 'esbuild';

const OUT = 'dist';
const ONE_DAY_MS = 86_400_000;

const building = await context({
  entryPoints: ['src/main.ts', 'src/reference/main.ts', 'src/process/token.ts'],
  outdir: OUT,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // ECMAScript modules where a package has both, since what is not used is left out of these.
  mainFields: ['module', 'main'],
  plugins: [{ name: 'one-graphql', setup: resolveToOneGraphQL }],
  // Stay in node_modules/: they load binaries, or try to.
  external: ['libsql', 'pg'],
  // What CommonJS packages call to get at Node's own modules.
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  // They stand in node_modules/.
  legalComments: 'none',
  sourcemap: true,
  sourcesContent: false,
  metafile: true,
  logLevel: 'warning',
});

if (process.argv.includes('--watch')) await building.watch();
else {
  const { metafile } = await building.rebuild();
  await building.dispose();
  await removeOthers(new Set(Object.keys(metafile.outputs)));
}

/**
 * graphql-js must not be there twice: what one copy makes is nothing to the other. Who asks for one of its CommonJS modules by
 * name gets the ECMAScript module beside it.
 */
function resolveToOneGraphQL({ onResolve, resolve }) {
  onResolve({ filter: /^graphql\// }, async ({ path, pluginData, ...from }) => {
    if (pluginData === 'asked') return undefined;
    const found = await resolve(path, { ...from, pluginData: 'asked' });
    return { ...found, path: found.path.replace(/\.js$/, '.mjs') };
  });
}

/** Removes what builds before yesterday have left; what is younger may belong to a program that runs and has not asked for it yet. */
async function removeOthers(made) {
  for (const file of await readdir(OUT, { recursive: true })) {
    const path = join(OUT, file);
    if (!/\.js(\.map)?$/.test(path) || made.has(path.replaceAll('\\', '/'))) continue;
    if (Date.now() - (await stat(path)).mtimeMs > ONE_DAY_MS) await rm(path);
  }
}
