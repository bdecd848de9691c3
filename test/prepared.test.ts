import { expect, test } from '@jest/globals';
import { type DocumentNode, type OperationDefinitionNode, parse } from 'graphql';
import { createCompiler } from '../src/gateway/graphql/jit.ts';
import { createPreparedOperations } from '../src/gateway/graphql/prepared.ts';
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

test('what is asked for again and again stays, and goes when it is not any more', () => {
  const operations = createPreparedOperations();
  const others = (from: number, to: number) => {
    for (let text = from; text < to; text += 1) operations.set(`${text}`, undefined, prepared);
  };
  operations.set('{ a }', undefined, prepared);
  for (const to of [500, 1_000, 1_500, 2_000]) {
    others(to - 500, to);
    expect(operations.get('{ a }', undefined)).toBe(prepared);
  }
  others(2_000, 3_000);
  expect(operations.get('{ a }', undefined)).toBeUndefined();
});

test('large operations take the room of many', () => {
  const operations = createPreparedOperations();
  const large = { ...prepared, compiled: { ...prepared.compiled, size: 90_000 } };
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

test('what had to go is lacking again, and is compiled anew when it comes again', () => {
  const compiler = createCompiler(schema);
  const operations = createPreparedOperations();
  const texts = Array.from({ length: 24 }, (_, number) => `{ me { ${`a${number}: id `.repeat(1_500)} } }`);
  const documents = new Map(texts.map((text) => [text, parse(text)]));
  /** As often as that, as the pipeline does; tells when it was there already. */
  const ask = (text: string, times: number) =>
    Array.from({ length: times }, () => {
      const document = documents.get(text) as DocumentNode;
      const [operation] = document.definitions as unknown as [OperationDefinitionNode];
      if (!operations.lacks(text, undefined)) return true;
      const compiled = compiler(document, operation);
      if (compiled) operations.set(text, undefined, { document, operation, compiled: { ...compiled, size: 9_000 } });
      return false;
    });
  for (const text of texts) expect(ask(text, 4)).toEqual([false, false, false, true]);
  expect(ask(texts[23] ?? '', 1)).toEqual([true]);
  expect(ask(texts[0] ?? '', 4)).toEqual([false, false, false, true]);
});

test('a text that is too long to be kept is not lacking, and never compiled', () => {
  const operations = createPreparedOperations();
  expect(operations.lacks('#'.repeat(16_384), undefined)).toBe(true);
  expect(operations.lacks('#'.repeat(16_385), undefined)).toBe(false);
});

test('an operation weighs the nodes of its syntax tree, fragments spread', () => {
  expect(compile('{ me { id } }')?.size).toBe(7);
  // Operation and selection; twice a field with two names and a selection, a spread's name and the fragment's seven nodes.
  expect(compile('{ a: me { ...F } b: me { ...F } } fragment F on Player { id }')?.size).toBe(26);
});
