/* Which operations stay compiled. A response does not show it, so the store is asked itself. */
import { hash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { getOperationAST, parse } from 'graphql';
import { loadConfig } from '../../src/config/config.ts';
import { loadCompiler } from '../../src/graphql/jit.ts';
import { Operations } from '../../src/graphql/operations.ts';
import { OperationLimiter } from '../../src/limits/operation-limits.ts';
import { schema } from '../kit/schema.ts';

await loadCompiler();
const { limits } = loadConfig({});

/** A store that compiles every operation at its first request. */
function createStore() {
  const limiter = new OperationLimiter(schema, limits);
  const operations = new Operations({ schema, limiter, parseOptions: {}, compileAfter: 1 });
  const request = (text: string) => {
    const document = parse(text);
    const operation = getOperationAST(document);
    if (!operation) throw new Error('No operation.');
    return operations.resolve(hash('sha256', text), text, document, operation);
  };
  return {
    request,
    /** Compiles the operations of a manifest, after everything that was requested before. */
    list: (texts = ['{ me { referralLink } }']) => operations.compileListed(texts),
    compiled: (texts: string[]) => texts.filter((text) => operations.executorOf(request(text))),
  };
}

/** Different operations of `fields` fields each. */
const operationsOf = (name: string, count: number, fields = 2) =>
  Array.from({ length: count }, (_, number) => `query ${name}${number} { me { ${'id '.repeat(fields - 1)}} }`);

test('100 operations at most, the least recently used are evicted and come back when they are requested', async () => {
  const store = createStore();
  const texts = operationsOf('Q', 105);
  [...texts, ...texts.slice(0, 1)].forEach(store.request);
  await store.list();
  expect(store.compiled(texts)).toEqual([...texts.slice(0, 1), ...texts.slice(6)]);
});

test('10,000 fields at most, of all of them together, and 1,000 of one', async () => {
  const store = createStore();
  const texts = [...operationsOf('Large', 15, 1_000), ...operationsOf('TooLarge', 1, 1_001)];
  texts.forEach(store.request);
  await store.list();
  expect(store.compiled(texts)).toEqual(texts.slice(5, 15));
});

test('what the manifest lists stays, whatever else is requested', async () => {
  const store = createStore();
  const [listed, others] = [operationsOf('Listed', 99), operationsOf('Other', 300)];
  await store.list(listed);
  others.forEach(store.request);
  await store.list();
  expect([store.compiled(listed), store.compiled(others)]).toEqual([listed, others.slice(-100)]);
});
