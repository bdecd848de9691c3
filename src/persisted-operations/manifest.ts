/*
 * The files in which clients' tools list the operations of an application:
 *
 * - Apollo's manifest, from `generate-persisted-query-manifest`, Apollo iOS and Apollo Kotlin (`persistedQueryManifest`):
 *   `{ "format": "apollo-persisted-query-manifest", "version": 1, "operations": [{ "id", "name", "type", "body" }] }`
 * - `{ "<id>": "<text>" }`, from Relay's compiler, GraphQL Code Generator (`persistedDocuments`) and gql.tada
 * - Apollo Kotlin's `operationOutput`: `{ "<id>": { "name", "source" } }`
 *
 * An id may have the prefix `sha256:`, which requests may leave out.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type GraphQLSchema, Kind, parse, validate } from 'graphql';
import { visit } from 'jsonc-parser';
import * as z from 'zod';
import { ConfigError } from '../config/environment.ts';
import { reasonOf } from '../errors.ts';
import { isJson } from '../rest/decode/members.ts';

/** The longest id, in characters. */
export const MAX_ID_LENGTH = 256;
/** How many mistakes are reported at once, and how many characters of an id. */
const MAX_REPORTED = 20;
const MAX_SHOWN = 80;

/** The schema and the limit that the operations of a manifest are checked against. */
export interface ManifestCheck {
  schema: GraphQLSchema;
  maxTokens: number;
}

/**
 * Reads the files and folders of `PERSISTED_OPERATIONS_FILE`. Throws a ConfigError that names what is wrong: a file that
 * cannot be used, an id with two texts, an operation that does not fit the schema. The same operation may be in several files.
 * Returns the texts by their ids without the prefix `sha256:`, and the names of the operations in them.
 */
export function readManifest(paths: readonly string[], check: ManifestCheck) {
  const byId = new Map<string, string>();
  const places = new Map<string, string>();
  const names = new Set<string>();
  const problems: string[] = [];
  const files = new Set(paths.flatMap(filesAt));
  if (paths.length > 0 && files.size === 0) problems.push(`${paths.join(', ')}: ${NO_FILE}`);
  for (const file of files) {
    const read = readOperations(file);
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
  const reported = problems.slice(0, MAX_REPORTED);
  if (problems.length > MAX_REPORTED) reported.push(`and ${problems.length - MAX_REPORTED} more`);
  throw new ConfigError(reported.map((problem) => `PERSISTED_OPERATIONS_FILE: ${problem}`));
}

const NO_FILE = 'the folder has no file named *.json; put the files that list operations there';

/** A file, or every `*.json` directly in a folder. */
function filesAt(path: string): string[] {
  // A path that is not there is reported when it is read.
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [path];
  const names = readdirSync(path).filter((name) => name.endsWith('.json') && !name.startsWith('.'));
  return names.sort().map((name) => join(path, name));
}

/** Adds the names of the operations in a text. Returns why the text could never run, and how to correct that. */
function addNames(text: string, { schema, maxTokens }: ManifestCheck, names: Set<string>): string | undefined {
  try {
    const document = parse(text, { maxTokens });
    const [error] = validate(schema, document, undefined, { maxErrors: 1 });
    if (error) return `${error.message} Remove it from the file, or rebuild the client with the gateway's schema.`;
    for (const part of document.definitions) {
      if (part.kind === Kind.OPERATION_DEFINITION && part.name) names.add(part.name.value);
    }
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

/** What a file lists, each with its place in the file, and what is wrong with it, one sentence each. */
interface ListedOperations {
  operations: { id: string; text: string; place: string }[];
  problems: string[];
}

const KNOWN_FORMATS =
  'it must be an Apollo manifest, an object of ids and texts, or the operationOutput of Apollo Kotlin; generate it again with the tool of the client';

/** Reads a file. Properties that no format has are ignored. */
export function readOperations(file: string): ListedOperations {
  let problem = 'the file cannot be read (…)';
  try {
    const content = readFileSync(file, 'utf8');
    problem = 'it cannot be read as JSON (…); generate it again';
    const value: unknown = JSON.parse(content);
    if (!isJson(value)) return { operations: [], problems: [KNOWN_FORMATS] };
    const isManifest = 'format' in value || Array.isArray(value['operations']);
    return isManifest ? readApolloManifest(value) : readById(value, content);
  } catch (error) {
    return { operations: [], problems: [problem.replace('…', () => reasonOf(error))] };
  }
}

/** An id as requests are compared with it. */
export function withoutPrefix(id: string): string {
  return id.replace(/^sha256:/, '');
}

const APOLLO_MANIFEST = z.object({
  format: z.literal('apollo-persisted-query-manifest', 'must be "apollo-persisted-query-manifest"'),
  version: z.literal(1, 'must be 1'),
  operations: z.array(
    z.object({ id: z.string().min(1).max(MAX_ID_LENGTH), body: z.string().min(1), name: z.string().nullish() }),
  ),
});

function readApolloManifest(value: object): ListedOperations {
  const { data, error } = APOLLO_MANIFEST.safeParse(value);
  const operations = data?.operations.map(({ id, body, name }, index) => ({
    id: withoutPrefix(id),
    text: body,
    place: `operations.${index} (${name == null ? '' : `"${name}", `}id ${id})`,
  }));
  const problems = error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  return { operations: operations ?? [], problems: problems ?? [] };
}

function readById(value: Readonly<Record<string, unknown>>, content: string): ListedOperations {
  const operations: ListedOperations['operations'] = [];
  const problems = repeatedNames(content).map((id) => `"${id.slice(0, MAX_SHOWN)}" occurs twice; remove one`);
  for (const [id, entry] of Object.entries(value)) {
    const text = isJson(entry) ? entry['source'] : entry;
    const place = `"${id.slice(0, MAX_SHOWN)}"`;
    const problem = problemOf(id, text);
    if (problem) problems.push(`${place}: ${problem}`);
    else operations.push({ id: withoutPrefix(id), text: String(text), place });
  }
  return { operations, problems };
}

function problemOf(id: string, text: unknown): string | undefined {
  if (id.includes('{')) return 'is the text of an operation; the file must map ids to texts, not texts to ids';
  if (id === '' || id.length > MAX_ID_LENGTH) return `an id must have 1 to ${MAX_ID_LENGTH} characters`;
  if (typeof text === 'string' && text !== '') return undefined;
  return `must be the text of an operation, or { "name", "source" }; ${KNOWN_FORMATS}`;
}

/** The names that the outermost object has more than once: JSON.parse keeps the last of them and says nothing. */
function repeatedNames(content: string): string[] {
  const names: string[] = [];
  visit(content, {
    onObjectProperty(name, _offset, _length, _line, _character, path) {
      if (path().length === 0) names.push(name);
    },
  });
  return names.filter((name, index) => names.indexOf(name) < index);
}
