/*
 * Bundles the service into a few files. `npm run build` writes them to dist/; the build of the whole repository calls
 * `buildReference` with another folder. Types are not checked here.
 */
import { fileURLToPath } from 'node:url';
import { context } from 'esbuild';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Builds into the folder `outdir`; with `watch`, again on every change. */
export async function buildReference({ outdir, watch = false }) {
  const build = await context({
    entryPoints: [here('src/main.ts')],
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // Prefers ECMAScript modules to CommonJS where a package has both, for tree shaking.
    mainFields: ['module', 'main'],
    // They load native binaries.
    external: ['libsql', 'pg'],
    // CommonJS packages load Node's own modules with `require`.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    // The licences of the packages are in node_modules/.
    legalComments: 'none',
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
  });
  if (watch) return build.watch();
  await build.rebuild();
  await build.dispose();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildReference({ outdir: here('dist') });
