/* How the gateway is started in production: `npm start` without the build. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

/** What Node is told. */
export const FLAGS = / node (.*?)dist\/main\.js$/.exec(scripts.start)[1].split(' ').filter(Boolean);

export const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
