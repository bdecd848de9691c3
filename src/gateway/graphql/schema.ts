import { readdirSync, readFileSync } from 'node:fs';
import { makeExecutableSchema } from '@graphql-tools/schema';
import { type GraphQLSchema, GraphQLSpecifiedByDirective, getDirectiveValues, isScalarType } from 'graphql';
import type { Resolvers } from '../../generated/graphql.ts';
import { enforceAccess } from '../access/enforce.ts';
import type { AccessRules } from '../access/rules.ts';
import { couponFields } from './resolvers/coupon.ts';
import { eventMutations } from './resolvers/event.ts';
import { playerFields, playerMutations, playerQueries, writtenPlayer } from './resolvers/player.ts';
import { friendFields, referralConnectionFields, referralFields, referralPageFields } from './resolvers/referral.ts';
import { DateScalar, DateTime } from './scalars/dates.ts';
import { CustomAttributes, EventMetadata } from './scalars/objects.ts';
import { LanguageCode, URLScalar } from './scalars/texts.ts';
import { describeScopes } from './sdl.ts';

const resolvers: Resolvers = {
  Query: playerQueries,
  Mutation: { ...playerMutations, ...eventMutations },
  // Only players can be fetched by their id.
  Node: { __resolveType: () => 'Player' },
  Player: { ...playerFields, ...couponFields, ...referralFields },
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
  restoreScalars(schema);
  const rules = enforceAccess(schema);
  describeScopes(schema, rules);
  return { schema, rules };
}

/** Gives scalars back what the SDL says of them; their implementations replaced it. */
function restoreScalars(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isScalarType(type) || !type.astNode) continue;
    type.description ??= type.astNode.description?.value;
    const url = getDirectiveValues(GraphQLSpecifiedByDirective, type.astNode)?.['url'];
    if (typeof url === 'string') type.specifiedByURL = url;
  }
}

function readTypeDefs(directory: URL): string[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.graphql'))
    .sort()
    .map((name) => readFileSync(new URL(name, directory), 'utf8'));
}
