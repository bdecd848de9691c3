import DataLoader from 'dataloader';
import type { Player } from '../../rest/wire.ts';
import type { Reading } from './loaders.ts';

export interface PlayerKey {
  playerUniqueId: string;
  lang: string | undefined;
}

export type PlayerLoader = DataLoader<PlayerKey, Player | null, string>;

/**
 * Reads players, each once per operation and language. The REST service has no call for several players, so a tick's
 * keys become as many calls, all at once; the REST client bounds how many are under way.
 */
export function createPlayerLoader({ rest, operation, budget, onBatch }: Reading): PlayerLoader {
  return new DataLoader(
    async (keys) => {
      onBatch('players', keys.length);
      budget.take(keys.length);
      return await Promise.all(
        keys.map(({ playerUniqueId, lang }) => rest.getPlayer(playerUniqueId, lang, operation).catch(asError)),
      );
    },
    { cacheKeyFn: keyOf },
  );
}

/** A language can be anything at this point, so it is quoted where there is one; the two forms begin differently. */
function keyOf({ playerUniqueId, lang }: PlayerKey): string {
  return lang === undefined ? ` ${playerUniqueId}` : JSON.stringify([playerUniqueId, lang]);
}

/** DataLoader takes a failure of one key as an Error in its place. */
export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('A read failed without an error.', { cause: error });
}
