import { expect, test } from '@jest/globals';
import { type DocumentNode, type OperationDefinitionNode, parse } from 'graphql';
import { createCompiler } from '../src/gateway/execution/compile.ts';
import { createPreparedOperations } from '../src/gateway/execution/prepared.ts';
import { compile, schema } from './kit/executed.ts';

const document = parse('{ me { id } }');
const [operation] = document.definitions as unknown as [OperationDefinitionNode];
const execute = () => ({ data: {} });
const prepared = { document, operation, compiled: { execute, size: 1 } };

test('no more than a thousand operations are kept, and the one not asked for longest goes first', () => {
  const operations = createPreparedOperations();
  for (let text = 0; text < 1_000; text += 1) operations.set(`${text}`, undefined, prepared);
  expect(operations.get('0', undefined)).toBe(prepared);
  operations.set('1000', undefined, prepared);
  expect(operations.get('1', undefined)).toBeUndefined();
  expect(operations.get('0', undefined)).toBe(prepared);
  expect(operations.get('1000', undefined)).toBe(prepared);
});

test('large operations take the room of many', () => {
  const operations = createPreparedOperations();
  const large = { ...prepared, compiled: { execute, size: 90_000 } };
  for (const text of ['1', '2', '3']) operations.set(text, undefined, large);
  expect(['1', '2', '3'].map((text) => operations.get(text, undefined) === large)).toEqual([false, true, true]);
});

test('a text is kept with the name it was asked for by, and not when it is longer than 16,384 characters', () => {
  const operations = createPreparedOperations();
  operations.set('text', 'A', prepared);
  expect(operations.get('text', 'A')).toBe(prepared);
  expect(operations.get('text', 'B')).toBeUndefined();
  expect(operations.get('text', undefined)).toBeUndefined();
  operations.set('fragment F on Player { id }\n{ me { ...F } }', undefined, prepared);
  expect(operations.get('{ me { ...F } }', 'fragment F on Player { id }\n')).toBeUndefined();
  expect(operations.get('{ me { ...F } }', 'fragment F on Player { id }')).toBeUndefined();
  expect(operations.get('ext', 'At')).toBeUndefined();
  expect(operations.get('1:Atext', undefined)).toBeUndefined();
  expect(operations.get('', 'Atext')).toBeUndefined();
  operations.set('#'.repeat(16_384), undefined, prepared);
  operations.set('#'.repeat(16_385), undefined, prepared);
  expect(operations.get('#'.repeat(16_384), undefined)).toBe(prepared);
  expect(operations.get('#'.repeat(16_385), undefined)).toBeUndefined();
});

test('the compiler keeps 200,000 nodes in all, and compiles anew what had to go', () => {
  const compiler = createCompiler(schema);
  const documents = Array.from({ length: 24 }, (_, number) => parse(`{ me { ${`a${number}: id `.repeat(3_000)} } }`));
  const ask = (document: DocumentNode, times: number) => {
    const [operation] = document.definitions as unknown as [OperationDefinitionNode];
    return Array.from({ length: times }, () => compiler(document, operation) !== null);
  };
  expect(compile('{ me { id } }')?.size).toBe(7);
  for (const document of documents) expect(ask(document, 4)).toEqual([false, false, true, true]);
  expect(ask(documents[23] as DocumentNode, 1)).toEqual([true]);
  expect(ask(documents[0] as DocumentNode, 4)).toEqual([false, false, true, true]);
});
