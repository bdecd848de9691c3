import { readdirSync, readFileSync } from 'node:fs';
import { makeExecutableSchema } from '@graphql-tools/schema';
import type { IResolvers } from '@graphql-tools/utils';
import {
  GraphQLSchema,
  GraphQLSpecifiedByDirective,
  getDirectiveValues,
  isScalarType,
  isSpecifiedDirective,
  printSchema,
} from 'graphql';
import { enforceAccess } from '../access/enforce.ts';
import type { AccessRules } from '../access/rules.ts';
import type { Resolvers } from '../generated/graphql.ts';
import type { Context } from './context.ts';
import { couponFields } from './resolvers/coupon.ts';
import { eventMutations } from './resolvers/event.ts';
import { playerFields, playerMutations, playerQueries, writtenPlayer } from './resolvers/player.ts';
import { friendFields, referralConnectionFields, referralFields, referralPageFields } from './resolvers/referral.ts';
import { CustomAttributes, EventMetadata } from './scalars/objects.ts';
import { DateScalar, DateTime, LanguageCode, URLScalar } from './scalars/texts.ts';

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

export interface ExecutableSchema {
  schema: GraphQLSchema;
  rules: AccessRules;
}

/** Types and fields that are added to the schema, and their resolvers. */
interface Addition {
  typeDefs: string;
  resolvers: IResolvers<unknown, Context>;
}

/** The executable schema: the SDL of all `.graphql` files in a directory, with resolvers and access rules. */
export function createSchema(directory: URL, addition?: Addition): ExecutableSchema {
  const typeDefs = readTypeDefs(directory);
  const schema = makeExecutableSchema(
    addition
      ? { typeDefs: [...typeDefs, addition.typeDefs], resolvers: [resolvers, addition.resolvers] }
      : { typeDefs, resolvers },
  );
  restoreScalars(schema);
  return { schema, rules: enforceAccess(schema) };
}

/** Restores the description and `specifiedByURL` of scalars, which their implementations replaced. */
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

/** The schema as one SDL text that every tool can read: without the gateway's own directives. */
export function printSdl(schema: GraphQLSchema): string {
  const directives = schema.getDirectives().filter(isSpecifiedDirective);
  return `${printSchema(new GraphQLSchema({ ...schema.toConfig(), directives }))}\n`;
}
