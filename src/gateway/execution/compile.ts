/*
 * graphql-jit turns a document into a JavaScript function that does what graphql-js would do for it, two to four times
 * faster on large results. What it compiles must therefore be what it compiles rightly and safely, and worth compiling:
 *
 * - Only queries. Mutations are rare, and their answers must not depend on a compiler.
 * - No text of a client becomes source code. graphql-jit 0.8 prints literals into its source and then replaces markers in
 *   the print (`__MAGIC_DATE__…`), so that a string literal that holds such a marker runs as code. A document with any
 *   string literal is left to graphql-js. This costs nothing in practice: a document with its values written into it is
 *   rarely sent twice, and those that are sent often have variables.
 * - No variables inside object literals: graphql-jit loses them in custom scalars and does not apply defaults.
 * - Nothing called `__proto__`, which an object literal takes for its prototype, and no introspection.
 * - Not at first sight: compiling takes milliseconds, so that a stream of new documents would cost more than it saves.
 *
 * A compiled document's failures have the same messages and paths as graphql-js's, and what graphql-jit says about variables
 * that do not fit is thrown away: graphql-js is asked for that answer. A test runs operations both ways and compares.
 */
import {
  BREAK,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  visit,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import type { Context } from '../context.ts';

export type CompiledOperation = (
  root: object,
  context: Context,
  variables: Record<string, unknown> | undefined,
) => ExecutionResult | Promise<ExecutionResult>;

/** How often an operation is executed by graphql-js before it is compiled. */
const COMPILE_AFTER = 2;

interface Seen {
  times: number;
  /** Undefined as long as it is not decided; null when graphql-js has it for good. */
  compiled: CompiledOperation | null | undefined;
}

/** Remembers how often operations were seen and compiles those that come again. One for each schema. */
export function createCompiler(schema: GraphQLSchema) {
  const operations = new WeakMap<OperationDefinitionNode, Seen>();
  /** The compiled operation, or null when graphql-js is to execute it. */
  return (document: DocumentNode, operation: OperationDefinitionNode): CompiledOperation | null => {
    let seen = operations.get(operation);
    if (!seen) {
      seen = { times: 0, compiled: isCompilable(document, operation) ? undefined : null };
      operations.set(operation, seen);
    }
    if (seen.compiled !== undefined) return seen.compiled;
    seen.times += 1;
    if (seen.times <= COMPILE_AFTER) return null;
    seen.compiled = compile(schema, document, operation);
    return seen.compiled;
  };
}

function compile(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): CompiledOperation | null {
  // The REST client has decoded every value to the type the schema says, so built-in scalars and enums need no second look.
  const compiled = compileQuery(schema, document, operation.name?.value ?? '', {
    disablingCapturingStackErrors: true,
    disableLeafSerialization: true,
  });
  return isCompiledQuery(compiled) ? compiled.query : null;
}

function isCompilable(document: DocumentNode, operation: OperationDefinitionNode): boolean {
  if (operation.operation !== OperationTypeNode.QUERY) return false;
  let compilable = true;
  const refuse = () => {
    compilable = false;
    return BREAK;
  };
  visit(document, {
    [Kind.STRING]: refuse,
    [Kind.OBJECT]: (node) => (node.fields.some(({ value }) => value.kind !== Kind.BOOLEAN) ? refuse() : undefined),
    [Kind.FIELD]: ({ name, alias }) =>
      alias?.value === '__proto__' || name.value === '__schema' || name.value === '__type' ? refuse() : undefined,
  });
  return compilable;
}
