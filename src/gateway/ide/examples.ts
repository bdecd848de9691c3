import { readdirSync, readFileSync } from 'node:fs';
import { SCHEMA_DIRECTORY } from '../../schema-directory.ts';

/** An operation to begin with: a file of `schema/operations/`, and the JSON file beside it. */
export interface Example {
  /** The file's name without its ending. */
  name: string;
  document: string;
  /** What `document` is run with, as JSON. Undefined when there is no such file: then every variable has a default. */
  variables: string | undefined;
}

const OPERATIONS_DIRECTORY = new URL('operations/', SCHEMA_DIRECTORY);

/** The example operations, in the order of their files' names. */
export function readExamples(): Example[] {
  const files = readdirSync(OPERATIONS_DIRECTORY).sort();
  return files
    .filter((file) => file.endsWith('.graphql'))
    .map((file) => {
      const name = file.slice(0, -'.graphql'.length);
      const variables = files.includes(`${name}.json`) ? read(`${name}.json`) : undefined;
      return { name, document: read(file), variables };
    });
}

function read(file: string): string {
  return readFileSync(new URL(file, OPERATIONS_DIRECTORY), 'utf8').trimEnd();
}
