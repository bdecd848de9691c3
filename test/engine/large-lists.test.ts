/* Long lists in a process that has too little memory: those that are completed in a turn of their own are refused. */
import { expect, jest, test } from '@jest/globals';
import { buildSchema, execute, parse } from 'graphql';

// The memory is read once, when its module is loaded.
jest.spyOn(process, 'constrainedMemory').mockReturnValue(1);
const { loadConfig } = await import('../../src/config/config.ts');
const { createOperationLimiter } = await import('../../src/engine/operation-limits.ts');

const config = loadConfig({});
const schema = buildSchema(`
  directive @listSize(assumedSize: Int!) on FIELD_DEFINITION
  type Query { names: [String!] @listSize(assumedSize: 5) }
`);
createOperationLimiter(schema, config).wrapLists();

/** What becomes of a list of texts, each of which adds one to the complexity that the operation has already. */
async function read(length: number, complexity = 10) {
  const contextValue = { complexity, caller: { key: 'player:p1' } };
  const rootValue = { names: Array(length).fill('a') };
  const { data, errors } = await execute({ schema, document: parse('{ names }'), rootValue, contextValue });
  const [{ extensions } = {}] = errors ?? [];
  return extensions ?? Object(data).names.length;
}

test('a list that adds no more than an ordinary operation takes is read at once', async () => {
  expect([await read(5), await read(505)]).toEqual([5, 505]);
});

test('a longer list is refused, to be asked for again', async () => {
  expect(await read(506)).toEqual({ code: 'OVERLOADED', retryable: true, retryAfterMs: 1_000 });
});

test('the lists of an operation may reach twice the complexity that it may have before it is executed', async () => {
  const max = 2 * config.MAX_COMPLEXITY;
  expect(await read(105, max - 100)).toBe(105);
  expect(await read(106, max - 100)).toEqual({ code: 'OPERATION_TOO_COMPLEX', limit: 'items', max });
});
