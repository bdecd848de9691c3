/*
 * Operations that come again are compiled by graphql-jit; compilable.ts says which of them it may have. Not at first
 * sight: compiling takes milliseconds, so that a stream of new documents would cost more than it saves.
 *
 * A compiled operation's failures have the same messages and paths as graphql-js's. About variables that do not fit
 * graphql-js is asked: a compiled operation then has no data, and nothing was executed. A test runs operations both ways
 * and compares.
 */
import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  getNullableType,
  isInputObjectType,
  isInputType,
  isNonNullType,
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
import type { Maybe } from '../../rest/maybe.ts';
import type { Context } from './context.ts';
import { hasDirectives, isCompilable } from './jit-safety.ts';
import { withPlainScalars } from './jit-schema.ts';
import { sizeOf } from './size.ts';

export type Execute = (
  root: object,
  context: Context,
  variables: Record<string, unknown> | undefined,
) => Maybe<ExecutionResult>;

export interface CompiledOperation {
  execute: Execute;
  /** What it weighs among others: nodes of its syntax tree, fragments spread. One takes about 300 bytes. */
  size: number;
}

let jit: typeof GraphQLJit | undefined;

/**
 * Loads the compiler. That takes a good part of the time a gateway needs to start, so a process listens first; until the
 * compiler is there, graphql-js executes everything.
 */
export async function loadCompiler(): Promise<void> {
  jit ??= await import('graphql-jit');
}

/** How often an operation is executed by graphql-js before it is compiled. */
const COMPILE_AFTER = 2;

/** Larger ones are left to graphql-js; an application's operations have some hundred nodes. */
const MAX_SIZE = 10_000;

interface Seen {
  /** Since it was last compiled. */
  times: number;
  /** 0 when graphql-js has it for good. */
  size: number;
}

/** Remembers how often operations were seen and compiles those that come again. One for each schema. */
export function createCompiler(schema: GraphQLSchema) {
  const operations = new WeakMap<OperationDefinitionNode, Seen>();
  const plain = withPlainScalars(schema);
  /** An operation compiled, or null while graphql-js is to execute it. Whoever is given a compiled one keeps it. */
  return (document: DocumentNode, operation: OperationDefinitionNode): CompiledOperation | null => {
    let seen = operations.get(operation);
    if (!seen) {
      const size = isCompilable(schema, document, operation) ? sizeOf(document, operation) : 0;
      seen = { times: 0, size: size <= MAX_SIZE ? size : 0 };
      operations.set(operation, seen);
    }
    const { size } = seen;
    if (size === 0) return null;
    seen.times += 1;
    if (seen.times <= COMPILE_AFTER || !jit) return null;
    const execute = compile(jit, plain, document, operation);
    Object.assign(seen, { times: 0, size: execute ? size : 0 });
    return execute && { execute, size };
  };
}

function compile(
  { compileQuery, isCompiledQuery }: typeof GraphQLJit,
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): Execute | null {
  const own = withOwnFields(document, operation);
  const compiled = compileQuery(schema, own ?? document, operation.name?.value ?? '', {
    disablingCapturingStackErrors: true,
    disableLeafSerialization: true,
    // Else a fragment's fields are under the conditions of all the places where it is spread.
    useExperimentalPathBasedSkipInclude: own !== undefined,
  });
  if (!isCompiledQuery(compiled)) return null;
  const { query } = compiled;
  const neverNull = variablesNeverNull(schema, document, operation);
  const defaults = defaultsOfNonNull(schema, operation);
  const objects = variablesOfObjects(schema, operation);
  if (neverNull.length === 0 && objects.length === 0 && !defaults) return query;
  return (root, context, variables) => {
    if (neverNull.some((name) => variables?.[name] === null)) return {};
    if (objects.some((name) => Array.isArray(variables?.[name]))) return {};
    return query(root, context, defaults ? { ...defaults, ...variables } : variables);
  };
}

/**
 * A copy of the operation and what it spreads, whose fields are its own: graphql-jit writes down at the fields when they are
 * there, which may differ between operations. Undefined when nothing has a condition.
 */
function withOwnFields(document: DocumentNode, { name }: OperationDefinitionNode): DocumentNode | undefined {
  const one = separateOperations(document)[name?.value ?? ''];
  return one && hasDirectives(one) ? visit(one, { [Kind.FIELD]: { leave: (node) => ({ ...node }) } }) : undefined;
}

/** What variables are that must not be null when they are left out; graphql-jit overlooks these defaults. */
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

/** The variables that hold an input object; graphql-jit takes a list for one. */
function variablesOfObjects(schema: GraphQLSchema, { variableDefinitions = [] }: OperationDefinitionNode): string[] {
  return variableDefinitions
    .filter(({ type }) => isInputObjectType(getNullableType(typeFromAST(schema, type))))
    .map(({ variable }) => variable.name.value);
}

/**
 * The variables that may be null by their own type and must not be where they stand, since a default is expected there.
 * What null does to these is an error of the field, which graphql-jit words in its own way, or not at all in a directive.
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
