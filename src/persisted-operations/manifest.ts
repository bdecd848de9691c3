import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type DocumentNode, type GraphQLSchema, Kind, parse, validate } from 'graphql';
import { ConfigError } from '../config/environment.ts';
import { reasonOf } from '../errors.ts';
import { type ListedOperation, readOperations } from './formats.ts';

/** The listed operations of all files together. */
export interface Manifest {
  /** By their ids without the prefix `sha256:`. */
  readonly byId: ReadonlyMap<string, { text: string }>;
  /** Every text. */
  readonly texts: ReadonlySet<string>;
  /** The names of the operations in the texts. */
  readonly names: ReadonlySet<string>;
}

/** The schema and the limit that the operations of a manifest are checked against. */
export interface ManifestCheck {
  schema: GraphQLSchema;
  maxTokens: number;
}

const NO_FILE = 'the folder has no file named *.json; put the files that list operations there';

/**
 * Reads the files and folders of `PERSISTED_OPERATIONS_FILE`. Throws a ConfigError that names what is wrong: a file that
 * cannot be used, an id with two texts, an operation that does not fit the schema. The same operation may be in several
 * files.
 */
export function readManifest(paths: readonly string[], check: ManifestCheck): Manifest {
  const byId = new Map<string, { text: string; from: string }>();
  const names = new Set<string>();
  const problems: string[] = [];
  const files = filesOf(paths);
  if (files.length === 0) throw unusable([`${paths.join(', ')}: ${NO_FILE}`]);
  for (const file of files) {
    const read = readOperations(readListFile(file));
    problems.push(...read.problems.map((problem) => `${file}: ${problem}`));
    for (const operation of read.operations) {
      const from = `${file}: ${operation.place}`;
      const known = byId.get(operation.id);
      if (known?.text === operation.text) continue;
      const problem = known ? `its id has another text at ${known.from}; generate both files again` : undefined;
      const found = problem ?? addNames(operation, check, names);
      if (found) problems.push(`${from}: ${found}`);
      byId.set(operation.id, { text: operation.text, from });
    }
  }
  if (problems.length > 0) throw unusable(problems);
  const texts = new Set([...byId.values()].map(({ text }) => text));
  return { byId, texts, names };
}

/** Adds the names of the operations in a text. Returns why the text could never run, and how to correct that. */
function addNames(
  { text }: ListedOperation,
  { schema, maxTokens }: ManifestCheck,
  names: Set<string>,
): string | undefined {
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

/** The files of `PERSISTED_OPERATIONS_FILE`: the files it names, and every `*.json` directly in its folders. */
function filesOf(paths: readonly string[]): string[] {
  return [...new Set(paths.flatMap(filesAt))];
}

function filesAt(path: string): string[] {
  if (!isFolder(path)) return [path];
  const names = readdirSync(path).filter((name) => name.endsWith('.json') && !name.startsWith('.'));
  return names.sort().map((name) => join(path, name));
}

function isFolder(path: string): boolean {
  // A path that is not there is reported when it is read.
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** The content of a file. Throws a ConfigError for one that cannot be read. */
function readListFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw unusable([`${path}: the file cannot be read (${reasonOf(error)})`]);
  }
}

/** How many mistakes are reported at once. */
const MAX_REPORTED = 20;

/** The error for mistakes in the files, one sentence each, which begins with the file. */
function unusable(problems: readonly string[]): ConfigError {
  const more = problems.length - MAX_REPORTED;
  const reported = more > 0 ? [...problems.slice(0, MAX_REPORTED), `and ${more} more`] : problems;
  return new ConfigError(reported.map((problem) => `PERSISTED_OPERATIONS_FILE: ${problem}`));
}
