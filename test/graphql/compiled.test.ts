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
  const resolve = (text: string) => {
    const document = parse(text);
    const operation = getOperationAST(document);
    if (!operation) throw new Error('No operation.');
    return operations.resolve(hash('sha256', text), text, document, operation);
  };
  return {
    request: (text: string) => void resolve(text),
    /** Compiles the operations of a manifest, after everything that was requested before. */
    list: (texts: string[]) => operations.compileListed(texts),
    compiled: (texts: string[]) => texts.filter((text) => operations.executorOf(resolve(text))),
  };
}

/** Different operations of `fields` fields each. */
const operationsOf = (name: string, count: number, fields = 2) =>
  Array.from({ length: count }, (_, number) => `query ${name}${number} { me { ${'id '.repeat(fields - 1)}} }`);

test.each([
  ['100 operations at most, the least recently used are evicted', operationsOf('Q', 105), 5],
  ['10,000 fields at most, of all of them together', operationsOf('Large', 15, 1_000), 5],
  ['no operation of more than 1,000 fields', operationsOf('TooLarge', 1, 1_001), 1],
])('keeps %s', async (_title, texts, evicted) => {
  const store = createStore();
  for (const text of texts) store.request(text);
  await store.list(['{ me { referralLink } }']);
  expect(store.compiled(texts)).toEqual(texts.slice(evicted));
  const [first = ''] = texts;
  store.request(first);
  await store.list(['{ me { id } }']);
  expect(store.compiled([first])).toEqual(evicted === 1 ? [] : [first]);
});

test('keeps what the manifest lists, whatever else is requested', async () => {
  const store = createStore();
  const listed = operationsOf('Listed', 99);
  const others = operationsOf('Other', 300);
  await store.list(listed);
  for (const text of others) store.request(text);
  await store.list(['{ me { id } }']);
  expect(store.compiled(listed)).toEqual(listed);
  expect(store.compiled(others)).toEqual(others.slice(-100));
});
