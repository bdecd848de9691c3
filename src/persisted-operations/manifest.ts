/* The files in which clients' tools list the operations of an application. docs/persisted-operations.md has the tools and their formats. */
import { hash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type GraphQLSchema, Kind, parse, validate } from 'graphql';
import * as z from 'zod';
import { ConfigError } from '../config/environment.ts';
import { reasonOf } from '../errors.ts';
import { isJson } from '../json.ts';

/** The longest id, in characters, and how many mistakes are reported at once. */
export const MAX_ID_LENGTH = 256;
const MAX_REPORTED = 20;

/** What the operations of a manifest are checked against. */
export interface ManifestCheck {
  schema: GraphQLSchema;
  maxTokens: number;
}

/**
 * Reads the files and folders of `PERSISTED_OPERATIONS_FILE`: the texts by their ids without the prefix `sha256:` and by their
 * hashes, which automatic persisted queries have; the last file that lists each text; the names of the operations. Several files may
 * have the same operation. Throws a ConfigError for a file that cannot be used, an id with two texts, and an invalid operation.
 */
export function readManifest(paths: readonly string[], check: ManifestCheck) {
  const byId = new Map<string, string>();
  const names = new Set<string>();
  const fileOf = new Map<string, string>();
  const problems: string[] = [];
  const attempt = <Found>(place: string, read: () => Found[]): Found[] => {
    try {
      return read();
    } catch (error) {
      problems.push(`PERSISTED_OPERATIONS_FILE: ${place}: ${reasonOf(error)}`);
      return [];
    }
  };
  for (const file of new Set(paths.flatMap((path) => attempt(path, () => filesAt(path))))) {
    for (const { id, text } of attempt(file, () => readOperations(file))) {
      fileOf.set(text, basename(file));
      if (byId.get(id) === text) continue;
      const found = attempt(`${file}: "${id}"`, () => {
        if (byId.has(id)) throw new Error('this id has another text, too; generate all files again');
        return operationNamesIn(text, check);
      });
      byId.set(id, text);
      for (const name of found) names.add(name);
    }
  }
  const byHash = [...fileOf.keys()].map((text): [string, string] => [hash('sha256', text), text]);
  // The ids of files come first.
  if (problems.length === 0) return { byId: new Map([...byHash, ...byId]), names, fileOf };
  const more = problems.length - MAX_REPORTED;
  throw new ConfigError([...problems.slice(0, MAX_REPORTED), ...(more > 0 ? [`and ${more} more`] : [])]);
}

/** A file, or every `*.json` directly in a folder. */
function filesAt(path: string): string[] {
  // A path that is not there is reported when it is read.
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [path];
  const names = readdirSync(path).filter((name) => name.endsWith('.json') && !name.startsWith('.'));
  if (names.length === 0) throw new Error('the folder has no *.json; put the files that list operations there');
  return names.sort().map((name) => join(path, name));
}

/** The names of the operations in a text. Throws for a text that could never run. */
function operationNamesIn(text: string, { schema, maxTokens }: ManifestCheck): string[] {
  const document = parse(text, { maxTokens });
  const [error] = validate(schema, document, undefined, { maxErrors: 1 });
  if (error) throw new Error(`${error.message} Remove it, or rebuild the client with the gateway's schema.`);
  return document.definitions.flatMap((part) =>
    part.kind === Kind.OPERATION_DEFINITION && part.name ? [part.name.value] : [],
  );
}

/** An id as requests are compared with it: files and requests may leave out the prefix. */
export function withoutPrefix(id: string): string {
  return id.replace(/^sha256:/, '');
}

const ID = z.string().min(1).max(MAX_ID_LENGTH);
const TEXT = z.string().min(1);

const APOLLO_MANIFEST = z
  .object({
    format: z.literal('apollo-persisted-query-manifest'),
    version: z.literal(1),
    operations: z.array(z.object({ id: ID, body: TEXT })),
  })
  .transform(({ operations }) => operations.map(({ id, body }) => ({ id: withoutPrefix(id), text: body })));

/** `{ "<id>": "<text>" }`, or `{ "<id>": { "name", "source" } }` of Apollo Kotlin's `operationOutput`. */
const BY_ID = z
  .record(ID, z.union([TEXT, z.object({ source: TEXT }).transform(({ source }) => source)]))
  .transform((texts) => Object.entries(texts).map(([id, text]) => ({ id: withoutPrefix(id), text })));

/** The operations that a file lists. Throws for a file in none of the formats; properties that no format has are ignored. */
export function readOperations(file: string): { id: string; text: string }[] {
  const value: unknown = JSON.parse(readFileSync(file, 'utf8').trim());
  const isManifest = isJson(value) && ('format' in value || Array.isArray(value['operations']));
  const { data, error } = (isManifest ? APOLLO_MANIFEST : BY_ID).safeParse(value);
  if (data?.length === 0) throw new Error('it has no operations; generate it again');
  if (data) return data;
  const issues = error.issues.map(({ path, message }) => `${path.join('.').slice(0, 80)}: ${message}`);
  throw new Error(
    `it must be an Apollo manifest, or an object of ids and texts; generate it again (${issues.slice(0, 3).join('; ')})`,
  );
}
