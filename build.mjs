/*
 * Builds the programs into dist/: the gateway (main.js and the commands) and, by the build of its own workspace, the reference service
 * (reference/). Each program and its imports are bundled into a few files; the two share no file. `--watch` builds again on every
 * change.
 *
 * Why bundles: without them, most of the start time was spent on finding the files of packages, and V8 kept
 * the text of each file in memory. A bundled gateway is ready in half the time and uses 20 MB less. Modules imported lazily
 * (`await import`) stay in files of their own. A CommonJS package that is imported lazily becomes a namespace with only
 * `default`: import it statically in a module that is imported lazily.
 *
 * Types are not checked here, so that a build is quick; `npm run check` and editors check them.
 *
 * Nothing is minified: a stack trace names the function and a readable line of dist/. With
 * NODE_OPTIONS=--enable-source-maps it names the line of src/.
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, utimes, watch as watchFiles, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { context } from 'esbuild';

const OUT = 'dist';
const COMMANDS = {
  'graphql/write-sdl': 'tools/write-sdl/main.ts',
  token: 'tools/token/main.ts',
  smoke: 'tools/smoke/main.ts',
};
const LICENCE = /^(?:licen[cs]e|copying|notice)/i;
const ONE_DAY_MS = 86_400_000;

const common = {
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // Prefers ECMAScript modules to CommonJS where a package has both, for tree shaking.
  mainFields: ['module', 'main'],
  plugins: [
    { name: 'one-graphql', setup: resolveToOneGraphQL },
    { name: 'ascii', setup: writeInAscii },
  ],
  // Without a CommonJS `module`, this package of Apollo Server falls back to SHA-256 in JavaScript: 4 % of a small request.
  alias: { '@apollo/utils.createhash': 'node:crypto' },
  // With DEBUG=*, which some platforms and developers set, ioredis would print the password of Redis and every key.
  define: { 'process.env.DEBUG': 'undefined' },
  // CommonJS packages load Node's own modules with `require`.
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  // dist/LICENSES.txt has the licences of the packages.
  legalComments: 'none',
  sourcemap: true,
  sourcesContent: false,
  metafile: true,
  write: false,
  logLevel: 'warning',
};

const watch = process.argv.includes('--watch');
// The other commands in tools/ are built when they are run: `npm start` does not wait for them.
if (process.argv[2] === '--tool') {
  const name = process.argv[3];
  const tool = await context({ ...common, outdir: OUT, entryPoints: [{ in: `tools/${name}/main.ts`, out: name }] });
  await tool.rebuild();
  await tool.dispose();
  process.exit();
}
// The image of the gateway is built without the other workspaces.
if (existsSync('packages/reference')) {
  const { buildReference } = await import('./packages/reference/build.mjs');
  await buildReference({ outdir: join(OUT, 'reference'), watch });
}
// The image of the gateway has one of them.
const commands = Object.fromEntries(Object.entries(COMMANDS).filter(([, file]) => existsSync(file)));
const build = await context({
  ...common,
  outdir: OUT,
  entryPoints: { main: 'src/main.ts', ...commands },
});
if (watch) {
  await build.watch();
  // The schema is read, not imported: `node --watch` sees its changes by the time of this file.
  for await (const _change of watchFiles('schema', { recursive: true })) {
    await utimes(join(OUT, 'main.js'), new Date(), new Date());
  }
} else {
  const { metafile } = await build.rebuild();
  await build.dispose();
  await writeLicenses(Object.keys(metafile.inputs));
  await removeOthers(new Set(Object.keys(metafile.outputs)));
}

/**
 * graphql-js must not be bundled twice: it throws for objects of another copy. An import of one of its CommonJS modules is
 * resolved to the ECMAScript module of the same name.
 */
function resolveToOneGraphQL({ onResolve, resolve }) {
  onResolve({ filter: /^graphql\// }, async ({ path, pluginData, ...from }) => {
    if (pluginData === 'resolving') return undefined;
    const found = await resolve(path, { ...from, pluginData: 'resolving' });
    return { ...found, path: found.path.replace(/\.js$/, '.mjs') };
  });
}

/**
 * Writes the files that changed, with comments in ASCII. V8 stores a file with any character beyond Latin-1 in two bytes for
 * each character: 3 MB more for the gateway. Only comments of packages have such characters: esbuild escapes those in
 * strings, and no regular expression has one. test/deploy/image.long.test.ts checks the result.
 */
function writeInAscii({ onEnd }) {
  const inAscii = (comment) => comment.replace(/[^\0-\x7f]/g, '?');
  const write = async ({ path, text }) => {
    const content = path.endsWith('.map') ? text : runAtLoad(text.replace(/(?:^ *\*|\/\/ ).*$/gm, inAscii));
    if (content === (await readFile(path, 'utf8').catch(() => undefined))) return;
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  };
  onEnd(async ({ outputFiles = [] }) => {
    await Promise.all(outputFiles.map(write));
  });
}

/**
 * Runs the ECMAScript modules that CommonJS packages `require` when their file is loaded, not when the first of these needs them.
 * The loaders of monitoring agents (OpenTelemetry, New Relic, Elastic) copy the exports of a file at that time.
 */
function runAtLoad(text) {
  return text + [...text.matchAll(/^var (init_\w+) = __esm\(/gm)].map(([, name]) => `\n${name}();`).join('');
}

/** Writes dist/LICENSES.txt: the packages that are in the bundles, with the texts of their licences. */
async function writeLicenses(files) {
  const folders = new Set(files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []));
  const texts = [...folders].sort().map(async (folder) => {
    const { name, version, license, homepage, repository } = JSON.parse(
      await readFile(join(folder, 'package.json'), 'utf8'),
    );
    const names = (await readdir(folder, { withFileTypes: true })).filter(
      (file) => file.isFile() && LICENCE.test(file.name),
    );
    const licences = await Promise.all(names.map((file) => readFile(join(folder, file.name), 'utf8')));
    if (licences.length === 0)
      licences.push(`The package has no text of it: ${homepage ?? repository?.url ?? repository}`);
    return [`${name} ${version} (${license})`, ...licences.map((text) => text.trim())].join('\n\n');
  });
  await writeFile(join(OUT, 'LICENSES.txt'), `${(await Promise.all(texts)).join(`\n\n${'-'.repeat(80)}\n\n`)}\n`);
}

/** Removes files of earlier builds that are more than a day old. A running program may still import newer ones. */
async function removeOthers(made) {
  for (const file of await readdir(OUT, { recursive: true })) {
    const path = join(OUT, file);
    if (!/\.js(\.map)?$/.test(path) || made.has(path.replaceAll('\\', '/'))) continue;
    if (Date.now() - (await stat(path)).mtimeMs > ONE_DAY_MS) await rm(path);
  }
}
