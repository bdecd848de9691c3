/* What executes any document of the schema: one object for the composition, made of the parts in this folder. */
import type { FastifyBaseLogger } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { Config } from '../config/config.ts';
import type { OptionalRedis } from '../impatience.ts';
import type { RateLimits } from '../limits/rate-limits.ts';
import { createPersistedQueryStore } from '../persisted-operations/automatic.ts';
import { createPersistedOperations } from '../persisted-operations/resolve.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { reportTo } from '../telemetry/observe.ts';
import { startApollo } from './apollo.ts';
import { Compiler } from './compiler.ts';
import { findDeprecatedInputs } from './deprecated.ts';
import { DocumentStore } from './documents.ts';
import { OperationLimiter } from './operation-limits.ts';
import { createPrepare } from './prepare.ts';

export interface EngineOptions {
  config: Config;
  schema: GraphQLSchema;
  rates: RateLimits;
  metrics: Metrics;
  log: FastifyBaseLogger;
  sharedTexts: OptionalRedis | undefined;
  compileAfter: number;
}

export type Engine = Awaited<ReturnType<typeof startEngine>>;

/** Throws a ConfigError for a manifest of persisted operations that cannot be used. */
export async function startEngine({ config, schema, rates, metrics, log, sharedTexts, compileAfter }: EngineOptions) {
  const { production, MAX_TOKENS: maxTokens } = config;
  const limiter = new OperationLimiter(schema, config);
  limiter.countListItems(schema);
  // In production errors have no locations: each would read the document from its beginning, 54 ms for 100 errors.
  const parseOptions = { maxTokens, noLocation: production };
  const persistedQueries = createPersistedQueryStore(sharedTexts);
  const persisted = createPersistedOperations(config, { schema, maxTokens }, persistedQueries, log, metrics);
  const documents = new DocumentStore(schema, persisted.manifestOf);
  const compiler = new Compiler({ schema, limiter, compileAfter, log });
  const deprecatedInputs = findDeprecatedInputs(schema);
  const parts = { schema, documents, limiter, rates, parseOptions, deprecatedInputs };
  const apollo = await startApollo({ ...parts, compiler, persistedQueries, production, log, report: reportTo(log) });
  return {
    apollo,
    listedOperations: persisted.count,
    prepare: createPrepare({ ...parts, persisted }),
  };
}
