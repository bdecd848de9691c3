/* One operation executed on data that is always the same, by graphql-js and by the compiler. */
import { type DocumentNode, type ExecutionResult, execute, getOperationAST, parse } from 'graphql';
import { type Caller, createCaller } from '../../src/access/caller.ts';
import { SCOPES, type Scope } from '../../src/config/scopes.ts';
import { ClientError } from '../../src/errors.ts';
import { type Context, createContext } from '../../src/graphql/context.ts';
import { Idempotency } from '../../src/graphql/idempotency.ts';
import { createMemoryKeys } from '../../src/graphql/idempotency-store.ts';
import { createCompile, loadCompiler } from '../../src/graphql/jit.ts';
import { coerceVariables } from '../../src/graphql/operations.ts';
import { formatResult } from '../../src/graphql/response.ts';
import { Cancellation } from '../../src/rest/cancellation.ts';
import { createOperationRecord } from '../../src/telemetry/observe.ts';
import { createFixedRest } from './fixed-rest.ts';
import { rules, schema } from './schema.ts';

export { schema };

await loadCompiler();
const compileFor = createCompile(schema);

/** Who asks, and how much of it is allowed. */
export interface Situation {
  caller: Caller;
  maxUpstreamCalls: number;
  /** Above 0, reads of coupons are over their limit. */
  couponReads: number;
}

/** The player p1, with these scopes. */
export const callerWith = (...scopes: Scope[]) => createCaller('p1', scopes, true);

/** Everything is allowed. */
export const OPEN: Situation = { caller: callerWith(...SCOPES), maxUpstreamCalls: 1_000, couponReads: 0 };

/**
 * Executes an operation both ways. `compiled` is undefined when the compiler is not given the operation, however often it
 * comes.
 */
export async function executeBothWays(
  source: string | DocumentNode,
  variableValues: Record<string, unknown>,
  situation = OPEN,
  operationName?: string,
) {
  const document = typeof source === 'string' ? parse(source) : source;
  const compiled = compile(document, operationName);
  return {
    interpreted: await run(situation, (contextValue) =>
      execute({ schema, document, operationName, variableValues, contextValue }),
    ),
    compiled: compiled && (await run(situation, (context) => compiled(context, variableValues))),
  };
}

/**
 * An operation, compiled; undefined for one that must not be. Variables that do not fit leave no data, as when the gateway
 * executes it.
 */
export function compile(source: string | DocumentNode, name?: string) {
  const document = typeof source === 'string' ? parse(source) : source;
  const operation = getOperationAST(document, name);
  if (!operation) throw new Error('The document has no such operation, or more than one.');
  const executeCompiled = compileFor(document, operation);
  if (!executeCompiled) return undefined;
  return (context: Context, variables: Record<string, unknown>): ReturnType<typeof executeCompiled> => {
    let coerced: ReturnType<typeof coerceVariables>;
    try {
      coerced = coerceVariables(schema, operation, variables);
    } catch {
      return {};
    }
    return executeCompiled({}, context, coerced);
  };
}

async function run(
  { caller, maxUpstreamCalls, couponReads }: Situation,
  executeWith: (context: Context) => ExecutionResult | Promise<ExecutionResult>,
) {
  const rest = createFixedRest();
  const rates = {
    consume: async (kind: string) => {
      if (kind === 'couponReads' && couponReads > 0)
        throw new ClientError('RATE_LIMITED', 'Too many.', { extensions: { retryable: true } });
    },
    giveBack: async () => undefined,
  };
  const idempotency = new Idempotency(createMemoryKeys(), rates);
  const cancellation = new Cancellation(performance.now() + 60_000);
  const context = createContext(
    { rest, rules, rates, idempotency, maxUpstreamCalls, onBatch: () => undefined },
    {
      caller,
      record: createOperationRecord(),
      requestId: 'r1',
      cancellation,
    },
  );
  const reported: string[] = [];
  const result = await executeWith(context);
  cancellation.end();
  // Without data nothing was executed, and the gateway takes graphql-js's words whatever the compiler says.
  const isExecuted = result.data !== undefined;
  const answer = isExecuted && formatResult(result, context, ({ message }) => void reported.push(message));
  return {
    /** The answer as text, its errors in the order of their paths; undefined when the variables did not fit. */
    answer: answer ? JSON.stringify(inOrder(answer)) : undefined,
    /** What was asked of the REST service. */
    calls: rest.calls.sort(),
    /** What the log was told. */
    reported: reported.sort(),
  };
}

/**
 * An answer with its errors in the order of their paths. They stand in the order in which fields were completed, and which
 * of two reads ends first GraphQL does not say.
 */
export function inOrder<Answer extends { errors?: readonly { path?: unknown; message: string }[] }>(answer: Answer) {
  if (!answer.errors) return answer;
  const keyOf = ({ path, message }: { path?: unknown; message: string }) => JSON.stringify([path, message]);
  return { ...answer, errors: [...answer.errors].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)) };
}
