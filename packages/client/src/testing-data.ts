import { GraphQLError, type GraphQLResolveInfo, print } from 'graphql';

/** The states to build for. The reference service has a player for each `demo-…`. */
export const STATES = [
  /** Everything is there. */
  'demo-player',
  /** A new player: no coupons, no friends. */
  'demo-empty',
  /** The service hangs at the coupons: they are missing, after 3 s. */
  'demo-slow-coupons',
  /** The service fails at the coupons (503): they are missing. */
  'demo-no-coupons',
  /** The service fails at the friends (503): they are missing. */
  'demo-no-friends',
  /** An event was sent and its response lost: the outcome is UNKNOWN. */
  'demo-lost-event',
  /** An event was counted, the player could not be read after it: the outcome is DONE. */
  'demo-event-then-down',
  /** The service has too many requests (429): nothing is there; try again later. */
  'demo-throttled',
  /** Long, right-to-left and blank names; emoji. */
  'demo-long-names',
  /** HTTP 401: the token has expired. */
  'expired-token',
  /** HTTP 429: the token's player sends too many operations. */
  'rate-limited',
] as const;

export type State = (typeof STATES)[number];

/** An error as the gateway writes it. */
export function gatewayError(code: string, message: string, extensions: object = {}): GraphQLError {
  return new GraphQLError(message, { extensions: { ...extensions, code, requestId: 'request-of-a-test' } });
}

const unavailable = (extensions: object = { retryable: true }) =>
  gatewayError('UPSTREAM_UNAVAILABLE', 'The referral and rewards service is not available at the moment.', extensions);
const timeout = (extensions: object = { retryable: true }) =>
  gatewayError('UPSTREAM_TIMEOUT', 'The referral and rewards service did not answer in time.', extensions);

interface Coupon {
  code: string;
  couponType: string;
  isUsed: boolean;
  isExpired: boolean;
  group: { handle: string } | null;
  [field: string]: unknown;
}

interface Filter {
  isUsed?: boolean | null;
  isExpired?: boolean | null;
  usableNow?: boolean | null;
  couponTypes?: string[] | null;
  group?: string | null;
}

const CREATED = '2025-05-01T10:00:00.000Z';
const FAR = '2099-12-31T00:00:00.000Z';

function coupon(code: string, couponType: string, more: object = {}): Coupon {
  return {
    id: `coupon-${code}`,
    code,
    couponType,
    isUsed: false,
    isExpired: false,
    value: null,
    currency: null,
    creationDate: CREATED,
    startAt: null,
    endAt: FAR,
    product: null,
    collections: [],
    group: null,
    options: { usageLimit: 1, minOrderValue: null, combinesWith: null },
    ...more,
  };
}

/** One coupon of each kind, two equal ones, one that begins later, one used and one expired. */
const COUPONS = [
  coupon('WELCOME-7F3A', 'PERCENTAGE_DISCOUNT', { value: 10, group: { handle: 'welcome', title: 'Welcome' } }),
  coupon('THANKS-1B2C', 'FIXED_DISCOUNT', { value: 5, currency: 'USD', options: { usageLimit: 1, minOrderValue: 25 } }),
  coupon('THANKS-9D8E', 'FIXED_DISCOUNT', { value: 5, currency: 'USD', options: { usageLimit: 1, minOrderValue: 25 } }),
  coupon('SHIP-FREE', 'FREE_SHIPPING', { endAt: null }),
  coupon('MUG-4455', 'FREE_PRODUCT', {
    product: { productId: '5000000001', productName: 'mug', productDisplayName: ['Mug'] },
  }),
  coupon('POINTS-100', 'FIXED_RATE_DISCOUNT', { value: 2.5, currency: 'EUR' }),
  coupon('SPECIAL-1', 'CUSTOM'),
  coupon('SUMMER-2098', 'PERCENTAGE_DISCOUNT', { value: 20, startAt: '2098-06-01T00:00:00.000Z' }),
  coupon('USED-0001', 'PERCENTAGE_DISCOUNT', { value: 10, isUsed: true }),
  coupon('OLD-2024', 'FIXED_DISCOUNT', {
    value: 3,
    currency: 'USD',
    isExpired: true,
    endAt: '2024-12-31T00:00:00.000Z',
  }),
];

const LONG_NAMES = [
  'Bartholomew Featherstonehaugh-Cholmondeley-Majoribanks of Worcestershire',
  'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft',
  'שרה כהן (2).',
  'فاطمة الزهراء!',
  '🎉 Ada 👩‍👩‍👧‍👦',
  '   ',
  '',
  null,
];

/** The root of a state for graphql-js: objects whose functions are resolvers. */
export function rootOf(state: State): object {
  const ofId = (playerUniqueId: string) => {
    if (state === 'demo-throttled') throw unavailable({ retryable: true, retryAfterMs: 1_000 });
    return player(state, playerUniqueId);
  };
  const written = ({ input }: { input: { playerUniqueId: string } }) => input.playerUniqueId;
  return {
    me: () => ofId(state),
    player: ({ playerUniqueId }: { playerUniqueId: string }) => ofId(playerUniqueId),
    players: ({ playerUniqueIds }: { playerUniqueIds: string[] }) => playerUniqueIds.map(ofId),
    node: ({ id }: { id: string }) => ofId(id),
    upsertPlayer: (input: { input: { playerUniqueId: string } }) => ({
      player: () => ofId(written(input)),
      serviceId: `service-${written(input)}`,
      userErrors: [],
    }),
    deletePlayer: (input: { input: { playerUniqueId: string } }) => ({
      deletedPlayerUniqueId: written(input),
      userErrors: [],
    }),
    trackEvents: (input: { input: { playerUniqueId: string; events: { name: string }[] } }) => {
      if (state === 'demo-lost-event') throw timeout({ retryable: false, outcome: 'UNKNOWN' });
      if (state === 'demo-throttled') throw unavailable({ retryable: true, retryAfterMs: 1_000, outcome: 'NOT_DONE' });
      return tracked(state, written(input), input.input.events);
    },
  };
}

