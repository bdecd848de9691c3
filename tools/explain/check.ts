import { statSync } from 'node:fs';
import { buildSchema, validate } from 'graphql';
import { loadConfig } from '../../src/config/config.ts';
import { reasonOf } from '../../src/errors.ts';
import { readManifest } from '../../src/persisted-operations/manifest.ts';
import { readFileOperations } from './operations.ts';

/**
 * What is wrong with the operations of files for a schema, one line each; empty when all are valid. Manifests, and folders of
 * them, are read as the gateway reads PERSISTED_OPERATIONS_FILE at its start.
 */
export function checkFiles(files: readonly string[], sdl: string): string[] {
  const schema = buildSchema(sdl);
  const manifests = files.filter((file) => file.endsWith('.json') || statSync(file, NO_THROW)?.isDirectory());
  const documents = files.filter((file) => !manifests.includes(file));
  return [
    ...documents.flatMap((file) =>
      problemsOf(() =>
        readFileOperations(file).flatMap(({ document, operation }) =>
          validate(schema, document).map(({ message }) => `${file}: ${operation.name?.value ?? 'query'}: ${message}`),
        ),
      ),
    ),
    ...problemsOf(() => {
      readManifest(manifests, { schema, maxTokens: loadConfig({}).MAX_TOKENS });
      return [];
    }),
  ];
}

const NO_THROW = { throwIfNoEntry: false } as const;

function problemsOf(check: () => string[]): string[] {
  try {
    return check();
  } catch (error) {
    return [reasonOf(error)];
  }
}
