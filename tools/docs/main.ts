/* `npm run docs` writes what is made from the program. test/docs/documents.test.ts fails when one of the files is out of date. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { writtenFiles } from './files.ts';

if (process.argv.length > 2) throw new Error('npm run docs takes no options.');
for (const [path, text] of Object.entries(await writtenFiles())) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
