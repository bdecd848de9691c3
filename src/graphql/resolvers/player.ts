import type { GraphQLResolveInfo } from 'graphql';
import { badUserInput } from '../../errors.ts';
import type {
  MutationResolvers,
  PlayerAttributesInput,
  PlayerResolvers,
  QueryResolvers,
  UpsertPlayerInput,
} from '../../generated/graphql.ts';
import { isJson } from '../../json.ts';
import { idProblem } from '../../player-id.ts';
import type { Player } from '../../rest/decode/player.ts';
import type { PlayerUpsertRequest } from '../../rest/endpoints.ts';
import type { Context } from '../context.ts';
import { checkLength, idProblems, upsertProblems } from '../input.ts';
import { needsPlayer, selectedFields, startRelated } from '../lookahead.ts';
import { InputRefused, userErrorAt, type WriteParent } from '../writes.ts';

type Lang = string | null | undefined;

/** How many players, and how many representations, one field may have. */
const MAX_PLAYERS = 50;
const MAX_REPRESENTATIONS = 200;

/** Checks an argument that identifies a player; throws BAD_USER_INPUT. */
function checkPlayerId(argument: string, playerUniqueId: string): void {
  const problem = idProblem(playerUniqueId);
  if (problem) throw badUserInput(argument, problem.message);
}

/** Reads a player and, at the same time, what else the operation asks of it. Null for a player that does not exist. */
export function readPlayer(playerUniqueId: string, lang: Lang, context: Context, info: GraphQLResolveInfo) {
  const fields = selectedFields(info.fieldNodes, 'Player', info);
  // Loaded first, so that its batch takes from the budget first: without the player, the other reads are useless.
  const player = needsPlayer(fields, info) ? loadPlayer(playerUniqueId, lang, context) : undefined;
  const related = startRelated(playerUniqueId, fields, context, info);
  if (player) return player;
  if (related.length === 0) return loadPlayer(playerUniqueId, lang, context);
  return playerFromRelated(playerUniqueId, related);
}

function loadPlayer(playerUniqueId: string, lang: Lang, { loaders }: Context): Promise<Player | null> {
  return loaders.players.load({ playerUniqueId, lang: lang ?? undefined });
}

/** A player without its own read: the first related read that succeeds shows whether it exists; a failed one shows nothing. */
async function playerFromRelated(playerUniqueId: string, related: readonly Promise<unknown>[]): Promise<Player | null> {
  if ((await Promise.any(related).catch(() => undefined)) === null) return null;
  return { id: playerUniqueId, playerUniqueId, attributes: undefined, referralLink: undefined };
}

export const playerFields: Pick<PlayerResolvers, 'referralLink'> = {
  referralLink: ({ playerUniqueId, referralLink }, { lang }, context) =>
    lang == null ? referralLink : loadPlayer(playerUniqueId, lang, context).then((player) => player?.referralLink),
};

/** The player after a write, for both payloads that carry one. */
export const writtenPlayer = {
  player: (
    { playerUniqueId, userErrors }: WriteParent,
    { lang }: { lang?: Lang },
    context: Context,
    info: GraphQLResolveInfo,
  ) => (userErrors.length > 0 ? null : readPlayer(playerUniqueId, lang, context, info)),
};

export const playerQueries: Pick<QueryResolvers, 'node' | 'player' | 'players' | 'me'> = {
  node: (_parent, { id }, context, info) => {
    checkPlayerId('id', id);
    return readPlayer(id, undefined, context, info);
  },
  player: (_parent, { playerUniqueId, lang }, context, info) => {
    checkPlayerId('playerUniqueId', playerUniqueId);
    return readPlayer(playerUniqueId, lang, context, info);
  },
  players: (_parent, { playerUniqueIds, lang }, context, info) => {
    checkLength('playerUniqueIds', playerUniqueIds, MAX_PLAYERS);
    for (const [index, id] of playerUniqueIds.entries()) checkPlayerId(`playerUniqueIds[${index}]`, id);
    // `async`: what is thrown, such as for a null condition, is the error of one player alone.
    return playerUniqueIds.map(async (id) => readPlayer(id, lang, context, info));
  },
  me: (_parent, { lang }, context, info) => {
    const { playerUniqueId } = context.caller;
    return playerUniqueId === undefined ? null : readPlayer(playerUniqueId, lang, context, info);
  },
};

/** What `schema/federation/subgraph.graphql` adds for a federation gateway. */
export const entityQueries = {
  /** A representation is null where the caller may not read the player; see access/rules.ts. */
  _entities: (_parent: unknown, args: { representations: unknown[] }, context: Context, info: GraphQLResolveInfo) => {
    checkLength('representations', args.representations, MAX_REPRESENTATIONS);
    return args.representations.map(async (representation, index) => {
      if (representation === null) return null;
      const { __typename, id } = isJson(representation) ? representation : {};
      const argument = `representations[${index}]`;
      if (__typename !== 'Player' || typeof id !== 'string') {
        throw badUserInput(argument, 'must be a player by its key: { "__typename": "Player", "id": "…" }');
      }
      checkPlayerId(`${argument}.id`, id);
      return await readPlayer(id, undefined, context, info);
    });
  },
};

export const playerMutations: Pick<MutationResolvers, 'upsertPlayer' | 'deletePlayer'> = {
  upsertPlayer: async (_parent, { input }, { loaders: { writes } }, { path }) => {
    const { playerUniqueId } = input;
    const { result, userErrors } = await writes.perform(path.key, upsertProblems(input), (rest, callContext) =>
      rest.upsertPlayer(upsertBody(input), callContext),
    );
    return { playerUniqueId, serviceId: result?.serviceId ?? null, userErrors };
  },
  deletePlayer: async (_parent, { input: { playerUniqueId } }, { loaders: { writes } }, { path }) => {
    const { userErrors } = await writes.perform(path.key, idProblems(playerUniqueId), async (rest, callContext) => {
      if ((await rest.deletePlayer(playerUniqueId, callContext)) === null) throw new InputRefused(NOT_FOUND);
    });
    return { deletedPlayerUniqueId: userErrors.length > 0 ? null : playerUniqueId, userErrors };
  },
};

const NOT_FOUND = userErrorAt(['playerUniqueId'], { code: 'NOT_FOUND', message: 'names no existing player' });

/** The body of an upsert. What is null, empty or left out is not sent: the service leaves it as it is. */
function upsertBody({ playerUniqueId, attributes, device }: UpsertPlayerInput): PlayerUpsertRequest {
  return {
    playerUniqueId,
    ...(attributes && { playerAttributes: wireAttributes(attributes) }),
    ...withoutEmpty({ deviceToken: device?.token, osType: device?.osType }),
  };
}

/** The attributes have the same names in GraphQL and REST. Tags are sent as one comma-separated text. */
function wireAttributes({ tags, custom, ...rest }: PlayerAttributesInput) {
  const free = withoutEmpty(custom ?? {});
  return {
    ...withoutEmpty({ ...rest, tags: tags?.map((tag) => tag.trim()).join(',') }),
    ...(Object.keys(free).length > 0 && { custom: free }),
  };
}

function withoutEmpty<Value>(members: Record<string, Value>): Record<string, NonNullable<Value>> {
  const isKnown = (entry: [string, Value]): entry is [string, NonNullable<Value>] =>
    entry[1] != null && entry[1] !== '';
  return Object.fromEntries(Object.entries(members).filter(isKnown));
}