function tracked(state: State, playerUniqueId: string, events: { name: string }[]) {
  if (events.length === 0) {
    const error = { code: 'REQUIRED', field: ['input', 'events'], message: 'At least one event is needed.' };
    return { player: null, eventNames: [], userErrors: [error] };
  }
  const after = (_arguments: unknown, _context: unknown, { fieldNodes }: GraphQLResolveInfo) => {
    if (state !== 'demo-event-then-down') return player(state, playerUniqueId);
    const fail = () => {
      throw unavailable({ retryable: false, outcome: 'DONE' });
    };
    // The gateway knows the player's id without reading the player.
    if (fieldNodes.some((node) => /\b(attributes|referralLink)\b/.test(print(node)))) return fail();
    return { ...player(state, playerUniqueId), coupons: fail, referredFriends: fail, referredFriendsConnection: fail };
  };
  return { player: after, eventNames: events.map(({ name }) => name), userErrors: [] };
}

function player(state: State, id: string): object {
  const displayName = state === 'demo-long-names' ? LONG_NAMES[0] : state === 'demo-empty' ? null : 'Demo Player';
  const link = `https://shop.example/r/${state === 'demo-long-names' ? 'a-very-long-code'.repeat(6) : 'DEMO42'}`;
  return {
    __typename: 'Player',
    id,
    playerUniqueId: id,
    referralLink: ({ lang }: { lang?: string | null }) => (lang ? `${link}?lang=${lang}` : link),
    attributes: {
      displayName,
      firstName: 'Demo',
      joinDate: CREATED,
      totalOrders: 3,
      tags: ['vip'],
      custom: { score: 7 },
    },
    coupons: ({ filter }: { filter?: Filter | null }) => {
      if (state === 'demo-slow-coupons') throw timeout();
      if (state === 'demo-no-coupons') throw unavailable();
      return couponsOf(state).filter((one) => fits(one, filter ?? {}));
    },
    referredFriends: ({ page, limit }: { page?: number | null; limit?: number | null }) => {
      const at = page ?? 1;
      const size = limit ?? 50;
      return { ...slice(friendsOf(state), (at - 1) * size, size), page: at, limit: size };
    },
    referredFriendsConnection: ({ first, after }: { first?: number | null; after?: string | null }) =>
      connection(friendsOf(state), Number(after ?? 0), first ?? 50),
  };
}

function couponsOf(state: State): Coupon[] {
  if (state === 'demo-empty') return [];
  if (state !== 'demo-long-names') return COUPONS;
  const mug = { product: { productDisplayName: ['Kaffeetasse mit Sonderbedruckung '.repeat(4)] } };
  return [coupon('EINGELADENE-FREUNDE-SOMMERAKTION-2099-'.repeat(3), 'FREE_PRODUCT', mug), ...COUPONS];
}

function fits({ isUsed, isExpired, couponType, group, startAt }: Coupon, filter: Filter): boolean {
  const isUsable = !isUsed && !isExpired && startAt == null;
  return (
    (filter.isUsed == null || filter.isUsed === isUsed) &&
    (filter.isExpired == null || filter.isExpired === isExpired) &&
    (filter.usableNow == null || filter.usableNow === isUsable) &&
    (filter.couponTypes == null || filter.couponTypes.includes(couponType)) &&
    (filter.group == null || filter.group === group?.handle)
  );
}

const STATUSES = ['ACTIVE', 'PENDING', 'PENDING'];

function friendsOf(state: State) {
  if (state === 'demo-no-friends') throw unavailable();
  const names =
    state === 'demo-long-names' ? LONG_NAMES : Array.from({ length: 60 }, (_, index) => `Friend ${index + 1}`);
  return (state === 'demo-empty' ? [] : names).map((displayName, index) => ({
    id: `friend-${index + 1}`,
    playerUniqueId: `demo-friend-${index + 1}`,
    displayName,
    email: null,
    mobileNumber: null,
    joinDate: CREATED,
    status: STATUSES[index % STATUSES.length],
    player: () => player('demo-empty', `demo-friend-${index + 1}`),
  }));
}

function slice(friends: ReturnType<typeof friendsOf>, first: number, length: number) {
  const nodes = friends.slice(first, first + length);
  const totalActive = friends.filter(({ status }) => status === 'ACTIVE').length;
  const totals = { total: friends.length, totalActive, totalPending: friends.length - totalActive };
  return { nodes, count: nodes.length, ...totals, hasNextPage: first + nodes.length < friends.length };
}

/** A cursor is the number of friends before it, as text. */
function connection(friends: ReturnType<typeof friendsOf>, first: number, length: number) {
  const { nodes, total, hasNextPage } = slice(friends, first, length);
  const edges = nodes.map((node, index) => ({ node, cursor: String(first + index + 1) }));
  const pageInfo = {
    hasNextPage,
    hasPreviousPage: first > 0 && nodes.length > 0,
    startCursor: edges[0]?.cursor ?? null,
    endCursor: edges.at(-1)?.cursor ?? null,
  };
  return { edges, nodes, pageInfo, totalCount: total };
}
