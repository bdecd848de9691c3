/*
 * The operations that this process knows: parsed, within the limits and valid. Clients send the same few texts repeatedly, so
 * parsed documents are kept by their text.
 *
 * An unknown text takes milliseconds to parse and validate. So callers have a budget for new operations, and limits that need
 * no validation are checked first. Apollo Server gets the document through `documentStore` instead of parsing it again. For
 * a text that does not parse or is not valid, Apollo Server returns the errors.
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
  parse,
  type VariableDefinitionNode,
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import type { OperationLimiter } from '../limits/operation-limits.ts';
import { ClientError, requestError, withoutSuggestion } from './errors.ts';
import type { Compiler, Execute } from './jit.ts';

/** A valid document. */
interface DocumentInfo {
  readonly document: DocumentNode;
  /** SHA-256 of its text, in hexadecimal. */
  readonly hash: string;
}

/** One operation of a valid document. */
export interface KnownOperation extends DocumentInfo {
  readonly operation: OperationDefinitionNode;
  /** How often it was requested. */
  requests: number;
  /** Compiled by graphql-jit; undefined while graphql-js executes it. */
  execute: Execute | undefined;
}

interface KnownDocument extends DocumentInfo {
  /** By the name the client gives; undefined for a request without one. */
  readonly operations: Map<string | undefined, KnownOperation>;
}

interface OperationsOptions {
  schema: GraphQLSchema;
  limiter: OperationLimiter;
  compiler: Compiler;
  maxTokens: number;
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
  readonly #byText = new LRUCache<string, KnownDocument>({
    max: MAX_DOCUMENTS,
    maxSize: MAX_CHARACTERS,
    sizeCalculation: (_document, text) => text.length + 1,
  });
  readonly #byHash = new LRUCache<string, DocumentNode>({
    max: MAX_DOCUMENTS,
    maxSize: MAX_CHARACTERS,
    sizeCalculation: ({ loc }) => (loc?.end ?? 0) + 1,
  });

  constructor(options: OperationsOptions) {
    this.#options = options;
  }

  /** Whether a text was parsed and validated before. */
  has(text: string): boolean {
    return this.#byText.has(text);
  }

  /**
   * The requested operation. Undefined for an invalid text, and for a name that is not in it: Apollo Server returns the
   * error. Throws OPERATION_TOO_COMPLEX for a document over a limit.
   */
  find(text: string, operationName: string | undefined): KnownOperation | undefined {
    const known = this.#byText.get(text) ?? this.#add(text);
    if (!known) return undefined;
    let operation = known.operations.get(operationName);
    if (!operation) {
      const node = getOperationAST(known.document, operationName);
      if (!node) return undefined;
      const { document, hash } = known;
      operation = { document, operation: node, hash, requests: 0, execute: undefined };
      known.operations.set(operationName, operation);
    }
    operation.requests += 1;
    if (operation.requests === this.#options.compileAfter) this.#options.compiler.schedule(operation);
    return operation;
  }

  /** Schedules the compilation of the operation of a text. Does nothing for an operation over a limit. */
  compileText(text: string): void {
    try {
      const operation = this.find(text, undefined);
      if (operation) this.#options.compiler.schedule(operation);
    } catch {
      // Over a limit: a request for it gets the error.
    }
  }

  /** The valid documents by Apollo Server's key, which ends with a hash of the text. */
  readonly documentStore: DocumentStore = {
    get: async (key) => this.#byHash.get(key.slice(-64)),
    set: async () => undefined,
    delete: async () => true,
  };

  #add(text: string): KnownDocument | undefined {
    const { schema, limiter, maxTokens } = this.#options;
    const document = parseOrUndefined(text, maxTokens);
    if (!document) return undefined;
    limiter.checkDocument(document);
    for (const part of document.definitions) {
      if (part.kind === 'OperationDefinition' && !schema.getRootType(part.operation)) {
        throw requestError('BAD_REQUEST', 400, `The schema has no ${part.operation}.`);
      }
    }
    if (validate(schema, document, undefined, { maxErrors: 1 }).length > 0) return undefined;
    const known = {
      document,
      hash: hash('sha256', text),
      operations: new Map<string | undefined, KnownOperation>(),
    };
    this.#byHash.set(known.hash, document);
    if (text.length <= MAX_TEXT_LENGTH) this.#byText.set(text, known);
    return known;
  }
}

function parseOrUndefined(text: string, maxTokens: number): DocumentNode | undefined {
  try {
    return parse(text, { maxTokens });
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
