/* Which operations stay compiled. A response does not show it, so the store is asked itself. */
import { hash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { getOperationAST, parse } from 'graphql';
import { loadConfig } from '../../src/config/config.ts';
import { Operations } from '../../src/engine/documents.ts';
import { OperationLimiter } from '../../src/engine/operation-limits.ts';
import { schema } from '../kit/schema.ts';
import { until } from '../kit/until.ts';

const config = loadConfig({});

/** A store that compiles every operation at its first request. */
function createStore() {
  const limiter = new OperationLimiter(schema, config);
  const operations = new Operations({ schema, limiter, parseOptions: {}, compileAfter: 1 });
  const request = (text: string) => {
    const document = parse(text);
    const operation = getOperationAST(document);
    if (!operation) throw new Error('No operation.');
    return operations.resolve(hash('sha256', text), text, document, operation);
  };
  return {
    request,
    /** Resolves when an operation is compiled, and with it those that were requested before. */
    compiles: (text: string) => until(() => operations.executorOf(request(text)) !== undefined),
    compiled: (texts: string[]) => texts.filter((text) => operations.executorOf(request(text))),
  };
}

/** Different operations of `fields` fields each. */
const operationsOf = (name: string, count: number, fields = 2) =>
  Array.from({ length: count }, (_, number) => `query ${name}${number} { me { ${'id '.repeat(fields - 1)}} }`);

test('200 operations at most, the least recently used are evicted and come back when they are requested', async () => {
  const store = createStore();
  const texts = operationsOf('Q', 205);
  [...texts, ...texts.slice(0, 1)].forEach(store.request);
  await store.compiles('{ me { id } }');
  expect(store.compiled(texts)).toEqual([...texts.slice(0, 1), ...texts.slice(7)]);
});

test('20,000 fields at most, of all of them together, and 1,000 of one', async () => {
  const store = createStore();
  const texts = [...operationsOf('Large', 25, 1_000), ...operationsOf('TooLarge', 1, 1_001)];
  texts.forEach(store.request);
  await store.compiles('{ me { id } }');
  expect(store.compiled(texts)).toEqual(texts.slice(6, 25));
});
