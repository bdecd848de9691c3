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
import { visit } from 'jsonc-parser';
import * as z from 'zod';
import { reasonOf } from '../errors.ts';
import { isJson } from '../rest/decode/members.ts';

/** The longest id, in characters. */
export const MAX_ID_LENGTH = 256;

/** What a file lists, and what is wrong with it, one sentence each. */
interface ListedOperations {
  /** The ids are without the prefix `sha256:`; a place says where in the file the operation is, for messages. */
  operations: { id: string; text: string; place: string }[];
  problems: string[];
}

const APOLLO_MANIFEST = z.object({
  format: z.literal('apollo-persisted-query-manifest', 'must be "apollo-persisted-query-manifest"'),
  version: z.literal(1, 'must be 1'),
  operations: z.array(
    z.object({ id: z.string().min(1).max(MAX_ID_LENGTH), body: z.string().min(1), name: z.string().nullish() }),
  ),
});

const KNOWN_FORMATS =
  'it must be an Apollo manifest, an object of ids and texts, or the operationOutput of Apollo Kotlin; generate it again with the tool of the client';

/** Reads the content of a file. Properties that no format has are ignored. */
export function readOperations(content: string): ListedOperations {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch (error) {
    return { operations: [], problems: [`it cannot be read as JSON (${reasonOf(error)}); generate it again`] };
  }
  if (!isJson(value)) return { operations: [], problems: [KNOWN_FORMATS] };
  const isManifest = 'format' in value || Array.isArray(value['operations']);
  return isManifest ? readApolloManifest(value) : readById(value, content);
}

/** An id as requests are compared with it. */
export function withoutPrefix(id: string): string {
  return id.replace(/^sha256:/, '');
}

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
  const problems = repeatedNames(content).map((id) => `"${shorten(id)}" occurs twice; remove one`);
  for (const [id, entry] of Object.entries(value)) {
    const text = isJson(entry) ? entry['source'] : entry;
    const place = `"${shorten(id)}"`;
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
  const seen = new Set<string>();
  return names.filter((name) => seen.size === seen.add(name).size);
}

function shorten(id: string): string {
  return id.length > 80 ? `${id.slice(0, 80)}…` : id;
}
