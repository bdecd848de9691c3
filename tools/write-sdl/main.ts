/* A part of `npm run codegen`: writes src/generated/schema.graphql. With `--check` it fails when that is not fresh. */
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { createSchema, printSdl } from '../../src/graphql/schema.ts';

const FILE = 'src/generated/schema.graphql';

const sdl = printSdl(createSchema(pathToFileURL('schema/')).schema);
if (process.argv.includes('--check')) {
  if (readFileSync(FILE, 'utf8') !== sdl) {
    console.error(`${FILE} is not what schema/*.graphql makes; run npm run codegen.`);
    process.exitCode = 1;
  }
} else {
  writeFileSync(FILE, sdl);
}
