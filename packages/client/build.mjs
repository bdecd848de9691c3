/*
 * Builds the package into dist/: modules, declarations and the schema. Types are checked by `npm run lint` and by the
 * tests in test/clients/, where the optional peers are installed.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

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
