import { readdirSync, readFileSync } from 'node:fs';
import { makeExecutableSchema } from '@graphql-tools/schema';
import type { IResolvers } from '@graphql-tools/utils';
import { GraphQLSchema, isSpecifiedDirective, printSchema } from 'graphql';
import { enforceAccess } from '../access/rules.ts';
import type { Resolvers } from '../generated/graphql.ts';
import { auditDeletions } from './audit.ts';
import { couponFields, couponId } from './resolvers/coupon.ts';
import { eventMutations } from './resolvers/event.ts';
import { entityQueries, playerFields, playerMutations, playerQueries, writtenPlayer } from './resolvers/player.ts';
import { friendEdge, friendFields, referralFields } from './resolvers/referral.ts';
import { scalars } from './scalars.ts';

const resolvers: Resolvers = {
  Query: playerQueries,
  Mutation: { ...playerMutations, ...eventMutations },
  // Only players can be fetched by their id.
  Node: { __resolveType: () => 'Player' },
  Player: { ...playerFields, ...couponFields, ...referralFields },
  UpsertPlayerPayload: writtenPlayer,
  TrackEventsPayload: writtenPlayer,
  Coupon: couponId,
  ReferredFriend: friendFields,
  ReferredFriendEdge: friendEdge,
};

/**
 * The executable schema: the SDL of all `.graphql` files in a directory, with resolvers, access rules and audit. Tests validate it.
 * @param federation Whether it is a subgraph of federation 2, with `_entities` and `_service`.
 * @param personalIds Whether ids of players are personal data.
 */
export function createSchema(directory: URL, federation = false, personalIds = false) {
  const typeDefs = readTypeDefs(directory);
  const all: IResolvers[] = [resolvers, scalars];
  if (federation) {
    const sdl = subgraphSdl(createSchema(directory, false, personalIds).schema);
    typeDefs.push(...readTypeDefs(new URL('federation/', directory)));
    const Query = { ...entityQueries, _service: () => ({ sdl }) };
    all.push({ Query, _Entity: { __resolveType: () => 'Player' } });
  }
  const schema = makeExecutableSchema({ typeDefs, resolvers: all, updateResolversInPlace: true, assumeValidSDL: true });
  const rules = enforceAccess(schema, personalIds);
  auditDeletions(schema);
  return { schema, rules };
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

const LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])';

/** The directives of federation, by type. Value types are those that other subgraphs may have too, with the same meaning. */
const FEDERATED = new Map([
  ['Player', '@key(fields: "id")'],
  ['PageInfo', '@shareable'],
  ['UserError', '@shareable'],
]);

/** The SDL for composition: what clients see, with the directives of federation. */
function subgraphSdl(schema: GraphQLSchema): string {
  // graphql-js prints the head of a type in one line.
  const marked = printSdl(schema).replace(/^type (\w+)[^{\n]*(?= \{$)/gm, (head, name) =>
    [head, FEDERATED.get(name)].filter(Boolean).join(' '),
  );
  return `${LINK}\n\n${marked}`;
}
