import { expect, test } from '@jest/globals';
import { getNamedType, isLeafType, isObjectType } from 'graphql';
import { createPipeline } from '../src/gateway/graphql/pipeline.ts';
import { schema } from './kit/schema.ts';

/* What is done for every field is done hundreds of times for one answer. */
const limits = { depth: 1, aliases: 1, aliasLength: 1, rootFields: 1, directives: 1, complexity: 1, upstreamCalls: 1 };

test('leaves have no resolvers, but three that stand once beside a whole list', () => {
  const types = Object.values(schema.getTypeMap()).filter((type) => !type.name.startsWith('__'));
  const resolved = types.filter(isObjectType).flatMap((type) =>
    Object.values(type.getFields())
      .filter((field) => field.resolve && isLeafType(getNamedType(field.type)))
      .map((field) => `${type.name}.${field.name}`),
  );
  expect(resolved.sort()).toEqual([
    'ReferredFriendConnection.totalCount',
    'ReferredFriendPage.count',
    'ReferredFriendPage.hasNextPage',
  ]);
});

test('nothing listens to single fields', async () => {
  const { plugin } = createPipeline({
    schema,
    limits: { limits, openIntrospection: true, publishCost: true },
    report: () => {},
    development: true,
  });
  const listener = await plugin.requestDidStart?.({} as never);
  expect(Object.keys(plugin)).toEqual(['requestDidStart']);
  // Fields are told to whom `executionDidStart` names, which is none of these.
  expect(Object.keys(listener ?? {})).toEqual(['didResolveOperation', 'responseForOperation', 'willSendResponse']);
});
