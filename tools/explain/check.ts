import { buildSchema, validate } from 'graphql';
import { readFileOperations } from './operations.ts';

/** What is wrong with the operations of files for a schema, one line each; empty when all are valid. */
export function checkFiles(files: readonly string[], sdl: string): string[] {
  const schema = buildSchema(sdl);
  return files.flatMap((file) => {
    try {
      return readFileOperations(file).flatMap(({ from, document, operation }) =>
        validate(schema, document).map(({ message }) => `${from}: ${operation.name?.value ?? 'query'}: ${message}`),
      );
    } catch (error) {
      return [`${file}: ${error instanceof Error ? error.message : String(error)}`];
    }
  });
}
