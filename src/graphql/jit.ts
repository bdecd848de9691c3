/*
 * Compiles operations with graphql-jit, where jit-safety.ts allows it. Data and errors are those of graphql-js: a test executes
 * operations both ways and compares.
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
  isListType,
  isNonNullType,
  isScalarType,
  isSpecifiedScalarType,
  type OperationDefinitionNode,
} from 'graphql';
import type * as GraphQLJit from 'graphql-jit';
import { reasonNotToCompile } from './jit-safety.ts';

/**
 * Executes a compiled operation with variables that graphql-js has coerced. A result without `data` means that nothing was
 * executed; graphql-js must do it.
 */
export type Execute = (
  root: object,
  context: object,
  variables: Readonly<Record<string, unknown>>,
) => ExecutionResult | Promise<ExecutionResult>;

/** Undefined for an operation that graphql-jit may not or cannot compile. */
export type Compile = (document: DocumentNode, operation: OperationDefinitionNode) => Execute | undefined;

let jit: typeof GraphQLJit | undefined;

/** Loads graphql-jit. Called after the server listens, because loading is a large part of the start time. */
export async function loadCompiler(): Promise<void> {
  jit ??= await import('graphql-jit');
}

/** Compiles nothing before the compiler is loaded. */
export function createCompile(schema: GraphQLSchema): Compile {
  const plain = withPlainScalars(schema);
  return (document, operation) => {
    if (!jit || reasonNotToCompile(schema, document, operation) !== undefined) return undefined;
    const compiled = jit.compileQuery(plain, document, operation.name?.value ?? '', {
      disablingCapturingStackErrors: true,
      disableLeafSerialization: true,
    });
    return jit.isCompiledQuery(compiled) ? compiled.query : undefined;
  };
}

/**
 * The schema for graphql-jit. Values are decoded already, so it need not serialise them. `disableLeafSerialization` skips that
 * for built-in scalars and enums only, so custom scalars are declared as String here. Values do not change.
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
