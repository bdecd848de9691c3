import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type DocumentNode, type GraphQLSchema, Kind, parse, validate } from 'graphql';
import { ConfigError } from '../config/environment.ts';
import { reasonOf } from '../errors.ts';
import { readOperations } from './formats.ts';

/** The listed operations of all files together. */
export interface Manifest {
  /** The texts by their ids without the prefix `sha256:`. */
  readonly byId: ReadonlyMap<string, string>;
  /** The names of the operations in the texts. */
  readonly names: ReadonlySet<string>;
}

/** The schema and the limit that the operations of a manifest are checked against. */
export interface ManifestCheck {
  schema: GraphQLSchema;
  maxTokens: number;
}

const NO_FILE = 'the folder has no file named *.json; put the files that list operations there';
/** How many mistakes are reported at once. */
const MAX_REPORTED = 20;

/**
 * Reads the files and folders of `PERSISTED_OPERATIONS_FILE`. Throws a ConfigError that names what is wrong: a file that
 * cannot be used, an id with two texts, an operation that does not fit the schema. The same operation may be in several
 * files.
 */
export function readManifest(paths: readonly string[], check: ManifestCheck): Manifest {
  const byId = new Map<string, string>();
  const places = new Map<string, string>();
  const names = new Set<string>();
  const problems: string[] = [];
  const files = new Set(paths.flatMap(filesAt));
  if (paths.length > 0 && files.size === 0) problems.push(`${paths.join(', ')}: ${NO_FILE}`);
  for (const file of files) {
    let content: string;
    try {
      content = readFileSync(file, 'utf8');
    } catch (error) {
      problems.push(`${file}: the file cannot be read (${reasonOf(error)})`);
      continue;
    }
    const read = readOperations(content);
    problems.push(...read.problems.map((problem) => `${file}: ${problem}`));
    for (const { id, text, place } of read.operations) {
      const known = byId.get(id);
      if (known === text) continue;
      const repeated = known && `its id has another text at ${places.get(id)}; generate both files again`;
      const problem = repeated ?? addNames(text, check, names);
      if (problem) problems.push(`${file}: ${place}: ${problem}`);
      byId.set(id, text);
      places.set(id, `${file}: ${place}`);
    }
  }
  if (problems.length === 0) return { byId, names };
  const more = problems.length > MAX_REPORTED ? [`and ${problems.length - MAX_REPORTED} more`] : [];
  const reported = [...problems.slice(0, MAX_REPORTED), ...more];
  throw new ConfigError(reported.map((problem) => `PERSISTED_OPERATIONS_FILE: ${problem}`));
}

/** Adds the names of the operations in a text. Returns why the text could never run, and how to correct that. */
function addNames(text: string, { schema, maxTokens }: ManifestCheck, names: Set<string>): string | undefined {
  let document: DocumentNode;
  try {
    document = parse(text, { maxTokens });
  } catch (error) {
    return reasonOf(error);
  }
  const [error] = validate(schema, document, undefined, { maxErrors: 1 });
  if (error) return `${error.message} Remove it from the file, or rebuild the client with the gateway's schema.`;
  for (const part of document.definitions) {
    if (part.kind === Kind.OPERATION_DEFINITION && part.name) names.add(part.name.value);
  }
  return undefined;
}

/** A file, or every `*.json` directly in a folder. */
function filesAt(path: string): string[] {
  // A path that is not there is reported when it is read.
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [path];
  const names = readdirSync(path).filter((name) => name.endsWith('.json') && !name.startsWith('.'));
  return names.sort().map((name) => join(path, name));
}
