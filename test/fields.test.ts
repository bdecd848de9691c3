import { expect, test } from '@jest/globals';
import { getNamedType, isLeafType, isObjectType } from 'graphql';
import { schema } from './kit/schema.ts';

/* What is done for every field is done hundreds of times for one answer. */

test('leaves have no resolvers, but those with an access rule and three beside a list', () => {
  const types = Object.values(schema.getTypeMap()).filter((type) => !type.name.startsWith('__'));
  const resolved = types.filter(isObjectType).flatMap((type) =>
    Object.values(type.getFields())
      .filter((field) => field.resolve && isLeafType(getNamedType(field.type)))
      .map((field) => `${type.name}.${field.name}`),
  );
  expect(resolved.sort()).toEqual([
    'Player.id',
    'Player.playerUniqueId',
    'Player.referralLink',
    'PlayerAttributes.email',
    'PlayerAttributes.mobile',
    'ReferredFriend.email',
    'ReferredFriend.mobileNumber',
    'ReferredFriendConnection.totalCount',
    'ReferredFriendPage.count',
    'ReferredFriendPage.hasNextPage',
  ]);
});
