/*
 * A model of the service in memory, written from the interface document and the README. The property test compares the
 * real service with it.
 */

type Attributes = Record<string, unknown>;

interface ModelPlayer {
  id: string;
  attributes: Attributes | undefined;
  coupons: string[];
  /** Sent the action event, perhaps before it had attributes. */
  hasOrdered: boolean;
  referral: { referrer: ModelPlayer; status: 'pending' | 'active' } | undefined;
}

/** How many coupons of each group a player can obtain, in the programme that the model knows. */
export const MAX_PER_PLAYER = { welcome: 1, thanks: 1 };

const compared = (email: unknown) => String(email).trim().toLowerCase();

/** Without what says nothing. */
const given = (members: object): Attributes =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== ''));

export class Model {
  readonly #players = new Map<string, ModelPlayer>();
  #contacts: { referrer: ModelPlayer; email: string }[] = [];
  /** Every e-mail that has ever counted. */
  readonly #counted = new Set<string>();
  /** All friends, in the order in which they were referred. */
  #friends: ModelPlayer[] = [];

  player(id: string): Readonly<ModelPlayer> | undefined {
    return this.#players.get(id);
  }

  upsert(id: string, sent: Attributes | undefined): void {
    const player = this.#take(id);
    const { custom, ...others } = given(sent ?? {});
    const sentCustom = given(Object(custom));
    if (Object.keys({ ...others, ...sentCustom }).length === 0) return;
    const isFirst = player.attributes === undefined;
    const known = player.attributes ?? {};
    const merged = Object.assign({}, known['custom'], sentCustom);
    player.attributes = { ...known, ...others, ...(Object.keys(merged).length > 0 && { custom: merged }) };
    if (isFirst) this.#refer(player);
  }

  track(id: string, names: string[]): void {
    const player = this.#take(id);
    if (!names.includes('place_order')) return;
    player.hasOrdered = true;
    this.#activate(player);
  }

  leave(id: string, contact: string): void {
    const [referrer, email] = [this.#take(id), compared(contact)];
    const isLeft = this.#contacts.some((left) => left.referrer === referrer && left.email === email);
    if (!isLeft) this.#contacts.push({ referrer, email });
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
      friends: shown.map(({ id, referral, attributes }) => [id, referral?.status, attributes?.['email']]),
      count: shown.length,
      total: all.length,
      totalPending: all.length - totalActive,
      totalActive,
    };
  }

  #refer(player: ModelPlayer): void {
    const email = compared(player.attributes?.['email']);
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

  #give({ coupons }: ModelPlayer, group: keyof typeof MAX_PER_PLAYER): void {
    if (coupons.filter((coupon) => coupon === group).length < MAX_PER_PLAYER[group]) coupons.push(group);
  }

  #take(id: string): ModelPlayer {
    const fresh: ModelPlayer = { id, attributes: undefined, coupons: [], hasOrdered: false, referral: undefined };
    const player = this.#players.get(id) ?? fresh;
    this.#players.set(id, player);
    return player;
  }
}
