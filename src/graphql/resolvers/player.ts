import type { GraphQLResolveInfo } from 'graphql';
import { badUserInput } from '../../errors.ts';
import type {
  MutationResolvers,
  PlayerAttributesInput,
  PlayerResolvers,
  QueryResolvers,
  UpsertPlayerInput,
} from '../../generated/graphql.ts';
import { isJson } from '../../rest/decode/members.ts';
import type { Player, PlayerUpsertRequest } from '../../rest/wire.ts';
import type { OperationRecord } from '../../telemetry/observe.ts';
import type { Context } from '../context.ts';
import { checkLength, checkPlayerId, MAX_PLAYERS } from '../input/arguments.ts';
import { deleteProblems, upsertProblems } from '../input/mutations.ts';
import { needsPlayer, selectedFields, startRelated } from '../lookahead.ts';
import type { WriteParent } from './parents.ts';

type Lang = string | null | undefined;

/** How many representations one field may have. */
const MAX_REPRESENTATIONS = 200;

/** Reads a player and, at the same time, what else the operation asks of it. Null for a player that does not exist. */
export function readPlayer(
  playerUniqueId: string,
  lang: Lang,
  context: Context,
  info: GraphQLResolveInfo,
): Promise<Player | null> {
  const fields = selectedFields(info.fieldNodes, 'Player', info);
  // Takes its call from the budget first: without the player, the other reads are useless.
  const player = needsPlayer(fields, info) ? loadPlayer(playerUniqueId, lang, context) : undefined;
  const related = startRelated(playerUniqueId, fields, context, info);
  if (player) return player;
  return related.length > 0 ? playerFromRelated(playerUniqueId, related) : loadPlayer(playerUniqueId, lang, context);
}

function loadPlayer(playerUniqueId: string, lang: Lang, { loaders }: Context): Promise<Player | null> {
  return loaders.players.load({ playerUniqueId, lang: lang ?? undefined });
}

/** A player without its own read. Null if the related reads show that it does not exist; a failed read shows nothing. */
async function playerFromRelated(playerUniqueId: string, related: readonly Promise<unknown>[]): Promise<Player | null> {
  const finds = related.map(async (read) => {
    if ((await read) === null) throw UNKNOWN_PLAYER;
  });
  try {
    await Promise.any(finds);
  } catch (error) {
    if (error instanceof AggregateError && error.errors.includes(UNKNOWN_PLAYER)) return null;
  }
  return { id: playerUniqueId, playerUniqueId, attributes: undefined, referralLink: undefined };
}

const UNKNOWN_PLAYER = new Error('The player does not exist.');

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
    playerUniqueIds.forEach((id, index) => {
      checkPlayerId(`playerUniqueIds[${index}]`, id);
    });
    return playerUniqueIds.map((id) => readPlayer(id, lang, context, info));
  },
  me: (_parent, { lang }, context, info) =>
    context.caller.sub === undefined ? null : readPlayer(context.caller.sub, lang, context, info),
};

/** What `schema/federation/subgraph.graphql` adds for a federation gateway. */
export const entityQueries = {
  /** A representation is null where the caller may not read the player; see access/enforce.ts. */
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
    const write = () => writes.upsertPlayer(upsertBody(input));
    const { result, userErrors } = await writes.perform(path.key, upsertProblems(input), write);
    return { playerUniqueId, serviceId: result?.serviceId ?? null, userErrors };
  },
  deletePlayer: async (_parent, { input: { playerUniqueId } }, { loaders: { writes }, record }, { path }) => {
    const deletion: OperationRecord['deletions'][number] = { playerUniqueId, outcome: 'FAILED' };
    record.deletions.push(deletion);
    const write = () => writes.deletePlayer(playerUniqueId);
    const { result, userErrors } = await writes.perform(path.key, deleteProblems({ playerUniqueId }), write);
    deletion.outcome = result === 'unknown' ? 'NOT_FOUND' : result ? 'DELETED' : 'REFUSED';
    if (result === 'unknown') return { deletedPlayerUniqueId: null, userErrors: [notFound] };
    return { deletedPlayerUniqueId: result ? playerUniqueId : null, userErrors };
  },
};

const notFound = {
  code: 'NOT_FOUND',
  field: ['input', 'playerUniqueId'],
  message: 'playerUniqueId names no existing player.',
} as const;

type WireAttributes = NonNullable<PlayerUpsertRequest['playerAttributes']>;

/** The body of an upsert. What is null, empty or left out is not sent: the service leaves it as it is. */
function upsertBody({ playerUniqueId, attributes, device }: UpsertPlayerInput): PlayerUpsertRequest {
  return {
    playerUniqueId,
    ...(attributes ? { playerAttributes: wireAttributes(attributes) } : {}),
    ...(device?.token ? { deviceToken: device.token } : {}),
    ...(device ? { osType: device.osType } : {}),
  };
}

/** The members have the same names in GraphQL and REST. Tags are sent as one comma-separated text. */
function wireAttributes({ tags, custom, ...rest }: PlayerAttributesInput): WireAttributes {
  const free = withoutEmpty(custom ?? {});
  return {
    ...withoutEmpty(rest),
    ...(tags?.length ? { tags: tags.map((tag) => tag.trim()).join(',') } : {}),
    ...(Object.keys(free).length > 0 ? { custom: free } : {}),
  };
}

function withoutEmpty<Value>(members: Record<string, Value>): Record<string, NonNullable<Value>> {
  const isKnown = (entry: [string, Value]): entry is [string, NonNullable<Value>] =>
    entry[1] != null && entry[1] !== '';
  return Object.fromEntries(Object.entries(members).filter(isKnown));
}
