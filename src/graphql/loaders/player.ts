import type { Player } from '../../rest/decode/player.ts';
import { refusesInput } from '../../rest/upstream-error.ts';
import { createLoader, type LoaderDependencies } from './loader.ts';

interface PlayerKey {
  playerUniqueId: string;
  lang: string | undefined;
}

/**
 * Players, each read once per operation and language. A player is read in the requested language, else in its primary language
 * (`en` of `en-US`), else in the default one. Only the service knows which languages the account has; it rejects others.
 */
export function createPlayerLoader({ rest, callContext, budget, onBatch }: LoaderDependencies) {
  const begin = async (keys: readonly PlayerKey[]) => {
    onBatch('players', keys.length);
    budget.consume(keys.length);
    return keys.map(({ playerUniqueId, lang }) => rest.getPlayer(playerUniqueId, lang, callContext));
  };
  // An id has no line break, so the key is unambiguous.
  const loader = createLoader<PlayerKey, Player | null, string>(begin, {
    cacheKeyFn: ({ playerUniqueId, lang }) => `${lang ?? ''}\n${playerUniqueId}`,
  });
  function load({ playerUniqueId, lang }: PlayerKey): Promise<Player | null> {
    const player = loader.load({ playerUniqueId, lang });
    if (lang === undefined) return player;
    return player.catch((error: unknown) => {
      if (!refusesInput(error)) throw error;
      const [primary] = lang.toLowerCase().split('-', 1);
      return load({ playerUniqueId, lang: primary === lang ? undefined : primary });
    });
  }
  return { load, clearAll: () => void loader.clearAll() };
}
