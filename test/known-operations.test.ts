import { expect, test } from '@jest/globals';
import { parse } from 'graphql';
import { Compiler } from '../src/graphql/jit.ts';
import { Operations } from '../src/graphql/operations.ts';
import { OperationLimiter } from '../src/limits/operation-limits.ts';
import { compile, schema } from './kit/executed.ts';

const limits = { depth: 9, complexity: 9_999, upstreamCalls: 200 };

function createOperations(compileAfter = 50): Operations {
  const limiter = new OperationLimiter({ schema, limits, openIntrospection: true });
  return new Operations({ schema, limiter, compiler: new Compiler(schema), maxTokens: 1_000, compileAfter });
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test('a text is parsed once, and its operations are told apart by name', () => {
  const operations = createOperations();
  const text = 'query A { me { id } } query B { me { playerUniqueId } }';
  expect(operations.has(text)).toBe(false);
  const a = operations.find(text, 'A');
  expect(operations.has(text)).toBe(true);
  expect(operations.find(text, 'A')).toBe(a);
  expect(operations.find(text, 'B')?.document).toBe(a?.document);
  expect([a, operations.find(text, 'B')].map((known) => known?.operation.name?.value)).toEqual(['A', 'B']);
  expect([operations.find(text, undefined), operations.find(text, 'C')]).toEqual([undefined, undefined]);
});

test('what is not valid is not known, however often it comes', () => {
  const operations = createOperations();
  for (const text of ['{', '{ unknown }', '{ me { id', 'fragment F on Player { ...F } { me { ...F } }']) {
    expect(operations.find(text, undefined)).toBeUndefined();
    expect(operations.has(text)).toBe(false);
  }
});

test('no more than a thousand documents are kept, the least recently used go first, and long ones are not kept', () => {
  const operations = createOperations();
  const text = (number: number) => `{ me { id } } # ${number}`;
  for (let number = 0; number < 1_000; number += 1) operations.find(text(number), undefined);
  operations.find(text(0), undefined);
  operations.find(text(1_000), undefined);
  expect([0, 1, 2, 1_000].map((number) => operations.has(text(number)))).toEqual([true, false, true, true]);
  const long = `{ me { id } } #${'x'.repeat(16_384)}`;
  expect(operations.find(long, undefined)).toBeDefined();
  expect(operations.has(long)).toBe(false);
});

test('Apollo Server is given the very document that was validated', async () => {
  const operations = createOperations();
  const known = operations.find('{ me { id } }', undefined);
  expect(await operations.documentStore.get(`prefix:${known?.hash}`)).toBe(known?.document);
  expect(await operations.documentStore.get('0'.repeat(64))).toBeUndefined();
});

test('the documents that Apollo Server is given are bounded by the length of their texts', async () => {
  const operations = createOperations();
  const hashOf = (number: number) => operations.find(`{ me { id } } #${number} ${'x'.repeat(90_000)}`, undefined)?.hash;
  const hashes = Array.from({ length: 12 }, (_, number) => hashOf(number));
  const kept = await Promise.all(hashes.map(async (hash) => Boolean(await operations.documentStore.get(`${hash}`))));
  expect(kept).toEqual(Array.from({ length: 12 }, (_, number) => number > 0));
});

test('an operation is compiled between requests when it was requested often enough', async () => {
  const operations = createOperations(3);
  const ask = () => operations.find('{ me { id } }', undefined)?.execute;
  expect([ask(), ask(), ask(), ask()]).toEqual([undefined, undefined, undefined, undefined]);
  await nextTurn();
  expect(ask()).toBeInstanceOf(Function);
});

test.each([
  [
    'a variable named like a member of every object',
    'query($constructor: Int!) { me { referredFriends(limit: $constructor) { total } } }',
  ],
  ['more nodes than compile quickly', `{ me { ${Array.from({ length: 900 }, (_, n) => `a${n}: id`).join(' ')} } }`],
])('%s is left to graphql-js', (_what, text) => {
  expect(compile(parse(text))).toBeUndefined();
});
