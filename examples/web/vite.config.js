import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react()],
  // `npm run dev` uses the gateway and the login service of `npm run example`.
  server: { proxy: { '/session': 'http://localhost:3000' } },
});
