/*
 * Compiles the operations that are requested most, one at a time. Compiling takes up to 20 ms in one turn of the event loop, so
 * it waits while the event loop is late: under overload, the operations of all callers would wait for it.
 */
import type { FastifyBaseLogger } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { CachedOperation } from './documents.ts';
import { createCompile, type Execute } from './jit.ts';
import type { OperationLimiter } from './operation-limits.ts';

/** How many compiled operations are kept, and their fields: a compiled field takes about 1 KB. */
const MAX_COMPILED = 200;
const MAX_COMPILED_FIELDS = 20_000;
/** How many operations wait to be compiled. */
const MAX_WAITING = 500;
/** How long an operation waits at least, and how late the event loop may be then, in milliseconds. */
const WAIT_MS = 10;
const MAX_LATE_MS = 100;

export interface CompilerOptions {
  schema: GraphQLSchema;
  limiter: OperationLimiter;
  compileAfter: number;
  log: Pick<FastifyBaseLogger, 'warn'>;
  /** The clock that tells how late the event loop is, in milliseconds. */
  now?: () => number;
}

export class Compiler {
  readonly #options: CompilerOptions;
  readonly #compile: ReturnType<typeof createCompile>;
  readonly #compiled = new LRUCache<CachedOperation, Execute>({ max: MAX_COMPILED, maxSize: MAX_COMPILED_FIELDS });
  readonly #waiting: CachedOperation[] = [];

  constructor(options: CompilerOptions) {
    this.#options = options;
    this.#compile = createCompile(options.schema);
  }

  /** Executes a compiled operation; undefined while graphql-js executes it. Called with each request for it. */
  executorOf(operation: CachedOperation): Execute | undefined {
    const execute = this.#compiled.get(operation);
    // At each multiple, because a compiled operation can have been evicted.
    const isDue = !execute && operation.requests % this.#options.compileAfter === 0 && !operation.notCompiled;
    if (isDue && this.#waiting.length < MAX_WAITING && !this.#waiting.includes(operation)) {
      if (this.#waiting.push(operation) === 1) this.#schedule();
    }
    return execute;
  }

  #schedule(): void {
    const { now = () => performance.now() } = this.#options;
    const due = now() + WAIT_MS;
    const compileNext = () => {
      if (now() - due <= MAX_LATE_MS) {
        // Most requested first.
        this.#waiting.sort((a, b) => b.requests - a.requests);
        const next = this.#waiting.shift();
        if (next) this.#compileOne(next);
      }
      if (this.#waiting.length > 0) this.#schedule();
    };
    setTimeout(compileNext, WAIT_MS).unref();
  }

  #compileOne(cached: CachedOperation): void {
    const { document, operation } = cached;
    const { fields } = this.#options.limiter.measure(document, operation);
    try {
      const compiled = this.#compile(document, operation, fields);
      if (typeof compiled === 'string') cached.notCompiled = compiled;
      else this.#compiled.set(cached, compiled, { size: fields });
    } catch (error) {
      cached.notCompiled = 'graphql-jit failed';
      this.#options.log.warn({ err: error, operation: operation.name?.value }, 'an operation could not be compiled');
    }
  }
}
