import { invalid } from './errors.ts';
import type { Keys } from './keys.ts';
import type { ReferenceMetrics } from './metrics.ts';
import type { Programme } from './programme/schema.ts';
import type { PlayerRow } from './store/players.ts';
import type { Store } from './store/store.ts';

/** What the routes need. */
export interface Service {
  store: Store;
  programme: Programme;
  keys: Keys;
  metrics: ReferenceMetrics;
  /** The address for players' browsers, without a slash at the end. */
  publicUrl(): string;
  /** The current time in milliseconds. */
  now(): number;
}

/** The link that a player shares. With a language, it opens the landing page in that language. */
export function referralLink(service: Service, player: PlayerRow, language?: string): string {
  const link = `${service.publicUrl()}/r/${player.referral_code}`;
  return language === undefined ? link : `${link}?lang=${encodeURIComponent(language)}`;
}

/** The requested language; undefined if none is requested. Throws an ApiError if the account does not have it. */
export function languageOf(programme: Programme, requested: string | string[] | undefined): string | undefined {
  if (requested === undefined || requested === '') return undefined;
  const known = programme.languages.find(
    (language) => language.toLowerCase() === String(requested).trim().toLowerCase(),
  );
  if (known === undefined) throw invalid('Lang', `must be one of ${programme.languages.join(', ')}`);
  return known;
}
