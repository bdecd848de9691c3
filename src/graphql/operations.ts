/*
 * The documents that this process has validated, by the hash of their text: Apollo Server's document store. Clients send the
 * same few texts repeatedly. A document that is not here is new: its caller has a budget for it, and it is measured before it
 * is validated. An invalid document is never stored, so it stays new, and each repetition is charged.
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
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { ClientError, requestError } from '../errors.ts';
import type { OperationLimiter } from '../limits/operation-limits.ts';
import { withoutSuggestion } from './errors.ts';
import type { Compiler } from './jit.ts';

/** One operation of a valid document. */
export interface KnownOperation {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  /** SHA-256 of the document's text, in hexadecimal. */
  readonly hash: string;
  /** How often it was requested. */
  requests: number;
}

interface KnownDocument {
  readonly document: DocumentNode;
  readonly characters: number;
  readonly operations: Map<OperationDefinitionNode, KnownOperation>;
}

interface OperationsOptions {
  schema: GraphQLSchema;
  limiter: OperationLimiter;
  compiler: Compiler;
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

type DocumentStore = NonNullable<ApolloServerOptions<BaseContext>['documentStore']>;

export class Operations {
  readonly #options: OperationsOptions;
  readonly #byHash = new LRUCache<string, KnownDocument>({
    max: MAX_DOCUMENTS,
    maxSize: MAX_CHARACTERS,
    sizeCalculation: ({ characters }) => characters + 1,
  });

  constructor(options: OperationsOptions) {
    this.#options = options;
  }

  /** Whether the document of a text was validated before. */
  has(text: string): boolean {
    return this.#byHash.has(hashOf(text));
  }

  /**
   * Checks the limits of a new document that need no variables, before it is validated. Throws OPERATION_TOO_COMPLEX, and
   * BAD_REQUEST for a kind of operation that the schema does not have. Apollo Server reports a text that cannot be parsed.
   */
  check(text: string): void {
    const { schema, limiter, parseOptions } = this.#options;
    const document = parseOrUndefined(text, parseOptions);
    if (!document) return;
    limiter.checkDocument(document);
    for (const part of document.definitions) {
      if (part.kind === Kind.OPERATION_DEFINITION && !schema.getRootType(part.operation)) {
        throw requestError('BAD_REQUEST', 400, `The schema has no ${part.operation}.`);
      }
    }
  }

  /** The requested operation of a document that Apollo Server found valid. Stores the document. */
  resolve(text: string, document: DocumentNode, operation: OperationDefinitionNode): KnownOperation {
    const key = hashOf(text);
    const known = this.#byHash.get(key) ?? this.#store(key, text, document);
    let found = known.operations.get(operation);
    if (!found) {
      found = { document, operation, hash: key, requests: 0 };
      known.operations.set(operation, found);
    }
    found.requests += 1;
    if (found.requests === this.#options.compileAfter) this.#options.compiler.schedule(found);
    return found;
  }

  /** Validates a text of the manifest and schedules its compilation. Does nothing for a text over a limit. */
  compileText(text: string): void {
    try {
      this.check(text);
      const document = parse(text, this.#options.parseOptions);
      const operation = getOperationAST(document);
      if (!operation || validate(this.#options.schema, document).length > 0) return;
      this.#options.compiler.schedule(this.resolve(text, document, operation));
    } catch {
      // Over a limit: a request for it gets the error.
    }
  }

  /** The valid documents by Apollo Server's key, which ends with a hash of the text. `resolve` stores them. */
  readonly documentStore: DocumentStore = {
    get: async (key) => this.#byHash.get(key.slice(-64))?.document,
    set: async () => undefined,
    delete: async () => true,
  };

  #store(key: string, text: string, document: DocumentNode): KnownDocument {
    const known = { document, characters: text.length, operations: new Map() };
    if (text.length <= MAX_TEXT_LENGTH) this.#byHash.set(key, known);
    return known;
  }
}

function hashOf(text: string): string {
  return hash('sha256', text);
}

function parseOrUndefined(text: string, options: ParseOptions): DocumentNode | undefined {
  try {
    return parse(text, options);
  } catch {
    return undefined;
  }
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
 * Checks that the variables have their declared types. Coercion stops at the first error, because a long list can have very
 * many. Throws BAD_USER_INPUT with HTTP 400.
 * @param suggestions Whether the message may suggest names of the schema.
 */
export function checkVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>> | undefined = {},
  suggestions: boolean,
): void {
  if (variableDefinitions.every((definition) => isText(definition, variables))) return;
  const [error] = getVariableValues(schema, variableDefinitions, variables, { maxErrors: 1 }).errors ?? [];
  if (!error) return;
  const extensions = { http: { status: 400, headers: new HeaderMap() } };
  throw new ClientError('BAD_USER_INPUT', suggestions ? error.message : withoutSuggestion(error.message), {
    nodes: error.nodes ?? null,
    extensions,
  });
}
