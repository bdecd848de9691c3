/*
 * Operations that were requested 50 times, or that the manifest lists, are compiled by graphql-jit, if jit-safety.ts allows
 * it. Compiling takes milliseconds, so it happens between requests, one operation at a time. graphql-js executes all other
 * operations.
 *
 * The variables are checked before a compiled operation is executed, so they always have the right type. Errors of a
 * compiled operation have the messages and paths of graphql-js. A test executes operations both ways and compares.
 */
import { MapperKind, mapSchema } from '@graphql-tools/utils';
import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLOutputType,
  type GraphQLSchema,
  GraphQLString,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  isScalarType,
  isSpecifiedScalarType,
  Kind,
  type OperationDefinitionNode,
  separateOperations,
  TypeInfo,
  typeFromAST,
  valueFromAST,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type * as GraphQLJit from 'graphql-jit';
import { LRUCache } from 'lru-cache';
import { countNodes, hasDirectives, isSafeToCompile } from './jit-safety.ts';

/** Executes a compiled operation. A result without `data` means that nothing was executed; graphql-js must do it. */
export type Execute = (
  root: object,
  context: object,
  variables: Readonly<Record<string, unknown>> | undefined,
) => ExecutionResult | Promise<ExecutionResult>;

/** The operation to compile. */
interface Compilable {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}

/** How many compiled operations are kept, and the nodes of all of them: a compiled node takes about 450 bytes. */
const MAX_COMPILED = 200;
const MAX_COMPILED_NODES = 50_000;

let jit: typeof GraphQLJit | undefined;

/** Loads graphql-jit. Called after the server listens, because loading is a large part of the start time. */
export async function loadCompiler(): Promise<void> {
  jit ??= await import('graphql-jit');
}

