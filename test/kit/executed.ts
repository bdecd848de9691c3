/* One operation executed on data that is always the same, by graphql-js and by the compiler. */

import { type DocumentNode, type ExecutionResult, execute, getOperationAST, Kind, parse } from 'graphql';
import { type Caller, createCaller } from '../../src/access/caller.ts';
import { SCOPES, type Scope } from '../../src/config/scopes.ts';
import { ClientError } from '../../src/errors.ts';
import { type Context, createContext } from '../../src/graphql/context.ts';
import { Idempotency } from '../../src/graphql/idempotency.ts';
import { createMemoryKeys } from '../../src/graphql/idempotency-store.ts';
import { createCompile, loadCompiler } from '../../src/graphql/jit.ts';
import { coerceVariables } from '../../src/graphql/operations.ts';
import { formatResult } from '../../src/graphql/response.ts';
import { createOperationRecord } from '../../src/telemetry/observe.ts';
import { createFixedRest } from './fixed-rest.ts';
import { rules, schema } from './schema.ts';

export { rules, schema };

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
export function callerWith(...scopes: Scope[]): Caller {
  return createCaller('p1', scopes, true);
}

/** Everything is allowed. */
export const OPEN: Situation = { caller: callerWith(...SCOPES), maxUpstreamCalls: 1_000, couponReads: 0 };

export interface Outcome {
  /** The answer as text, its errors in the order of their paths; undefined when the variables did not fit. */
  answer: string | undefined;
  /** What was asked of the REST service. */
  calls: string[];
  /** What the log was told. */
  reported: string[];
}

/**
 * Executes an operation both ways. `compiled` is undefined when the compiler is not given the operation, however often it
 * comes.
 */
export async function executeBothWays(
  source: string | DocumentNode,
  variables: Record<string, unknown>,
  situation = OPEN,
  name?: string,
) {
  const document = typeof source === 'string' ? parse(source) : source;
  const operation = getOperationAST(document, name);
  if (!operation) throw new Error('The document has no such operation, or more than one.');
  const compiled = compile(document, name);
  return {
    interpreted: await run(situation, (context) => interpret(document, name, variables, context)),
    compiled: compiled && (await run(situation, (context) => compiled({}, context, variables))),
  };
}

/**
 * The operation of that name, the first one without a name, compiled; undefined for one that must not be. Variables that do not
 * fit leave no data, as on the road.
 */
export function compile(source: string | DocumentNode, name?: string) {
  const document = typeof source === 'string' ? parse(source) : source;
  const operation = document.definitions
    .filter((part) => part.kind === Kind.OPERATION_DEFINITION)
    .find((part) => name === undefined || part.name?.value === name);
  if (!operation) throw new Error('The document has no such operation.');
  const execute = compileFor(document, operation);
  if (!execute) return undefined;
  return (root: object, context: Context, variables: Record<string, unknown>) => {
    let coerced: Readonly<Record<string, unknown>>;
    try {
      coerced = coerceVariables(schema, operation, variables);
    } catch {
      return {};
    }
    return execute(root, context, coerced);
  };
}

/** By graphql-js; variables that do not fit leave no data, as on the road. */
async function interpret(
  document: DocumentNode,
  operationName: string | undefined,
  variableValues: Record<string, unknown>,
  contextValue: Context,
): Promise<ExecutionResult> {
  return await execute({ schema, document, operationName, variableValues, contextValue });
}

async function run(
  { caller, maxUpstreamCalls, couponReads }: Situation,
  executeWith: (context: Context) => ExecutionResult | Promise<ExecutionResult>,
): Promise<Outcome> {
  const rest = createFixedRest();
  const rates = {
    consume: async (kind: string) => {
      if (kind === 'couponReads' && couponReads > 0)
        throw new ClientError('RATE_LIMITED', 'Too many.', { extensions: { retryable: true } });
    },
    giveBack: async () => undefined,
  };
  const operation = {
    caller,
    record: createOperationRecord(),
    requestId: 'r1',
    signal: new AbortController().signal,
    deadline: performance.now() + 60_000,
  };
  const idempotency = new Idempotency(createMemoryKeys(), rates);
  const options = { rest, rules, rates, idempotency, maxUpstreamCalls, onBatch: () => undefined };
  const context = createContext(options, operation);
  const reported: string[] = [];
  const result = await executeWith(context);
  // Then nothing was executed, and the gateway takes graphql-js's words whatever the compiler says.
  const fits = result.data !== undefined;
  const answer = fits ? formatResult(result, context, ({ message }) => void reported.push(message)) : undefined;
  return {
    answer: answer && JSON.stringify(inOrder(answer)),
    calls: rest.calls.sort(),
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
