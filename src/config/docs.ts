/* `npm run docs` writes the table of settings into docs/configuration.md. With `--check` it fails when that is out of date. */
import { readFileSync, writeFileSync } from 'node:fs';
import { withSettings } from './documentation.ts';

const DOCUMENT = 'docs/configuration.md';

const now = readFileSync(DOCUMENT, 'utf8');
const fresh = withSettings(now);
if (process.argv.includes('--check')) {
  if (now !== fresh) {
    console.error(`${DOCUMENT} does not have the settings of src/config/settings.ts; run npm run docs.`);
    process.exitCode = 1;
  }
} else {
  writeFileSync(DOCUMENT, fresh);
}
