import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { readExamples } from '../../src/http/pages.ts';
import { brunoCollection } from './bruno.ts';
import { chart } from './chart.ts';
import { llmsText, semanticSchema } from './client-files.ts';
import { schemaChangesPage } from './schema-changes.ts';
import { schemaPage } from './schema-page.ts';
import { withSettings } from './settings.ts';

/** The files that `npm run docs` writes, by their path from the root of the repository. */
export async function writtenFiles(): Promise<Record<string, string>> {
  const directory = pathToFileURL('schema/');
  const sdl = readFileSync('src/generated/schema.graphql', 'utf8');
  const { version }: { version: string } = JSON.parse(readFileSync('package.json', 'utf8'));
  return {
    'docs/pictures/benchmarks.svg': chart(readFileSync('docs/benchmarks.json', 'utf8')),
    'docs/configuration.md': withSettings(readFileSync('docs/configuration.md', 'utf8')),
    'docs/schema.md': schemaPage(directory),
    'docs/schema-changes.md': await schemaChangesPage(version, sdl),
    'packages/client/schema.semantic.graphql': semanticSchema(sdl),
    'packages/client/llms.txt': llmsText(readExamples(directory), sdl),
    ...brunoCollection(readExamples(directory)),
  };
}
