/*
 * Compiles operations with graphql-jit, if jit-safety.ts allows it. A compiled operation gets the variables that graphql-js
 * has coerced, so they have the right types and defaults. Its data and errors are those of graphql-js: a test executes
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
  Kind,
  type OperationDefinitionNode,
  separateOperations,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type * as GraphQLJit from 'graphql-jit';
import { hasDirectives, reasonNotToCompile } from './jit-safety.ts';

/** Executes a compiled operation. A result without `data` means that nothing was executed; graphql-js must do it. */
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
    const name = operation.name?.value ?? '';
    const own = withOwnFields(document, name);
    const compiled = jit.compileQuery(plain, own ?? document, name, {
      disablingCapturingStackErrors: true,
      disableLeafSerialization: true,
      // Otherwise a field of a fragment gets the conditions of all spreads of that fragment.
      useExperimentalPathBasedSkipInclude: own !== undefined,
    });
    if (!jit.isCompiledQuery(compiled)) return undefined;
    const { query } = compiled;
    const neverNull = variablesNeverNull(schema, document);
    return (root, context, variables) =>
      neverNull.some((variable) => variables[variable] === null) ? {} : query(root, context, variables);
  };
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

/**
 * A copy of the operation and its fragments with new field nodes. graphql-jit stores the conditions of a field on its node,
 * and several operations of a document can share a node. Undefined when no field has a condition.
 */
function withOwnFields(document: DocumentNode, name: string): DocumentNode | undefined {
  const one = separateOperations(document)[name];
  return one && hasDirectives(one) ? visit(one, { [Kind.FIELD]: { leave: (node) => ({ ...node }) } }) : undefined;
}

/**
 * The variables that are used where a value must not be null. There a null for a nullable variable with a default is an error
 * of the field. graphql-jit reports that error with another message, and does not report it in a directive.
 */
function variablesNeverNull(schema: GraphQLSchema, document: DocumentNode): readonly string[] {
  const found = new Set<string>();
  const types = new TypeInfo(schema);
  const visitor = visitWithTypeInfo(types, {
    [Kind.VARIABLE_DEFINITION]: () => false,
    [Kind.VARIABLE]({ name }) {
      if (isNonNullType(types.getInputType())) found.add(name.value);
    },
  });
  visit(document, visitor);
  return [...found];
}
