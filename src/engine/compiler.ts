/*
 * Compiles the operations that are requested most with graphql-jit, where jit-safety.ts allows it, one at a time. Compiling takes
 * up to 20 ms in one turn of the event loop, so it waits while the event loop is late: under overload, the operations of all
 * callers would wait for it. A test compares data and errors with graphql-js.
 */
import { MapperKind, mapSchema } from '@graphql-tools/utils';
import type { FastifyBaseLogger } from 'fastify';
import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  GraphQLString,
  isScalarType,
  isSpecifiedScalarType,
  type OperationDefinitionNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { LRUCache } from 'lru-cache';
import { SCOPE_ALONE } from '../access/rules.ts';
import { type CachedOperation, onlyWith } from './documents.ts';
import { reasonNotToCompile } from './jit-safety.ts';
import type { OperationLimiter } from './operation-limits.ts';

/** How many compiled operations are kept, and their fields: a compiled field takes about 1 KB. */
const MAX_COMPILED = 200;
const MAX_COMPILED_FIELDS = 20_000;
const MAX_WAITING = 500;
/** How long an operation waits at least, and how late the event loop may be then, in milliseconds. */
const WAIT_MS = 10;
const MAX_LATE_MS = 100;

/** Executes a compiled operation with coerced variables. A result without `data`: the caller lacks a scope; see createCompile. */
export type Execute = (
  context: { caller: { scopes: ReadonlySet<unknown> } },
  variables: Readonly<Record<string, unknown>>,
) => ExecutionResult | Promise<ExecutionResult>;

export interface CompilerOptions {
  schema: GraphQLSchema;
  limiter: OperationLimiter;
  compileAfter: number;
  log: Pick<FastifyBaseLogger, 'warn'>;
  /** The clock that tells how late the event loop is, in milliseconds. */
  now?: () => number;
}

export type Compiler = ReturnType<typeof createCompiler>;

export function createCompiler(options: CompilerOptions) {
  const { schema, limiter, compileAfter, log, now = () => performance.now() } = options;
  const compile = createCompile(schema);
  const compiled = new LRUCache<CachedOperation, Execute>({ max: MAX_COMPILED, maxSize: MAX_COMPILED_FIELDS });
  const waiting: CachedOperation[] = [];

  function schedule(): void {
    const due = now() + WAIT_MS;
    const compileNext = () => {
      if (now() - due <= MAX_LATE_MS) {
        // Most requested first.
        waiting.sort((a, b) => b.requests - a.requests);
        const next = waiting.shift();
        if (next) compileOne(next);
      }
      if (waiting.length > 0) schedule();
    };
    setTimeout(compileNext, WAIT_MS).unref();
  }

  function compileOne(cached: CachedOperation): void {
    const { operation } = cached;
    const document = onlyWith(cached.document, operation);
    const { fields } = limiter.measure(document, operation);
    try {
      const execute = compile(document, operation, fields);
      if (typeof execute === 'string') cached.notCompiled = execute;
      else compiled.set(cached, execute, { size: fields });
    } catch (error) {
      cached.notCompiled = 'graphql-jit failed';
      log.warn({ err: error, operation: operation.name?.value }, 'an operation could not be compiled');
    }
  }

  return {
    /** What executes a compiled operation; undefined while graphql-js does. Called with each request for it; queues the compilation. */
    executorOrQueue(cached: CachedOperation): Execute | undefined {
      const execute = compiled.get(cached);
      // At each multiple, because a compiled operation can have been evicted.
      const isDue = !execute && cached.requests % compileAfter === 0 && !cached.notCompiled;
      const mayWait = isDue && waiting.length < MAX_WAITING && !waiting.includes(cached);
      if (mayWait && waiting.push(cached) === 1) schedule();
      return execute;
    },
  };
}

/** Returns a function that compiles, or says why graphql-jit may not or cannot compile an operation. */
export function createCompile(schema: GraphQLSchema) {
  let plain: GraphQLSchema | undefined;
  return (document: DocumentNode, operation: OperationDefinitionNode, fields: number): Execute | string => {
    const reason = reasonNotToCompile(schema, document, operation, fields);
    if (reason !== undefined) return reason;
    plain ??= forJit(schema);
    const compiled = compileQuery(plain, document, operation.name?.value ?? '', {
      disablingCapturingStackErrors: true,
      disableLeafSerialization: true,
    });
    if (!isCompiledQuery(compiled)) return 'graphql-jit cannot compile it';
    const needed = scopesIn(schema, document);
    return (context, variables) =>
      needed.every((scope) => context.caller.scopes.has(scope)) ? compiled.query({}, context, variables) : {};
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
 * The schema for graphql-jit. Most fields are plain properties: those with a resolver take five times as long. Fields with
 * `SCOPE_ALONE` lose their wrapper. Custom scalars become String, because `disableLeafSerialization` skips only built-in scalars, and
 * values are decoded already.
 */
function forJit(schema: GraphQLSchema): GraphQLSchema {
  return mapSchema(schema, {
    [MapperKind.OBJECT_FIELD]({ resolve, ...field }) {
      const type = isScalarType(field.type) && !isSpecifiedScalarType(field.type) ? GraphQLString : field.type;
      return field.extensions?.[SCOPE_ALONE] === undefined && resolve
        ? { ...field, type, resolve }
        : { ...field, type };
    },
  });
}
