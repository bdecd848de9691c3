import { type GraphQLSchema, NoDeprecatedCustomRule, print, validate } from 'graphql';
import * as z from 'zod';
import { loadConfig } from '../../src/config/config.ts';
import { reasonNotToCompile } from '../../src/engine/jit-safety.ts';
import { createOperationLimiter } from '../../src/engine/operation-limits.ts';
import { createSchema } from '../../src/graphql/schema.ts';
import { createLog } from '../../src/process/log.ts';
import { serve } from '../../src/serve.ts';
import type { FileOperation } from './operations.ts';
import { type NeededScopes, neededScopes } from './scopes.ts';
import { type CountingService, startCountingService } from './service.ts';
import { type Sample, sampleVariables } from './variables.ts';

export interface Explanation {
  /** REST calls by method and path: the least and the most that a run caused. */
  calls: Record<string, { least: number; most: number }>;
  least: number;
  most: number;
  /** Complexity, and the ordinary operations that are charged for it. */
  cost: { least: Cost; most: Cost };
  scopes: NeededScopes;
  /** Messages about deprecated fields. */
  deprecated: string[];
  /** Why it is not compiled. */
  notCompiled: string | undefined;
  /** Messages of errors: what is over a limit. */
  errors: string[];
}

const COST = z.object({ complexity: z.number(), operations: z.number() });
type Cost = z.output<typeof COST>;

const RESPONSE = z.object({
  errors: z.array(z.object({ message: z.string() })).default([]),
  extensions: z.object({ cost: COST.optional() }).default({}),
});

/** Four runs: all lists empty and sizes small, all lists full and sizes large; Boolean variables false, then true. */
const RUNS: Sample[] = [
  { size: 'least', flag: false },
  { size: 'least', flag: true },
  { size: 'most', flag: false },
  { size: 'most', flag: true },
];

/** Runs operations in a gateway of its own, in front of a service that counts, and says what each needs. */
export async function startExplaining(directory: URL) {
  const { schema, rules } = createSchema(directory);
  const service = await startCountingService();
  // No rate limits an explanation, but that of new documents: 1,000 at once.
  const config = loadConfig({
    PORT: '0',
    MAX_SERVER_OPERATIONS_BURST: '1000000',
    MAX_SERVER_COUPON_READS_BURST: '1000000',
  });
  const limiter = createOperationLimiter(schema, config);
  const log = createLog('silent', { write: () => undefined });
  const gateway = await serve(config, service.url, log, { maxEventLoopDelayMs: 0 });
  return {
    schema,
    limits: { complexity: config.MAX_COMPLEXITY, upstreamCalls: config.MAX_UPSTREAM_CALLS },
    async explain(of: FileOperation): Promise<Explanation> {
      const runs: Awaited<ReturnType<typeof run>>[] = [];
      for (const sample of RUNS) runs.push(await run(of, sample, schema, service, gateway.url));
      const names = [...new Set(runs.flatMap(({ calls }) => Object.keys(calls)))].sort();
      const bounds = (numbers: number[]) => ({ least: Math.min(...numbers), most: Math.max(...numbers) });
      const costs = runs.flatMap(({ cost }) => (cost ? [cost] : [])).sort((a, b) => a.complexity - b.complexity);
      const none = { complexity: 0, operations: 1 };
      return {
        calls: Object.fromEntries(names.map((name) => [name, bounds(runs.map(({ calls }) => calls[name] ?? 0))])),
        ...bounds(runs.map(({ calls }) => Object.values(calls).reduce((sum, count) => sum + count, 0))),
        cost: { least: costs[0] ?? none, most: costs.at(-1) ?? none },
        scopes: neededScopes(schema, rules, of),
        deprecated: validate(schema, of.document, [NoDeprecatedCustomRule]).map(({ message }) => message),
        notCompiled: reasonNotToCompile(
          schema,
          of.document,
          of.operation,
          limiter.measure(of.document, of.operation).fields,
        ),
        errors: [...new Set(runs.flatMap(({ errors }) => errors))],
      };
    },
    async close() {
      await gateway.stop(new AbortController().signal);
      service.close();
    },
  };
}

async function run(
  { document, operation, variables }: FileOperation,
  sample: Sample,
  schema: GraphQLSchema,
  service: CountingService,
  url: string,
) {
  service.begin(sample.size === 'most' ? 'full' : 'empty');
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    // With the same idempotency key, the later runs would send nothing.
    body: JSON.stringify(
      { query: print(document), variables: { ...sampleVariables(schema, operation, sample), ...variables } },
      (name, value) => (name === 'idempotencyKey' ? undefined : value),
    ),
  });
  const { errors, extensions } = RESPONSE.parse(await response.json());
  return { calls: service.counts(), cost: extensions.cost, errors: errors.map(({ message }) => message) };
}
