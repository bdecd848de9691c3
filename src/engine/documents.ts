/*
 * The documents that this process has validated, which is Apollo Server's document store. A document that is not here is new:
 * its caller has a limit for it. An invalid one is never stored, so each repetition consumes a point again.
 */
import { hash } from 'node:crypto';
import {
  type DocumentNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  separateOperations,
  visit,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Wanted } from '../rest/decode/properties.ts';
import { deprecatedIn } from './deprecated.ts';

export interface CachedOperation {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  /** The names of the fields that its document selects, by which responses of the service are decoded. */
  readonly wanted: Wanted;
  /** The name of the manifest file that lists its document. */
  readonly manifest: string | undefined;
  /** The deprecated parts of the schema that its text names; found at its first request. */
  deprecated?: readonly string[];
  requests: number;
  /** Why graphql-js executes it for good; undefined while it may be compiled, or is. */
  notCompiled?: string;
}

/** The operations of a document, by name. */
type CachedDocument = ReadonlyMap<string | undefined, CachedOperation>;

/** How many documents are kept, and the characters of their texts. Parsed, these take about 60 MB. */
const MAX_DOCUMENTS = 1_000;
const MAX_CHARACTERS = 1_000_000;
/** Longer texts are parsed each time, unless they are in the manifest. The operations of applications are shorter. */
const MAX_TEXT_LENGTH = 16_384;

export type DocumentStore = ReturnType<typeof createDocumentStore>;

/** @param manifestOf The name of the manifest file that lists a text, if one does. */
export function createDocumentStore(schema: GraphQLSchema, manifestOf: (text: string) => string | undefined) {
  /** By the hash of the text. */
  const recent = new LRUCache<string, CachedDocument>({
    max: MAX_DOCUMENTS,
    maxSize: MAX_CHARACTERS,
    maxEntrySize: MAX_TEXT_LENGTH,
  });
  /** Documents of the manifest, which bounds them: of any length, never evicted. */
  const listed = new Map<string, CachedDocument>();
  const find = (textHash: string) => listed.get(textHash) ?? recent.get(textHash);

  function add(textHash: string, text: string, document: DocumentNode): CachedDocument {
    const manifest = manifestOf(text);
    const common = { document, manifest, wanted: fieldsIn(document) };
    const cached = new Map<string | undefined, CachedOperation>();
    for (const operation of operationsIn(document))
      cached.set(operation.name?.value, { ...common, operation, requests: 0 });
    if (manifest !== undefined) listed.set(textHash, cached);
    else recent.set(textHash, cached, { size: text.length });
    return cached;
  }

  return {
    /** By Apollo Server's key, which ends with the hash of the text. Its `set` has no text, so `countRequest` stores the document. */
    forApollo: {
      get: async (key: string) => find(key.slice(-64))?.values().next().value?.document,
      set: async () => undefined,
      delete: async () => true,
    },
    /** Whether the document of a text was validated before. */
    has: (text: string): boolean => find(hash('sha256', text)) !== undefined,
    /** The requested operation of a valid document, which is stored. `textHash` is its SHA-256 in hexadecimal. */
    countRequest(textHash: string, text: string, document: DocumentNode, { name }: OperationDefinitionNode) {
      const found = (find(textHash) ?? add(textHash, text, document)).get(name?.value);
      if (!found) throw new Error('A document without this operation has the same hash.');
      found.requests += 1;
      found.deprecated ??= deprecatedIn(schema, onlyWith(found.document, found.operation));
      return found;
    },
  };
}

export function operationsIn({ definitions }: DocumentNode): OperationDefinitionNode[] {
  return definitions.filter((part) => part.kind === Kind.OPERATION_DEFINITION);
}

/** A valid document with one of its operations, and the fragments that this one uses. */
export function onlyWith(document: DocumentNode, { name }: OperationDefinitionNode): DocumentNode {
  return separateOperations(document)[name?.value ?? ''] ?? document;
}

/** The names of all fields and arguments of a document; undefined, which is all, if it has a filter: that can read any field. */
function fieldsIn(document: DocumentNode): Wanted {
  const names = new Set<string>();
  const add = ({ name }: { name: { value: string } }) => void names.add(name.value);
  visit(document, { Field: add, Argument: add });
  return names.has('filter') ? undefined : names;
}
