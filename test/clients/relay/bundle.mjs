/* Bundles the components for the test, with Relay's plugin for Babel. An application has this in its own build. */
import { readFile } from 'node:fs/promises';
import { transformAsync } from '@babel/core';
import { build } from 'esbuild';

const relay = {
  name: 'relay',
  setup({ onLoad }) {
    onLoad({ filter: /\.tsx$/ }, async ({ path }) => {
      const { code } = await transformAsync(await readFile(path, 'utf8'), {
        filename: path,
        plugins: [['relay', { eagerEsModules: true, artifactDirectory: './generated' }]],
        parserOpts: { plugins: ['typescript', 'jsx'] },
        generatorOpts: { retainLines: true },
      });
      return { contents: code, loader: 'tsx' };
    });
  },
};

await build({
  entryPoints: ['Friends.tsx', 'Screen.tsx'],
  outdir: 'generated',
  outExtension: { '.js': '.mjs' },
  bundle: true,
  format: 'esm',
  jsx: 'automatic',
  packages: 'external',
  plugins: [relay],
});
