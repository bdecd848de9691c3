import type { GraphQLResolveInfo } from 'graphql';
import type { Context } from '../context.ts';
import type { UserError } from '../errors.ts';
import { readPlayer } from './player.ts';

/** What a write to a player leaves behind; nothing was written when there are user errors. */
interface Written {
  playerUniqueId: string;
  userErrors: readonly UserError[];
}

export interface UpsertPlayerOutcome extends Written {
  serviceId: string | null;
}

export interface TrackEventsOutcome extends Written {
  eventNames: readonly string[];
}

/** The player after a write, for both payloads that carry one. */
export const writtenPlayer = {
  player: ({ playerUniqueId, userErrors }: Written, _args: unknown, context: Context, info: GraphQLResolveInfo) =>
    userErrors.length > 0 ? null : readPlayer(playerUniqueId, undefined, context, info),
};
