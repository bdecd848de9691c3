/* Compiles operations with graphql-jit, where jit-safety.ts allows it. A test compares data and errors with graphql-js. */
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
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { SCOPE_ALONE } from '../access/rules.ts';
import { reasonNotToCompile } from './jit-safety.ts';

/** Executes a compiled operation with variables that graphql-js has coerced. A result without `data`: graphql-js must do it. */
export type Execute = (
  root: object,
  context: { caller: { scopes: ReadonlySet<unknown> } },
  variables: Readonly<Record<string, unknown>>,
) => ExecutionResult | Promise<ExecutionResult>;

/** Returns a function that compiles, or says why graphql-jit may not or cannot compile an operation. */
export function createCompile(schema: GraphQLSchema) {
  const plain = forJit(schema);
  return (document: DocumentNode, operation: OperationDefinitionNode, fields: number): Execute | string => {
    const reason = reasonNotToCompile(schema, document, operation, fields);
    if (reason !== undefined) return reason;
    const compiled = compileQuery(plain, document, operation.name?.value ?? '', {
      disablingCapturingStackErrors: true,
      disableLeafSerialization: true,
    });
    if (!isCompiledQuery(compiled)) return 'graphql-jit cannot compile it';
    const { query } = compiled;
    const needed = scopesIn(schema, document);
    return (root, context, variables) =>
      needed.every((scope) => context.caller.scopes.has(scope)) ? query(root, context, variables) : {};
  };
}

/** The scopes of the selected fields that `forJit` leaves unprotected. */
function scopesIn(schema: GraphQLSchema, document: DocumentNode): readonly unknown[] {
  const scopes = new Set<unknown>();
  const types = new TypeInfo(schema);
  const add = () => void scopes.add(types.getFieldDef()?.extensions[SCOPE_ALONE]);
  visit(document, visitWithTypeInfo(types, { Field: add }));
  scopes.delete(undefined);
  return [...scopes];
}

/**
 * The schema for graphql-jit, in which most fields are plain properties: those with a resolver take five times as long.
 *
 * Values are decoded already, so it need not serialise them. `disableLeafSerialization` skips that for built-in scalars and enums
 * only, so custom scalars are declared as String. Fields that depend on a scope alone have no check for each object: the
 * operation is executed here only for callers who have the scope, and by graphql-js for others.
 */
function forJit(schema: GraphQLSchema): GraphQLSchema {
  const plain = (type: GraphQLOutputType): GraphQLOutputType => {
    if (isNonNullType(type)) return new GraphQLNonNull(plain(type.ofType));
    return isListType(type) ? new GraphQLList(plain(type.ofType)) : GraphQLString;
  };
  return mapSchema(schema, {
    [MapperKind.OBJECT_FIELD]({ resolve, ...field }) {
      const scalar = getNamedType(field.type);
      const isCustom = isScalarType(scalar) && !isSpecifiedScalarType(scalar);
      const type = isCustom ? plain(field.type) : field.type;
      return field.extensions?.[SCOPE_ALONE] === undefined && resolve
        ? { ...field, type, resolve }
        : { ...field, type };
    },
  });
}