/** Compiles operations of one schema, one at each turn of the event loop. */
export class Compiler {
  readonly #schema: GraphQLSchema;
  readonly #plain: GraphQLSchema;
  readonly #queue: Compilable[] = [];
  /** Least recently used operations are evicted; graphql-js executes them from then on. */
  readonly #compiled = new LRUCache<Compilable, { execute: Execute; nodes: number }>({
    max: MAX_COMPILED,
    maxSize: MAX_COMPILED_NODES,
    sizeCalculation: ({ nodes }) => nodes,
  });

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
    this.#plain = withPlainScalars(schema);
  }

  /** The compiled operation; undefined while graphql-js executes it. */
  executorOf(operation: Compilable): Execute | undefined {
    return this.#compiled.get(operation)?.execute;
  }

  schedule(operation: Compilable): void {
    if (this.#queue.push(operation) === 1) void this.#compileQueue();
  }

  /** Undefined for an operation that graphql-jit may not or cannot compile. */
  compile(document: DocumentNode, operation: OperationDefinitionNode): Execute | undefined {
    if (!jit || !isSafeToCompile(this.#schema, document, operation)) return undefined;
    return compileWith(jit, this.#plain, document, operation);
  }

  async #compileQueue(): Promise<void> {
    for (const operation of this.#queue) {
      await new Promise((resolve) => setImmediate(resolve));
      try {
        await loadCompiler();
        const execute = this.compile(operation.document, operation.operation);
        const nodes = countNodes(operation.document, operation.operation);
        if (execute) this.#compiled.set(operation, { execute, nodes });
      } catch {
        // graphql-js continues to execute it. serve.ts logs the error when graphql-jit cannot be loaded.
      }
    }
    this.#queue.length = 0;
  }
}

/**
 * The schema for graphql-jit. Values are decoded already, so graphql-jit need not serialise them. With
 * `disableLeafSerialization` it skips that for built-in scalars and enums only. So our custom scalars are declared as String
 * here. Values do not change.
 */
function withPlainScalars(schema: GraphQLSchema): GraphQLSchema {
  const plain = (type: GraphQLOutputType): GraphQLOutputType => {
    if (isNonNullType(type)) return new GraphQLNonNull(plain(type.ofType));
    return isListType(type) ? new GraphQLList(plain(type.ofType)) : GraphQLString;
  };
  return mapSchema(schema, {
    [MapperKind.OBJECT_FIELD](field) {
      const scalar = getNamedType(field.type);
      if (!isScalarType(scalar) || isSpecifiedScalarType(scalar)) return undefined;
      return { ...field, type: plain(field.type) };
    },
  });
}

function compileWith(
  { compileQuery, isCompiledQuery }: typeof GraphQLJit,
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): Execute | undefined {
  const own = withOwnFields(document, operation);
  const compiled = compileQuery(schema, own ?? document, operation.name?.value ?? '', {
    disablingCapturingStackErrors: true,
    disableLeafSerialization: true,
    // Otherwise a field of a fragment gets the conditions of all spreads of that fragment.
    useExperimentalPathBasedSkipInclude: own !== undefined,
  });
  if (!isCompiledQuery(compiled)) return undefined;
  const { query } = compiled;
  const neverNull = variablesNeverNull(schema, document, operation);
  const defaults = defaultsOfNonNull(schema, operation);
  const objects = inputObjectVariables(schema, operation);
  if (neverNull.length === 0 && objects.length === 0 && !defaults) return query;
  return (root, context, variables) => {
    if (neverNull.some((name) => variables?.[name] === null)) return {};
    if (objects.some((name) => Array.isArray(variables?.[name]))) return {};
    return query(root, context, defaults ? { ...defaults, ...variables } : variables);
  };
}

/**
 * A copy of the operation and its fragments with new field nodes. graphql-jit stores the conditions of a field on its node,
 * and several operations of a document can share a node. Undefined when no field has a condition.
 */
function withOwnFields(document: DocumentNode, { name }: OperationDefinitionNode): DocumentNode | undefined {
  const one = separateOperations(document)[name?.value ?? ''];
  return one && hasDirectives(one) ? visit(one, { [Kind.FIELD]: { leave: (node) => ({ ...node }) } }) : undefined;
}

/** The defaults of non-null variables, which graphql-jit does not apply. */
function defaultsOfNonNull(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
): Record<string, unknown> | undefined {
  const found = variableDefinitions.flatMap(({ variable, type, defaultValue }): [string, unknown][] => {
    const inputType = type.kind === Kind.NON_NULL_TYPE ? typeFromAST(schema, type) : undefined;
    return defaultValue && isInputType(inputType) ? [[variable.name.value, valueFromAST(defaultValue, inputType)]] : [];
  });
  return found.length > 0 ? Object.fromEntries(found) : undefined;
}

/** The variables of input object types. For these, graphql-jit also accepts a list. */
function inputObjectVariables(schema: GraphQLSchema, { variableDefinitions = [] }: OperationDefinitionNode): string[] {
  return variableDefinitions
    .filter(({ type }) => isInputObjectType(getNullableType(typeFromAST(schema, type))))
    .map(({ variable }) => variable.name.value);
}

/**
 * Nullable variables that are used where the type is non-null and has a default. A null there is an error of the field.
 * graphql-jit reports that error with another message, and does not report it in a directive.
 */
function variablesNeverNull(
  schema: GraphQLSchema,
  document: DocumentNode,
  { variableDefinitions = [] }: OperationDefinitionNode,
): string[] {
  const nullable = variableDefinitions.filter(({ type }) => type.kind !== Kind.NON_NULL_TYPE);
  const neverNull = new Set<string>();
  const types = new TypeInfo(schema);
  const visitor = visitWithTypeInfo(types, {
    [Kind.VARIABLE_DEFINITION]: () => false,
    [Kind.VARIABLE]: ({ name }) => {
      if (isNonNullType(types.getInputType())) neverNull.add(name.value);
    },
  });
  visit(document, visitor);
  return nullable.map(({ variable }) => variable.name.value).filter((name) => neverNull.has(name));
}
