import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { createCaller } from '../src/access/caller.ts';
import { createContext } from '../src/graphql/context.ts';
import { Idempotency } from '../src/graphql/idempotency.ts';
import { createMemoryKeys } from '../src/graphql/idempotency-store.ts';
import { Compiler } from '../src/graphql/jit.ts';
import { Operations } from '../src/graphql/operations.ts';
import { startApollo } from '../src/graphql/server.ts';
import { OperationLimiter } from '../src/limits/operation-limits.ts';
import { createOperationRecord } from '../src/telemetry/observe.ts';
import { rules, schema } from './kit/executed.ts';
import { createFixedRest } from './kit/fixed-rest.ts';

/* Errors of Apollo Server's pipeline that no operation of a client causes: the client sees nothing of them, the log all. */

const limits = { depth: 9, complexity: 9_999, upstreamCalls: 200 };

const parseOptions = { maxTokens: 1_000 };

async function start() {
  const limiter = new OperationLimiter(schema, limits);
  const compiler = new Compiler(schema);
  const operations = new Operations({ schema, limiter, compiler, parseOptions, compileAfter: 50 });
  const reported: unknown[] = [];
  const apollo = await startApollo({
    schema,
    operations,
    persistedQueries: {
      get: async () => {
        throw new Error('the store is broken');
      },
      set: async () => undefined,
      delete: async () => true,
    },
    compiler,
    limiter,
    rates: { consume: async () => undefined },
    parseOptions,
    production: true,
    landingPage: undefined,
    report: ({ message, stack }, requestId) => reported.push({ message, requestId, hasStack: Boolean(stack) }),
    log: pino({ level: 'silent' }),
  });
  const rates = { consume: async () => undefined, giveBack: async () => undefined };
  const contextOptions = {
    rest: createFixedRest(),
    rules,
    rates,
    idempotency: new Idempotency(createMemoryKeys(), rates),
    maxUpstreamCalls: 10,
    onBatch: () => undefined,
  };
  const contextValue = createContext(contextOptions, {
    caller: createCaller('p1', [], true),
    record: createOperationRecord(),
    requestId: 'request-1',
    signal: new AbortController().signal,
    deadline: Number.POSITIVE_INFINITY,
  });
  return { apollo, contextValue, reported };
}

test('an error that ends the request is logged with its cause', async () => {
  const { apollo, contextValue, reported } = await start();
  const persistedQuery = { version: 1, sha256Hash: 'a'.repeat(64) };
  const request = { extensions: { persistedQuery } };
  await expect(apollo.executeOperation(request, { contextValue })).rejects.toThrow('Internal server error');
  expect(reported).toEqual([{ message: 'the store is broken', requestId: 'request-1', hasStack: true }]);
  await apollo.stop();
});

test("a client's mistake is not logged as an error", async () => {
  const { apollo, contextValue, reported } = await start();
  await apollo.executeOperation({ query: '{ unknown }' }, { contextValue });
  await apollo.executeOperation({ query: '{' }, { contextValue });
  expect(reported).toEqual([]);
  await apollo.stop();
});
