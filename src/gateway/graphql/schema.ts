import { readdirSync, readFileSync } from 'node:fs';
import { makeExecutableSchema } from '@graphql-tools/schema';
import type { GraphQLSchema } from 'graphql';
import type { Resolvers } from '../../generated/graphql.ts';
import { enforceAccess } from '../access/enforce.ts';
import type { AccessRules } from '../access/rules.ts';
import { couponFields } from './resolvers/coupon.ts';
import { eventMutations } from './resolvers/event.ts';
import { playerMutations, playerQueries, writtenPlayer } from './resolvers/player.ts';
import { friendFields, referralConnectionFields, referralFields, referralPageFields } from './resolvers/referral.ts';
import { DateScalar, DateTime } from './scalars/dates.ts';
import { CustomAttributes, EventMetadata } from './scalars/objects.ts';
import { LanguageCode, URLScalar } from './scalars/texts.ts';

const resolvers: Resolvers = {
  Query: playerQueries,
  Mutation: { ...playerMutations, ...eventMutations },
  Player: { ...couponFields, ...referralFields },
  UpsertPlayerPayload: writtenPlayer,
  TrackEventsPayload: writtenPlayer,
  ReferredFriend: friendFields,
  ReferredFriendPage: referralPageFields,
  ReferredFriendConnection: referralConnectionFields,
  CustomAttributes,
  Date: DateScalar,
  DateTime,
  EventMetadata,
  LanguageCode,
  URL: URLScalar,
};

/** The executable schema: the SDL of all `.graphql` files in a directory, with resolvers and access rules. */
export function createSchema(directory: URL): { schema: GraphQLSchema; rules: AccessRules } {
  const schema = makeExecutableSchema({ typeDefs: readTypeDefs(directory), resolvers });
  return { schema, rules: enforceAccess(schema) };
}

function readTypeDefs(directory: URL): string[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.graphql'))
    .sort()
    .map((name) => readFileSync(new URL(name, directory), 'utf8'));
}
