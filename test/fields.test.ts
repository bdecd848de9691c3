import { expect, test } from '@jest/globals';
import { getNamedType, isLeafType, isObjectType } from 'graphql';
import { schema } from './kit/schema.ts';

/* What is done for every field is done hundreds of times for one answer. */

test('leaves have no resolvers, but four that stand once beside a list or in a player', () => {
  const types = Object.values(schema.getTypeMap()).filter((type) => !type.name.startsWith('__'));
  const resolved = types.filter(isObjectType).flatMap((type) =>
    Object.values(type.getFields())
      .filter((field) => field.resolve && isLeafType(getNamedType(field.type)))
      .map((field) => `${type.name}.${field.name}`),
  );
  expect(resolved.sort()).toEqual([
    'Player.referralLink',
    'ReferredFriendConnection.totalCount',
    'ReferredFriendPage.count',
    'ReferredFriendPage.hasNextPage',
  ]);
});
