import type { GraphQLResolveInfo } from 'graphql';
import type { MutationResolvers, QueryResolvers } from '../../../generated/graphql.ts';
import type { Player } from '../../../rest/wire.ts';
import type { Context } from '../context.ts';
import { checkPlayerId, checkPlayerIds } from '../input/arguments.ts';
import { deleteProblems, upsertProblems } from '../input/mutations.ts';
import { startRelated } from '../lookahead.ts';
import type { WriteParent } from './parents.ts';
import { upsertBody } from './player-body.ts';
import { rejectedAsUserErrors } from './user-errors.ts';

type Lang = string | null | undefined;

/** Reads a player and, at the same time, what else the operation asks of it. */
export function readPlayer(
  playerUniqueId: string,
  lang: Lang,
  context: Context,
  info: GraphQLResolveInfo,
): Promise<Player | null> {
  // The player takes the first call of the budget: without it, the other reads are not needed.
  const player = context.loaders.players.load({ playerUniqueId, lang: lang ?? undefined });
  startRelated(playerUniqueId, context, info);
  return player;
}

/** The player after a write, for both payloads that carry one. */
export const writtenPlayer = {
  player: ({ playerUniqueId, userErrors }: WriteParent, _args: unknown, context: Context, info: GraphQLResolveInfo) =>
    userErrors.length > 0 ? null : readPlayer(playerUniqueId, undefined, context, info),
};

export const playerQueries: Pick<QueryResolvers, 'player' | 'players' | 'me'> = {
  player: (_parent, { playerUniqueId, lang }, context, info) => {
    checkPlayerId('playerUniqueId', playerUniqueId);
    return readPlayer(playerUniqueId, lang, context, info);
  },
  players: (_parent, { playerUniqueIds, lang }, context, info) => {
    checkPlayerIds('playerUniqueIds', playerUniqueIds);
    return playerUniqueIds.map((id) => readPlayer(id, lang, context, info));
  },
  me: (_parent, { lang }, context, info) =>
    context.caller.sub === undefined ? null : readPlayer(context.caller.sub, lang, context, info),
};

export const playerMutations: Pick<MutationResolvers, 'upsertPlayer' | 'deletePlayer'> = {
  upsertPlayer: async (_parent, { input }, context) => {
    const { playerUniqueId } = input;
    const outcome = await rejectedAsUserErrors(upsertProblems(input), () =>
      context.loaders.writes.upsertPlayer(upsertBody(input)),
    );
    return { playerUniqueId, serviceId: outcome.result?.serviceId ?? null, userErrors: outcome.userErrors };
  },
  deletePlayer: async (_parent, { input: { playerUniqueId } }, context) => {
    const problems = deleteProblems({ playerUniqueId });
    const { result, userErrors } = await rejectedAsUserErrors(problems, () =>
      context.loaders.writes.deletePlayer(playerUniqueId),
    );
    if (result === 'unknown') return { deletedPlayerUniqueId: null, userErrors: [notFound] };
    return { deletedPlayerUniqueId: result ? playerUniqueId : null, userErrors };
  },
};

const notFound = {
  code: 'NOT_FOUND',
  field: ['input', 'playerUniqueId'],
  message: 'playerUniqueId names no existing player.',
} as const;
