/*
 * The operations that this process has validated: Apollo Server's document store, and what was compiled of them. A document that
 * is not here is new: its caller has a limit for it. An invalid one is never stored, so each repetition consumes a point again.
 * Operations that were requested `compileAfter` times are compiled, which takes milliseconds: one at a time, between requests.
 */
import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { HeaderMap } from '@apollo/server';
import {
  type DocumentNode,
  type GraphQLSchema,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  type ParseOptions,
  parse,
  visit,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { ClientError, requestError } from '../errors.ts';
import type { Wanted } from '../rest/decode/properties.ts';
import { createCompile, type Execute } from './jit.ts';
import type { OperationLimiter } from './operation-limits.ts';

/** One operation of a valid document. */
export interface KnownOperation {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  /** The names of the fields that its document selects, by which responses of the service are decoded. */
  readonly wanted: Wanted;
  /** Hash and name: the key of what was compiled. */
  readonly key: string;
  /** How often it was requested. */
  requests: number;
}

interface KnownDocument {
  readonly document: DocumentNode;
  /** By name. */
  readonly operations: ReadonlyMap<string | undefined, KnownOperation>;
}

interface OperationsOptions {
  schema: GraphQLSchema;
  limiter: OperationLimiter;
  parseOptions: ParseOptions;
  /** How often an operation is requested before it is compiled. */
  compileAfter: number;
}

/** How many documents are kept, and the characters of their texts. Parsed, these take about 60 MB. */
const MAX_DOCUMENTS = 1_000;
const MAX_CHARACTERS = 1_000_000;
/** Longer texts are parsed each time. The operations of applications are shorter. */
const MAX_TEXT_LENGTH = 16_384;
/** How many compiled operations are kept, and their fields: a compiled field takes about 1 KB. */
const MAX_COMPILED = 200;
const MAX_COMPILED_FIELDS = 20_000;

export class Operations {
  readonly #options: OperationsOptions;
  readonly #compile: ReturnType<typeof createCompile>;
  /** By the hash of the text. */
  readonly #documents = new LRUCache<string, KnownDocument>({
    max: MAX_DOCUMENTS,
    maxSize: MAX_CHARACTERS,
    maxEntrySize: MAX_TEXT_LENGTH,
  });
  readonly #compiled = new LRUCache<string, Execute>({ max: MAX_COMPILED, maxSize: MAX_COMPILED_FIELDS });
  #compiling = Promise.resolve();

  constructor(options: OperationsOptions) {
    this.#options = options;
    this.#compile = createCompile(options.schema);
  }

  /** The valid documents by Apollo Server's key, which ends with the hash of the text. `resolve` stores them. */
  readonly documentStore = {
    get: async (key: string) => this.#documents.get(key.slice(-64))?.document,
    set: async () => undefined,
    delete: async () => true,
  };

  /** Whether the document of a text was validated before. */
  has(text: string): boolean {
    return this.#documents.has(hash('sha256', text));
  }

  /**
   * Checks the limits of a new document that need no variables, before it is validated. Throws OPERATION_TOO_COMPLEX, and
   * BAD_REQUEST for a kind of operation that the schema does not have. Apollo Server reports a text that cannot be parsed.
   */
  check(text: string): void {
    const { schema, limiter, parseOptions } = this.#options;
    let document: DocumentNode;
    try {
      document = parse(text, parseOptions);
    } catch {
      return;
    }
    limiter.check({ repetitions: repetitionsIn(document) });
    for (const part of operationsIn(document)) {
      const { depth, aliases } = limiter.measure(document, part);
      limiter.check({ depth, aliases });
      const { operation } = part;
      if (!schema.getRootType(operation)) throw requestError('BAD_REQUEST', 400, `The schema has no ${operation}.`);
    }
  }

  /** The requested operation of a valid document, which is stored. `textHash` is its SHA-256 in hexadecimal. */
  resolve(textHash: string, text: string, document: DocumentNode, { name }: OperationDefinitionNode): KnownOperation {
    const { operations } = this.#documents.get(textHash) ?? this.#store(textHash, text, document);
    const known = operations.get(name?.value);
    if (!known) throw new Error('A document without this operation has the same hash.');
    known.requests += 1;
    // Again and again, because what was compiled can be evicted.
    if (known.requests % this.#options.compileAfter === 0) this.#schedule(known);
    return known;
  }

  /** Executes a compiled operation; undefined while graphql-js executes it. */
  executorOf({ key }: Pick<KnownOperation, 'key'>): Execute | undefined {
    return this.#compiled.get(key);
  }

  #store(textHash: string, text: string, document: DocumentNode): KnownDocument {
    const wanted = fieldsIn(document);
    const operations = operationsIn(document).map((operation) => {
      const name = operation.name?.value;
      const key = `${textHash} ${name}`;
      return [name, { document, operation, wanted, key, requests: 0 }] as const;
    });
    const known = { document, operations: new Map(operations) };
    this.#documents.set(textHash, known, { size: text.length + 1 });
    return known;
  }

  #schedule({ document, operation, key }: KnownOperation): void {
    const compile = async () => {
      await nextTurn();
      if (this.#compiled.has(key)) return;
      const { fields } = this.#options.limiter.measure(document, operation);
      const execute = this.#compile(document, operation, fields);
      if (execute) this.#compiled.set(key, execute, { size: fields });
    };
    // After a failure graphql-js continues to execute it.
    this.#compiling = this.#compiling.then(compile).catch(() => undefined);
  }
}

function operationsIn({ definitions }: DocumentNode): OperationDefinitionNode[] {
  return definitions.filter((part) => part.kind === Kind.OPERATION_DEFINITION);
}

/** The sum of the squares of how often each name has selections: at least the number of pairs that validation compares. */
function repetitionsIn(document: DocumentNode): number {
  const counts = new Map<string, number>();
  visit(document, {
    [Kind.FIELD]({ alias, name, selectionSet }) {
      const { value } = alias ?? name;
      if (selectionSet) counts.set(value, (counts.get(value) ?? 0) + 1);
    },
  });
  return [...counts.values()].reduce((sum, count) => sum + count ** 2, 0);
}

/** The names of all fields and arguments of a document; undefined, which is all, if it has a filter: that can read any field. */
function fieldsIn(document: DocumentNode): Wanted {
  const names = new Set<string>();
  const add = ({ name }: { name: { value: string } }) => void names.add(name.value);
  visit(document, { Field: add, Argument: add });
  return names.has('filter') ? undefined : names;
}

/** The variables with their types and defaults. Stops at the first error: a list can have many. Throws BAD_USER_INPUT. */
export function coerceVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>> = {},
  hideSuggestions = false,
): Readonly<Record<string, unknown>> {
  const options = { maxErrors: 1, hideSuggestions };
  const { coerced, errors } = getVariableValues(schema, variableDefinitions, variables, options);
  if (coerced) return coerced;
  throw new ClientError('BAD_USER_INPUT', errors[0]?.message ?? 'A variable is not valid.', {
    nodes: errors[0]?.nodes ?? null,
    extensions: { http: { status: 400, headers: new HeaderMap() } },
  });
}
