/* Modules of src/ for benchmarks that call them directly: what `npm run build` makes are whole programs. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Imports the module of that name in src/. Each is bundled for itself, so two of them share no state. */
export async function source(name) {
  const entry = new URL(`../../src/${name}`, import.meta.url);
  const made = new URL(`../../dist/source/${name.replace(/\.ts$/, '.js')}`, import.meta.url);
  await build({
    entryPoints: [fileURLToPath(entry)],
    outfile: fileURLToPath(made),
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
  });
  return await import(made.href);
}
