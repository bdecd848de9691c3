import { invalid } from './errors.ts';
import type { Keys } from './keys.ts';
import type { Programme } from './programme/schema.ts';
import type { PlayerRow } from './store/players.ts';
import type { Store } from './store/store.ts';

/** All that the routes work with. */
export interface Service {
  store: Store;
  programme: Programme;
  keys: Keys;
  /** Where players' browsers reach this service, without a slash at the end. */
  publicUrl(): string;
  /** The current time in milliseconds. */
  now(): number;
}

/** The link that a player shares; with a language, the page that it opens speaks that language. */
export function referralLink(service: Service, player: PlayerRow, language?: string): string {
  const link = `${service.publicUrl()}/r/${player.referral_code}`;
  return language === undefined ? link : `${link}?lang=${encodeURIComponent(language)}`;
}

/** The language of the account that a client asked for, or undefined when it asked for none. Throws a Refusal. */
export function languageOf(programme: Programme, asked: string | string[] | undefined): string | undefined {
  if (asked === undefined || asked === '') return undefined;
  const known = programme.languages.find((language) => language.toLowerCase() === String(asked).trim().toLowerCase());
  if (known === undefined) throw invalid('Lang', `must be one of ${programme.languages.join(', ')}`);
  return known;
}
