/* Which operations stay compiled. A response does not show it, so the store is asked itself. */
import { hash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { getOperationAST, parse } from 'graphql';
import { loadConfig } from '../../src/config/config.ts';
import { createCompiler } from '../../src/engine/compiler.ts';
import { createDocumentStore } from '../../src/engine/documents.ts';
import { createOperationLimiter } from '../../src/engine/operation-limits.ts';
import { schema } from '../kit/schema.ts';
import { until } from '../kit/until.ts';

const config = loadConfig({});

/** A store that compiles every operation at its first request. */
function createStore(now = () => 0) {
  const log = { warn: () => undefined };
  const limiter = createOperationLimiter(schema, config);
  const documents = createDocumentStore(schema, () => undefined);
  const compiler = createCompiler({ schema, limiter, compileAfter: 1, log, now });
  const request = (text: string) => {
    const document = parse(text);
    const operation = getOperationAST(document);
    if (!operation) throw new Error('No operation.');
    return compiler.executorOrQueue(documents.countRequest(hash('sha256', text), text, document, operation));
  };
  return {
    /** Requests operations in their order, each until it is compiled. */
    async compile(...texts: string[]) {
      for (const text of texts) await until(() => request(text) !== undefined);
    },
    compiled: (texts: string[]) => texts.filter((text) => request(text)),
  };
}

/** Different operations of `fields` fields each. */
const operationsOf = (name: string, count: number, fields = 2) =>
  Array.from({ length: count }, (_, number) => `query ${name}${number} { me { ${'id '.repeat(fields - 1)}} }`);

test('200 operations at most, the least recently used are evicted and come back when they are requested', async () => {
  const store = createStore();
  const texts = operationsOf('Q', 205);
  await store.compile(...texts, ...texts.slice(0, 1), '{ me { id } }');
  expect(store.compiled(texts)).toEqual([...texts.slice(0, 1), ...texts.slice(7)]);
});

test('20,000 fields at most, of all of them together, and 1,000 of one', async () => {
  const store = createStore();
  const texts = operationsOf('Large', 25, 1_000);
  const [tooLarge] = operationsOf('TooLarge', 1, 1_001);
  expect(store.compiled([tooLarge ?? ''])).toEqual([]);
  await store.compile(...texts, '{ me { id } }');
  expect(store.compiled([...texts, tooLarge ?? ''])).toEqual(texts.slice(6));
});

test('nothing is compiled while the event loop is late', async () => {
  let late = 1_000;
  // Each look at the clock is so much later than the last.
  let time = 0;
  const store = createStore(() => {
    time += late;
    return time;
  });
  const [first = '', second = ''] = operationsOf('Late', 2);
  store.compiled([first, second]);
  await until(() => time > 20_000);
  expect(store.compiled([first, second])).toEqual([]);
  late = 1;
  await store.compile(first, second);
});
