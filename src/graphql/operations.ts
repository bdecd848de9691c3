/*
 * The operations that this process has validated: Apollo Server's document store, and what was compiled of them. Clients send
 * the same few texts repeatedly. A document that is not here is new: its caller has a budget for it, and it is measured before
 * it is validated. An invalid document is never stored, so it stays new, and each repetition is charged.
 *
 * Operations that were requested 50 times, or that the manifest lists, are compiled. That takes milliseconds, so it happens
 * between requests, one operation at a time. graphql-js executes all others.
 */
import { hash } from 'node:crypto';
import { type ApolloServerOptions, type BaseContext, HeaderMap } from '@apollo/server';
import {
  type DocumentNode,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  type ParseOptions,
  parse,
  type VariableDefinitionNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { ClientError, requestError } from '../errors.ts';
import type { OperationLimiter } from '../limits/operation-limits.ts';
import { createCompile, type Execute, loadCompiler } from './jit.ts';
import { countFields } from './jit-safety.ts';

/** One operation of a valid document. */
export interface KnownOperation {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  /** SHA-256 of the document's text, in hexadecimal. */
  readonly hash: string;
  /** Hash and name: the key of what was compiled. */
  readonly key: string;
  /** How often it was requested. */
  requests: number;
}

interface KnownDocument {
  readonly document: DocumentNode;
  readonly characters: number;
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

/**
 * How many documents are kept, and the characters of all their texts. Parsed, they take about 60 MB. The least recently used
 * are evicted.
 */
const MAX_DOCUMENTS = 1_000;
const MAX_CHARACTERS = 1_000_000;
/** Longer texts are parsed each time. The operations of applications are shorter. */
const MAX_TEXT_LENGTH = 16_384;
/** How many compiled operations are kept, and the fields of all of them: a compiled field takes about 1 KB. */
const MAX_COMPILED = 200;
const MAX_COMPILED_FIELDS = 20_000;

type DocumentStore = NonNullable<ApolloServerOptions<BaseContext>['documentStore']>;

export class Operations {
  readonly #options: OperationsOptions;
  readonly #compile: ReturnType<typeof createCompile>;
  /** By the hash of the text. */
  readonly #documents = new LRUCache<string, KnownDocument>({
    max: MAX_DOCUMENTS,
    maxSize: MAX_CHARACTERS,
    sizeCalculation: ({ characters }) => characters + 1,
  });
  readonly #compiled = new LRUCache<string, { execute: Execute; fields: number }>({
    max: MAX_COMPILED,
    maxSize: MAX_COMPILED_FIELDS,
    sizeCalculation: ({ fields }) => fields,
  });
  /** The keys of compiled operations that the manifest lists. */
  readonly #listed = new Set<string>();
  #compiling = Promise.resolve();

  constructor(options: OperationsOptions) {
    this.#options = options;
    this.#compile = createCompile(options.schema);
  }

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
    limiter.checkDocument(document);
    for (const part of document.definitions) {
      if (part.kind === Kind.OPERATION_DEFINITION && !schema.getRootType(part.operation)) {
        throw requestError('BAD_REQUEST', 400, `The schema has no ${part.operation}.`);
      }
    }
  }

  /** The requested operation of a document that Apollo Server found valid. Stores the document. */
  resolve(text: string, document: DocumentNode, { name }: OperationDefinitionNode): KnownOperation {
    const textHash = hash('sha256', text);
    const { operations } = this.#documents.get(textHash) ?? this.#store(textHash, text, document);
    const known = operations.get(name?.value);
    if (!known) throw new Error('A document without this operation has the same hash.');
    known.requests += 1;
    // Again and again, because what was compiled can be evicted.
    if (known.requests % this.#options.compileAfter === 0 && !this.#compiled.has(known.key)) this.#schedule(known);
    return known;
  }

  /** Executes a compiled operation; undefined while graphql-js executes it. */
  executorOf({ key }: KnownOperation): Execute | undefined {
    return this.#compiled.get(key)?.execute;
  }

  /** Compiles the operations of the manifest, which has validated them. Not those over a limit: requests get the error. */
  async compileListed(texts: Iterable<string>): Promise<void> {
    for (const text of texts) {
      await nextTurn();
      try {
        this.check(text);
        const document = parse(text, this.#options.parseOptions);
        const operation = getOperationAST(document);
        if (operation) await this.#schedule(this.resolve(text, document, operation), true);
      } catch {
        // Over a limit.
      }
    }
  }

  /** The valid documents by Apollo Server's key, which ends with a hash of the text. `resolve` stores them. */
  readonly documentStore: DocumentStore = {
    get: async (key) => this.#documents.get(key.slice(-64))?.document,
    set: async () => undefined,
    delete: async () => true,
  };

  #store(textHash: string, text: string, document: DocumentNode): KnownDocument {
    const operations = new Map<string | undefined, KnownOperation>();
    for (const operation of document.definitions) {
      if (operation.kind !== Kind.OPERATION_DEFINITION) continue;
      const name = operation.name?.value;
      operations.set(name, { document, operation, hash: textHash, key: `${textHash} ${name ?? ''}`, requests: 0 });
    }
    const known = { document, characters: text.length, operations };
    if (text.length <= MAX_TEXT_LENGTH) this.#documents.set(textHash, known);
    return known;
  }

  #schedule(known: KnownOperation, isListed = false): Promise<void> {
    this.#compiling = this.#compiling
      .then(nextTurn)
      .then(loadCompiler)
      .then(() => this.#compileNow(known, isListed))
      // graphql-js continues to execute it. serve.ts logs the error when graphql-jit cannot be loaded.
      .catch(() => undefined);
    return this.#compiling;
  }

  /** What the manifest lists goes first: other operations evict none of it. */
  #compileNow(known: KnownOperation, isListed: boolean): void {
    const { document, operation, key } = known;
    const fields = countFields(document, operation);
    const listed = [...this.#listed].flatMap((one) => this.#compiled.get(one) ?? []);
    const listedFields = listed.reduce((sum, one) => sum + one.fields, 0);
    const isFull = listed.length >= MAX_COMPILED || listedFields + fields > MAX_COMPILED_FIELDS;
    const execute = isFull ? undefined : this.#compile(document, operation);
    if (!execute) return;
    this.#compiled.set(key, { execute, fields });
    if (isListed) this.#listed.add(key);
  }
}

/** Lets requests go first. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Texts are valid for these types as they are. */
const TEXTS: ReadonlySet<string> = new Set(['ID', 'String']);

/** Whether a variable needs no coercion. Usually all of them are ids, and coercion would cost 1.5 % of a small request. */
function isText({ variable, type }: VariableDefinitionNode, variables: Readonly<Record<string, unknown>>): boolean {
  const named = type.kind === Kind.NON_NULL_TYPE ? type.type : type;
  const isTextType = named.kind === Kind.NAMED_TYPE && TEXTS.has(named.name.value);
  return isTextType && typeof variables[variable.name.value] === 'string';
}

/**
 * The variables with their declared types and defaults. Coercion stops at the first error, because a long list can have very
 * many. Throws BAD_USER_INPUT with HTTP 400.
 */
export function coerceVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  if (variableDefinitions.every((definition) => isText(definition, variables))) return variables;
  const { coerced, errors } = getVariableValues(schema, variableDefinitions, variables, { maxErrors: 1 });
  if (coerced) return coerced;
  throw new ClientError('BAD_USER_INPUT', errors[0]?.message ?? 'A variable is not valid.', {
    nodes: errors[0]?.nodes ?? null,
    extensions: { http: { status: 400, headers: new HeaderMap() } },
  });
}
