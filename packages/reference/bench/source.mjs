import { mkdtemp, rm } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/** Imports a module of src/, which Node 20 cannot read by itself. */
export async function source(path) {
  const folder = await mkdtemp(fileURLToPath(new URL('../dist/bench-', import.meta.url)));
  const outfile = `${folder}/module.mjs`;
  await build({
    entryPoints: [fileURLToPath(new URL(`../src/${path}`, import.meta.url))],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    logLevel: 'warning',
  });
  try {
    return await import(pathToFileURL(outfile).href);
  } finally {
    await rm(folder, { recursive: true });
  }
}
