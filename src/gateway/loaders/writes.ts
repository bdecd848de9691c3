import type { PlayerUpsertRequest, PlayerUpsertResponse, TrackEventsRequest } from '../../rest/wire.ts';
import type { Loaders, Reading } from './loaders.ts';

/** The three calls that change something. */
export interface Writes {
  upsertPlayer(body: PlayerUpsertRequest): Promise<PlayerUpsertResponse>;
  deletePlayer(playerUniqueId: string): Promise<'deleted' | 'unknown'>;
  trackEvents(body: TrackEventsRequest): Promise<void>;
}

/**
 * Writes for one operation. Whatever became of a write, everything read before it in the same operation is forgotten:
 * a write to one player can change others too (a friend's order turns a referral active).
 */
export function createWrites({ rest, operation, budget }: Reading, loaders: Loaders): Writes {
  const write = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    budget.take(1);
    try {
      return await call();
    } finally {
      loaders.clearAll();
    }
  };
  return {
    upsertPlayer: (body) => write(() => rest.upsertPlayer(body, operation)),
    deletePlayer: (playerUniqueId) => write(() => rest.deletePlayer(playerUniqueId, operation)),
    trackEvents: (body) => write(() => rest.trackEvents(body, operation)),
  };
}
