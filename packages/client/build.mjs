/*
 * Builds the package into dist/: modules, declarations and the schema; the same as CommonJS in dist/cjs/, for Jest, Metro and
 * programs of that kind; and a folder with a package.json for each entry, for resolvers that do not know `exports`. Types are checked by `npm run lint` and by the
 * tests in test/clients/, where the optional peers are installed.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const SCHEMA = fileURLToPath(new URL('../../src/generated/schema.graphql', import.meta.url));

rmSync(`${HERE}dist`, { recursive: true, force: true });
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
execFileSync(process.execPath, [compiler, '-p', `${HERE}tsconfig.build.json`], { stdio: 'inherit' });
// TypeScript rewrites the names of imported files in modules alone.
for (const file of readdirSync(`${HERE}dist`, { recursive: true })) {
  const path = `${HERE}dist/${file}`;
  if (path.endsWith('.d.ts'))
    writeFileSync(path, readFileSync(path, 'utf8').replace(/(from '\.[^']*)\.ts'/g, "$1.js'"));
}
copyFileSync(SCHEMA, `${HERE}dist/schema.graphql`);
// Tests in a browser cannot read a file of a package.
writeFileSync(`${HERE}dist/schema-text.js`, `export default ${JSON.stringify(readFileSync(SCHEMA, 'utf8'))};\n`);

const CJS = `${HERE}dist/cjs`;
for (const file of readdirSync(`${HERE}dist`, { recursive: true })) {
  const isModule = file.endsWith('.js');
  if (!isModule && !file.endsWith('.d.ts')) continue;
  const text = readFileSync(`${HERE}dist/${file}`, 'utf8');
  mkdirSync(dirname(`${CJS}/${file}`), { recursive: true });
  const { code } = isModule
    ? await transform(text, { format: 'cjs', platform: 'neutral', target: 'es2020' })
    : { code: text };
  writeFileSync(`${CJS}/${file}`, code);
  // Node's own modules import no folders, which is what Apollo Client 3 has there. 4 has this name too.
  if (isModule)
    writeFileSync(`${HERE}dist/${file}`, text.replace("'@apollo/client/core'", "'@apollo/client/core/index.js'"));
}
writeFileSync(`${CJS}/package.json`, '{ "type": "commonjs" }\n');
for (const name of ['apollo', 'urql', 'relay', 'react', 'testing']) {
  mkdirSync(`${HERE}${name}`, { recursive: true });
  const entry = { main: `../dist/cjs/${name}.js`, module: `../dist/${name}.js`, types: `../dist/cjs/${name}.d.ts` };
  writeFileSync(
    `${HERE}${name}/package.json`,
    `${JSON.stringify({ ...entry, sideEffects: name === 'testing' }, null, 2)}\n`,
  );
}
