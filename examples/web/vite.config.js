import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const { EXAMPLE_PORT = '3000' } = process.env;

export default defineConfig({
  plugins: [react()],
  // The package is a link here: its imports must lead to the libraries of this application.
  resolve: { preserveSymlinks: true },
  // `npm run dev` uses the gateway and the login service of `npm run example`.
  server: { proxy: { '/session': `http://localhost:${EXAMPLE_PORT}` } },
});
