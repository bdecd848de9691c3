/* `npm run docs` writes the table of settings into docs/configuration.md; test/docs.test.ts fails when it is out of date. */
import { readFileSync, writeFileSync } from 'node:fs';
import { withSettings } from './documentation.ts';

if (process.argv.length > 2) throw new Error('npm run docs takes no options.');
const DOCUMENT = 'docs/configuration.md';
writeFileSync(DOCUMENT, withSettings(readFileSync(DOCUMENT, 'utf8')));
