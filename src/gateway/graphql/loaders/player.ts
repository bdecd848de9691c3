import type DataLoader from 'dataloader';
import type { Player } from '../../../rest/wire.ts';
import { createCallLoader, type Reading } from './call.ts';

export interface PlayerKey {
  playerUniqueId: string;
  lang: string | undefined;
}

export type PlayerLoader = DataLoader<PlayerKey, Player | null, string>;

/** Reads players, each once per operation and language. The REST service has no call for several players. */
export function createPlayerLoader(reading: Reading): PlayerLoader {
  const { rest, call } = reading;
  return createCallLoader(
    'players',
    reading,
    ({ playerUniqueId, lang }) => rest.getPlayer(playerUniqueId, lang, call),
    keyOf,
  );
}

/** An id has no line break, so the key is unambiguous. */
function keyOf({ playerUniqueId, lang }: PlayerKey): string {
  return lang === undefined ? playerUniqueId : `${lang}\n${playerUniqueId}`;
}
