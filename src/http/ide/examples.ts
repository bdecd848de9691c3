import { readdirSync, readFileSync } from 'node:fs';

/** An example operation: a file of `schema/operations/`, and the JSON file of the same name. */
export interface Example {
  /** The file's name without its ending. */
  name: string;
  document: string;
  /** The variables of `document`, as JSON. Undefined when there is no such file: then every variable has a default. */
  variables: string | undefined;
}

/** The example operations in `operations/` of the schema directory, in the order of their file names. */
export function readExamples(schemaDirectory: URL): Example[] {
  const directory = new URL('operations/', schemaDirectory);
  const read = (file: string) => readFileSync(new URL(file, directory), 'utf8').trimEnd();
  const files = readdirSync(directory).sort();
  return files
    .filter((file) => file.endsWith('.graphql'))
    .map((file) => {
      const name = file.slice(0, -'.graphql'.length);
      const variables = files.includes(`${name}.json`) ? read(`${name}.json`) : undefined;
      return { name, document: read(file), variables };
    });
}
