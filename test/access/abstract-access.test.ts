import { readFileSync } from 'node:fs';
import { makeExecutableSchema } from '@graphql-tools/schema';
import { beforeAll, expect, test } from '@jest/globals';
import { execute, type GraphQLSchema, parse } from 'graphql';
import { enforceAccess } from '../../src/access/enforce.ts';
import type { Scope } from '../../src/config/scopes.ts';
import { SCHEMA_DIRECTORY } from '../kit/schema.ts';

/*
 * The schema has one interface with one type behind it. Here are fields that return several types, of which each guards
 * other members.
 */
const things = {
  friend: { __typename: 'Friend', id: 'f1', email: 'f1@example.com', city: 'Ulm' },
  shop: { __typename: 'Shop', id: 's1', email: 'shop@example.com', city: 'Bonn' },
};

let schema: GraphQLSchema;
beforeAll(() => {
  schema = makeExecutableSchema({
    typeDefs: [
      readFileSync(new URL('access.graphql', SCHEMA_DIRECTORY), 'utf8'),
      `
      type Query { all: [Thing] @access(scope: "players:read") one(name: String!): Any @access(scope: "players:read") }
      interface Thing { id: ID city: String }
      union Any = Friend | Shop
      type Friend implements Thing { id: ID email: String @access(scope: "contacts:read") city: String }
      type Shop implements Thing { id: ID email: String city: String }
      `,
    ],
    resolvers: {
      Query: {
        all: () => [things.shop, Promise.resolve(things.friend), null, Promise.reject(new Error('lost'))],
        one: async (_parent: unknown, { name }: { name: keyof typeof things }) => things[name],
      },
    },
  });
  enforceAccess(schema);
});

async function ask(source: string, ...scopes: Scope[]) {
  const contextValue = { caller: { name: 'c', scopes: new Set(scopes) } };
  const { data, errors = [] } = await execute({ schema, document: parse(source), contextValue });
  return {
    data: JSON.parse(JSON.stringify(data)),
    errors: errors.filter(({ extensions }) => extensions['code'] !== 'FORBIDDEN').map(({ message }) => message),
    refused: errors.filter(({ extensions }) => extensions['code'] === 'FORBIDDEN').map(({ path }) => path),
  };
}

const ALL = '{ all { id city ... on Friend { email } ... on Shop { mail: email } } }';

test('a caller without the scope gets the members that its type does not guard, and each refusal has its path', async () => {
  expect(await ask(ALL, 'players:read')).toEqual({
    data: {
      all: [{ id: 's1', city: 'Bonn', mail: 'shop@example.com' }, { id: 'f1', city: 'Ulm', email: null }, null, null],
    },
    errors: ['lost'],
    refused: [['all', 1, 'email']],
  });
});

test('a union is guarded likewise', async () => {
  const query = (name: string) =>
    `{ one(name: "${name}") { ... on Friend { e: email } ... on Thing { city } ... on Shop { email } } }`;
  expect(await ask(query('friend'), 'players:read')).toEqual({
    data: { one: { e: null, city: 'Ulm' } },
    errors: [],
    refused: [['one', 'e']],
  });
  expect((await ask(query('shop'), 'players:read')).data).toEqual({ one: { city: 'Bonn', email: 'shop@example.com' } });
  expect((await ask(query('friend'), 'players:read', 'contacts:read')).refused).toEqual([]);
});
