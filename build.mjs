/*
 * Builds the programs into dist/: the gateway (main.js, with the commands beside it) and the reference service (reference/),
 * each with all that it imports in a few files. The two share no file. `--watch` builds again on every change.
 *
 * A server is bundled because most of its start was spent on finding a thousand files of 80 packages, and V8 kept the text
 * of each: bundled it is ready in half the time and takes 20 MB less. What is imported lazily (`await import`) is read
 * lazily here too. A CommonJS package that is imported lazily becomes a namespace with `default` alone: import it
 * statically in a module that is imported lazily.
 *
 * Types are not checked here, so that a start is quick; `npm run check` does that, and so do editors.
 *
 * Nothing is minified: a stack trace names the function and a line of dist/ that can be read. With
 * NODE_OPTIONS=--enable-source-maps it names the line of src/.
 */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { context } from 'esbuild';

const OUT = 'dist';
const COMMANDS = ['src/process/token.ts', 'src/config/docs.ts', 'src/gateway/graphql/write-sdl.ts'];
const ONE_DAY_MS = 86_400_000;

const common = {
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // ECMAScript modules where a package has both, since what is not used is left out of these.
  mainFields: ['module', 'main'],
  plugins: [{ name: 'one-graphql', setup: resolveToOneGraphQL }],
  // CommonJS packages get Node's own modules by `require`.
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  // The packages' licences stand in node_modules/.
  legalComments: 'none',
  sourcemap: true,
  sourcesContent: false,
  metafile: true,
  logLevel: 'warning',
};

const builds = await Promise.all([
  context({ ...common, outdir: OUT, entryPoints: ['src/main.ts', ...COMMANDS] }),
  context({
    ...common,
    outdir: join(OUT, 'reference'),
    entryPoints: ['src/reference/main.ts'],
    // They load binaries, or try to.
    external: ['libsql', 'pg'],
  }),
]);

if (process.argv.includes('--watch')) await Promise.all(builds.map((build) => build.watch()));
else {
  const results = await Promise.all(builds.map((build) => build.rebuild()));
  await Promise.all(builds.map((build) => build.dispose()));
  await removeOthers(new Set(results.flatMap(({ metafile }) => Object.keys(metafile.outputs))));
}

/**
 * graphql-js must not be bundled twice: it refuses the objects of another copy. An import of one of its CommonJS modules is
 * resolved to the ECMAScript module beside it.
 */
function resolveToOneGraphQL({ onResolve, resolve }) {
  onResolve({ filter: /^graphql\// }, async ({ path, pluginData, ...from }) => {
    if (pluginData === 'resolving') return undefined;
    const found = await resolve(path, { ...from, pluginData: 'resolving' });
    return { ...found, path: found.path.replace(/\.js$/, '.mjs') };
  });
}

/** Removes files that earlier builds left, unless they are from today: a running program may import them later. */
async function removeOthers(made) {
  for (const file of await readdir(OUT, { recursive: true })) {
    const path = join(OUT, file);
    if (!/\.js(\.map)?$/.test(path) || made.has(path.replaceAll('\\', '/'))) continue;
    if (Date.now() - (await stat(path)).mtimeMs > ONE_DAY_MS) await rm(path);
  }
}
