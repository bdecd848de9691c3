/*
 * A model of the service in memory, written from the interface document and the README. The property test
 * compares the real service with it.
 */

interface ModelPlayer {
  id: string;
  attributes: Record<string, unknown> | undefined;
  coupons: string[];
  serviceId?: string | undefined;
  link?: string;
  /** Sent the action event, perhaps before it had attributes. */
  hasOrdered: boolean;
  referral: { referrer: ModelPlayer; status: 'pending' | 'active' } | undefined;
}

interface ModelContact {
  referrer: ModelPlayer;
  email: string;
}

/** How many coupons of each group a player can obtain, in the programme that the model knows. */
export const MAX_PER_PLAYER = { welcome: 1, thanks: 1 };

export class Model {
  readonly #players = new Map<string, ModelPlayer>();
  #contacts: ModelContact[] = [];
  /** Every e-mail that has ever counted. */
  readonly #counted = new Set<string>();
  /** All friends, in the order in which they were referred. */
  #friends: ModelPlayer[] = [];

  has(id: string): boolean {
    return this.#players.has(id);
  }

  attributes(id: string): Record<string, unknown> {
    return this.#players.get(id)?.attributes ?? {};
  }

  coupons(id: string): string[] {
    return this.#players.get(id)?.coupons ?? [];
  }

  /** Remembers the service id and link of a player; throws if the same player had others before. */
  identify(id: string, serviceId: string | undefined, link: string): void {
    const player = this.#take(id);
    const isOther = (known: string | undefined, told: string | undefined) => known && told && known !== told;
    if (isOther(player.serviceId, serviceId) || isOther(player.link, link))
      throw new Error(`${id} has another service id or link than before`);
    player.serviceId ??= serviceId;
    player.link ??= link;
  }

  upsert(id: string, sent: Record<string, unknown> | undefined): void {
    const player = this.#take(id);
    const isKnown = ([, value]: [string, unknown]) =>
      value !== null &&
      value !== '' &&
      !(typeof value === 'object' && Object.values(value).every((one) => one === null || one === ''));
    const given = Object.entries(sent ?? {}).filter(isKnown);
    if (given.length === 0) return;
    const isFirst = player.attributes === undefined;
    const attributes: Record<string, unknown> = { ...player.attributes, ...Object.fromEntries(given) };
    const custom = Object.entries(Object.fromEntries(given)['custom'] ?? {}).filter(
      ([, value]) => value !== null && value !== '',
    );
    if (custom.length > 0) {
      attributes['custom'] = Object.assign({}, player.attributes?.['custom'], Object.fromEntries(custom));
    }
    player.attributes = attributes;
    if (isFirst) this.#refer(player);
  }

  track(id: string, names: string[]): void {
    const player = this.#take(id);
    if (!names.includes('place_order')) return;
    player.hasOrdered = true;
    this.#activate(player);
  }

  leave(id: string, email: string): void {
    const referrer = this.#take(id);
    const value = email.trim().toLowerCase();
    if (this.#contacts.some((contact) => contact.referrer === referrer && contact.email === value)) return;
    this.#contacts.push({ referrer, email: value });
  }

  remove(id: string): void {
    const gone = this.#take(id);
    this.#players.delete(id);
    this.#contacts = this.#contacts.filter(({ referrer }) => referrer !== gone);
    this.#friends = this.#friends.filter((friend) => friend !== gone && friend.referral?.referrer !== gone);
    for (const player of this.#players.values()) if (player.referral?.referrer === gone) player.referral = undefined;
  }

  referrals(id: string, page: number, limit: number) {
    const all = this.#friends.filter(({ referral }) => referral?.referrer.id === id);
    const shown = all.slice((page - 1) * limit, page * limit);
    const totalActive = all.filter(({ referral }) => referral?.status === 'active').length;
    return {
      friends: shown.map((friend) => ({
        id: friend.id,
        status: friend.referral?.status,
        email: friend.attributes?.['email'],
      })),
      count: shown.length,
      total: all.length,
      totalPending: all.length - totalActive,
      totalActive,
    };
  }

  #refer(player: ModelPlayer): void {
    const email = String(player.attributes?.['email'] ?? '')
      .trim()
      .toLowerCase();
    const winner = this.#contacts.find((contact) => contact.email === email && contact.referrer !== player);
    if (!winner || this.#counted.has(email)) return;
    this.#counted.add(email);
    player.referral = { referrer: winner.referrer, status: 'pending' };
    this.#friends.push(player);
    this.#give(player, 'welcome');
    if (player.hasOrdered) this.#activate(player);
  }

  #activate(player: ModelPlayer): void {
    if (player.referral?.status !== 'pending') return;
    player.referral.status = 'active';
    this.#give(player.referral.referrer, 'thanks');
    this.#give(player, 'thanks');
  }

  #give(player: ModelPlayer, group: keyof typeof MAX_PER_PLAYER): void {
    const obtained = player.coupons.filter((coupon) => coupon === group).length;
    if (obtained < MAX_PER_PLAYER[group]) player.coupons.push(group);
  }

  #take(id: string): ModelPlayer {
    const player = this.#players.get(id) ?? {
      id,
      attributes: undefined,
      coupons: [],
      hasOrdered: false,
      referral: undefined,
    };
    this.#players.set(id, player);
    return player;
  }
}
