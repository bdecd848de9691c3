import { mergeConfig } from 'vite';
import config from './vite.config.js';

/* The configuration of the document, with modules for the test to import in the place of an application. */

export default mergeConfig(config, {
  logLevel: 'warn',
  build: {
    outDir: 'generated/built',
    minify: false,
    lib: { entry: ['Friends.tsx', 'Screen.tsx'], formats: ['es'] },
    rollupOptions: { external: /^(react|react-relay|relay-runtime)(\/|$)/ },
  },
});
