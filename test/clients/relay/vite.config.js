import babel from '@rolldown/plugin-babel';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const relay = ['relay', { eagerEsModules: true, artifactDirectory: './generated' }];

export default defineConfig({
  // Neither Vite nor its plugin for React runs Babel: without this, `graphql` throws in the browser.
  plugins: [babel({ plugins: [relay] }), react()],
});
