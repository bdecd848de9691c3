import { makeExecutableSchema } from '@graphql-tools/schema';
import { describe, expect, test } from '@jest/globals';
import { execute, getOperationAST, parse } from 'graphql';
import type { Context } from '../src/graphql/context.ts';
import { Compiler, loadCompiler } from '../src/graphql/jit.ts';
import { DateTime } from '../src/graphql/scalars/texts.ts';

/* Scalars of our own in every place a schema can have them, though today's has them bare alone. */
const schema = makeExecutableSchema({
  typeDefs: `
    scalar DateTime
    type Query { shop(since: DateTime! = "2025-05-01"): Shop! }
    type Shop { since: DateTime bare: DateTime sure: DateTime! list: [DateTime] sureList: [DateTime!]! lists: [[DateTime]!] }
  `,
  resolvers: { DateTime, Query: { shop: (shop, { since }) => ({ ...shop, since }) } },
});
await loadCompiler();

const [one, two] = ['2025-05-01T00:00:00.000Z', '2025-06-01T00:00:00.000Z'];
const document = parse('query($since: DateTime!) { shop(since: $since) { since bare sure list sureList lists } }');
const operation = getOperationAST(document);

describe('a compiled operation has scalars as graphql-js has them', () => {
  test.each<[string, Record<string, unknown>]>([
    ['everywhere', { bare: one, sure: two, list: [one, two], sureList: [two], lists: [[one], []] }],
    ['empty', { bare: null, sure: one, list: [], sureList: [], lists: [] }],
    ['missing where they may be', { sure: one, list: [null, one], sureList: [], lists: [[null]] }],
    ['missing where they must not be', { bare: one, sureList: [one] }],
    ['missing in a list that has all', { sure: one, sureList: [one, null] }],
  ])('%s', async (_name, shop) => {
    const compiled = operation && new Compiler(schema).compile(document, operation);
    const variableValues = { since: '2025-05-01' };
    const told = await compiled?.(shop, {} as Context, variableValues);
    const expected = await execute({ schema, document, rootValue: shop, variableValues });
    expect(JSON.stringify([told?.data, told?.errors])).toBe(JSON.stringify([expected.data, expected.errors]));
    if (shop['list']) expect(told?.data).toEqual({ shop: { since: one, bare: null, ...shop } });
  });
});
