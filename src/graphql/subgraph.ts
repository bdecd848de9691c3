/*
 * The schema as a federation 2 subgraph. This module is loaded only with FEDERATION=true, because @apollo/subgraph takes
 * time to load.
 */
import { readFileSync } from 'node:fs';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { type GraphQLResolveInfo, graphqlSync, Kind, parse, visit } from 'graphql';
import { badUserInput } from '../errors.ts';
import { isJson } from '../rest/decode/members.ts';
import type { Context } from './context.ts';
import { checkLength, checkPlayerId } from './input/arguments.ts';
import { readPlayer } from './resolvers/player.ts';
import { createSchema, type ExecutableSchema, printSdl } from './schema.ts';

/** The directives of federation, by type. Value types are those that other subgraphs may have too, with the same meaning. */
const DIRECTIVES: Partial<Record<string, string>> = {
  Player: '@key(fields: "id")',
  PageInfo: '@shareable',
  UserError: '@shareable',
};

const LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])';

/** How many representations one field may have. */
const MAX_REPRESENTATIONS = 200;

/** The executable schema with `_entities` and `_service`. */
export function createSubgraph(directory: URL): ExecutableSchema {
  const sdl = subgraphSdl(printSdl(createSchema(directory).schema));
  const typeDefs = readFileSync(new URL('federation/subgraph.graphql', directory), 'utf8');
  return createSchema(directory, {
    typeDefs,
    resolvers: {
      Query: { _entities: readEntities, _service: () => ({ sdl }) },
      _Entity: { __resolveType: () => 'Player' },
    },
  });
}

/** The SDL for composition. Throws when it is no valid subgraph. */
function subgraphSdl(sdl: string): string {
  const marked = visit(parse(`${LINK}\n${sdl}`), {
    [Kind.OBJECT_TYPE_DEFINITION](node) {
      const directives = DIRECTIVES[node.name.value];
      if (!directives) return undefined;
      const [{ directives: added = [] } = {}] = parse(`type T ${directives}`).definitions;
      return { ...node, directives: [...(node.directives ?? []), ...added] };
    },
  });
  const { data } = graphqlSync({ schema: buildSubgraphSchema(marked), source: '{ _service { sdl } }' });
  const service = data?.['_service'];
  if (!isJson(service) || typeof service['sdl'] !== 'string') throw new Error('@apollo/subgraph gives no SDL.');
  return service['sdl'];
}

/** A representation is null where the caller may not read the player; see access/enforce.ts. */
function readEntities(
  _parent: unknown,
  { representations }: { representations: readonly unknown[] },
  context: Context,
  info: GraphQLResolveInfo,
) {
  checkLength('representations', representations, MAX_REPRESENTATIONS);
  return representations.map(async (representation, index) => {
    if (representation === null) return null;
    const id = playerIdOf(representation, `representations[${index}]`);
    return await readPlayer(id, undefined, context, info);
  });
}

function playerIdOf(representation: unknown, argument: string): string {
  const { __typename, id } = isJson(representation) ? representation : {};
  if (__typename !== 'Player' || typeof id !== 'string') {
    throw badUserInput(argument, 'must be a player by its key: { "__typename": "Player", "id": "…" }');
  }
  checkPlayerId(`${argument}.id`, id);
  return id;
}
