import type DataLoader from 'dataloader';
import type { Coupon, Player } from '../../../rest/wire.ts';
import { createCallLoader, type Reading } from './call.ts';
import { createReferralLoader, type ReferralLoader } from './referral.ts';
import { Writes } from './writes.ts';

export interface PlayerKey {
  playerUniqueId: string;
  lang: string | undefined;
}

/** Players, each read once per operation and language. */
export type PlayerLoader = DataLoader<PlayerKey, Player | null, string>;

/** Players' coupons, each player's read once per operation. Null for a player that does not exist. */
export type CouponLoader = DataLoader<string, readonly Coupon[] | null>;

/** The loaders and writes of one operation, each created at its first use and never shared with another operation. */
export class Loaders {
  readonly #reading: Reading;
  #players: PlayerLoader | undefined;
  #coupons: CouponLoader | undefined;
  #referrals: ReferralLoader | undefined;
  #writes: Writes | undefined;

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  get players(): PlayerLoader {
    this.#players ??= createPlayerLoader(this.#reading);
    return this.#players;
  }

  get coupons(): CouponLoader {
    this.#coupons ??= createCouponLoader(this.#reading);
    return this.#coupons;
  }

  get referrals(): ReferralLoader {
    this.#referrals ??= createReferralLoader(this.#reading);
    return this.#referrals;
  }

  get writes(): Writes {
    this.#writes ??= new Writes(this.#reading, () => this.clearAll());
    return this.#writes;
  }

  /** Clears the caches of all loaders. */
  clearAll(): void {
    this.#players?.clearAll();
    this.#coupons?.clearAll();
    this.#referrals?.clearAll();
  }
}

function createPlayerLoader(reading: Reading): PlayerLoader {
  const { rest, call } = reading;
  const read = ({ playerUniqueId, lang }: PlayerKey) => rest.getPlayer(playerUniqueId, lang, call);
  return createCallLoader('players', reading, read, keyOf);
}

/** An id has no line break, so the key is unambiguous. */
function keyOf({ playerUniqueId, lang }: PlayerKey): string {
  return lang === undefined ? playerUniqueId : `${lang}\n${playerUniqueId}`;
}

function createCouponLoader(reading: Reading): CouponLoader {
  const { rest, call } = reading;
  return createCallLoader('coupons', reading, (playerUniqueId) => rest.listCoupons(playerUniqueId, call));
}
