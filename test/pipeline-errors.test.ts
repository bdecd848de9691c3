import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { createCaller } from '../src/access/caller.ts';
import { createContext } from '../src/graphql/context.ts';
import { Idempotency } from '../src/graphql/idempotency.ts';
import { Compiler } from '../src/graphql/jit.ts';
import { Operations } from '../src/graphql/operations.ts';
import { startApollo } from '../src/graphql/server.ts';
import { OperationLimiter } from '../src/limits/operation-limits.ts';
import { createOperationRecord } from '../src/telemetry/observe.ts';
import { rules, schema } from './kit/executed.ts';
import { createFixedRest } from './kit/fixed-rest.ts';

/* Errors of Apollo Server's pipeline that no operation of a client causes: the client sees nothing of them, the log all. */

const limits = { depth: 9, aliases: 9, aliasLength: 99, rootFields: 9, directives: 9, complexity: 9_999 };

async function start() {
  const limiter = new OperationLimiter({ schema, limits, openIntrospection: true });
  const compiler = new Compiler(schema);
  const operations = new Operations({ schema, limiter, compiler, maxTokens: 1_000, compileAfter: 50 });
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
    maxTokens: 1_000,
    production: true,
    landingPage: undefined,
    report: ({ message, stack }, requestId) => reported.push({ message, requestId, hasStack: Boolean(stack) }),
    log: pino({ level: 'silent' }),
  });
  const contextOptions = {
    rest: createFixedRest(),
    rules,
    rates: { takeCouponRead: async () => 0 },
    idempotency: new Idempotency(undefined),
    maxUpstreamCalls: 10,
    onBatch: () => undefined,
  };
  const contextValue = createContext(contextOptions, {
    caller: createCaller('p1', [], true),
    known: undefined,
    record: createOperationRecord(),
    requestId: 'request-1',
    signal: new AbortController().signal,
    deadline: Number.POSITIVE_INFINITY,
  });
  return { apollo, contextValue, reported };
}

test('an operation that was not measured is not executed, and the log has the reason', async () => {
  const { apollo, contextValue, reported } = await start();
  const { body } = await apollo.executeOperation({ query: '{ __typename }' }, { contextValue });
  expect(body).toMatchObject({
    singleResult: { errors: [{ message: 'Internal server error', extensions: { code: 'INTERNAL_SERVER_ERROR' } }] },
  });
  expect(JSON.stringify(body)).not.toContain('another document');
  const message = 'Apollo Server resolved another document.';
  expect(reported).toEqual([{ message, requestId: 'request-1', hasStack: true }]);
  await apollo.stop();
});

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
