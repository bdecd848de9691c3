import type { GraphQLResolveInfo, SelectionSetNode } from 'graphql';
import { ATTRIBUTES, LONG_NAMES } from './generated/demo.ts';
import type { TrackEventsInput } from './generated/operations.ts';
import { CREATED, couponsOf, type Filter } from './testing-coupons.ts';

/** The states to build for. The reference service has a player for each `demo-…`, whose nulls and errors these are. */
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
  /** The input of each mutation can be corrected: `userErrors`, and nothing was written. Queries are as for `demo-player`. */
  'invalid-input',
  /** The token does not allow the coupons, nor any mutation: FORBIDDEN. */
  'forbidden',
] as const;

export type State = (typeof STATES)[number];

type Extensions = Record<string, unknown>;

/**
 * An error as the gateway writes it, to respond with, or to throw from a resolver: graphql-js adds the path. Not a `GraphQLError`,
 * whose parameters are others in graphql 15.
 */
export function gatewayError(
  code: string,
  message: string,
  extensions: object = {},
): Error & { extensions: Extensions } {
  return Object.assign(new Error(message), { extensions: { ...extensions, code } });
}

const unavailable = (extensions: object = { retryable: true, retryAfterMs: 1_000 }) =>
  gatewayError('UPSTREAM_UNAVAILABLE', 'The referral and rewards service is not available at the moment.', extensions);
const timeout = () =>
  gatewayError('UPSTREAM_TIMEOUT', 'The referral and rewards service did not respond in time.', { retryable: true });
const forbidden = (scope: string, extensions: object = {}) =>
  gatewayError('FORBIDDEN', `This needs the scope "${scope}".`, extensions);
/** How long the service of `demo-throttled` asks to wait. */
const THROTTLED = { retryable: true, retryAfterMs: 5_000 };

/** What the inputs of mutations have; events alone those of `trackEvents`. */
type Input = Pick<TrackEventsInput, 'playerUniqueId'> & Partial<Pick<TrackEventsInput, 'events'>>;

/** The root of a state for graphql-js: objects whose functions are resolvers. */
export function rootOf(state: State): object {
  const ofId = (id: string, info: GraphQLResolveInfo) =>
    state === 'demo-throttled' ? withoutLists(player(state, id), unavailable(THROTTLED), info) : player(state, id);
  /** A mutation: what refuses it, or its payload. `field` is the blank text of its invalid input. */
  const write =
    (scope: string, field: readonly string[], payloadOf: (input: Input) => object) =>
    ({ input }: { input: Input }) => {
      if (state === 'demo-throttled') throw unavailable({ ...THROTTLED, outcome: 'NOT_DONE' });
      if (state === 'forbidden') throw forbidden(scope, { outcome: 'NOT_DONE' });
      if (state !== 'invalid-input') return { ...payloadOf(input), userErrors: [] };
      const message = `${field.join('.')} must not be empty.`;
      return { eventNames: [], userErrors: [{ code: 'REQUIRED', field: ['input', ...field], message }] };
    };
  return {
    me: (_: unknown, _context: unknown, info: GraphQLResolveInfo) => ofId(state, info),
    player: ({ playerUniqueId }: Input, _: unknown, info: GraphQLResolveInfo) => ofId(playerUniqueId, info),
    players: (given: { playerUniqueIds: string[] }, _: unknown, info: GraphQLResolveInfo) =>
      given.playerUniqueIds.map((id) => ofId(id, info)),
    node: ({ id }: { id: string }, _: unknown, info: GraphQLResolveInfo) => ofId(id, info),
    upsertPlayer: write('players:write', ['playerUniqueId'], ({ playerUniqueId: id }) => {
      return { player: player(state, id), serviceId: `service-${id}` };
    }),
    deletePlayer: write('players:delete', ['playerUniqueId'], ({ playerUniqueId: deletedPlayerUniqueId }) => {
      return { deletedPlayerUniqueId };
    }),
    trackEvents: write('events:write', ['events', '0', 'name'], ({ playerUniqueId, events = [] }) => {
      if (state === 'demo-lost-event') throw unavailable({ retryable: false, outcome: 'UNKNOWN' });
      return { player: playerAfter(state, playerUniqueId), eventNames: events.map(({ name }) => name) };
    }),
  };
}

/** The player after its events. */
function playerAfter(state: State, playerUniqueId: string) {
  const all = player(state, playerUniqueId);
  if (state !== 'demo-event-then-down') return all;
  const error = unavailable({ retryable: false, retryAfterMs: 1_000, outcome: 'DONE' });
  return (_: unknown, _context: unknown, info: GraphQLResolveInfo) => withoutLists(all, error, info, true);
}

/**
 * A player while the service fails: without its lists, or the error if the player itself must be read. `isKnown`: the player need
 * not be read for its id, as after a write.
 */
function withoutLists(all: object, error: Error, info: GraphQLResolveInfo, isKnown = false): object {
  const names = info.fieldNodes.flatMap(({ selectionSet }) => namesIn(info, selectionSet));
  if (names.some((name) => /^(attributes|referralLink)$/.test(name))) return error;
  if (!isKnown && !names.some((name) => /^(coupons|referredFriends)/.test(name))) return error;
  return { ...all, coupons: error, referredFriends: error, referredFriendsConnection: error };
}

/** The names of the selected fields, also of those in fragments. */
function namesIn(info: GraphQLResolveInfo, set: SelectionSetNode | undefined): string[] {
  return (set?.selections ?? []).flatMap((one) => {
    if (one.kind === 'Field') return one.name.value;
    const part = one.kind === 'FragmentSpread' ? info.fragments[one.name.value] : one;
    return namesIn(info, part?.selectionSet);
  });
}

function player(state: State, id: string): object {
  const displayName = state === 'demo-long-names' ? LONG_NAMES[0] : 'Demo Player';
  const link = `https://shop.example/r/${state === 'demo-long-names' ? 'a-very-long-code'.repeat(6) : 'DEMO42'}`;
  return {
    __typename: 'Player',
    id,
    playerUniqueId: id,
    referralLink: ({ lang }: { lang?: string | null }) => (lang ? `${link}?lang=${lang}` : link),
    attributes: state === 'demo-empty' ? {} : { ...ATTRIBUTES, displayName },
    coupons: ({ filter }: { filter?: Filter | null }) => {
      if (state === 'demo-slow-coupons') throw timeout();
      if (state === 'demo-no-coupons') throw unavailable();
      if (state === 'forbidden') throw forbidden('coupons:read');
      return couponsOf(state, filter ?? {});
    },
    referredFriends(args: { page?: number | null; limit?: number | null }) {
      const [page, limit] = [args.page ?? 1, args.limit ?? 50];
      return { ...slice(friendsOf(state), (page - 1) * limit, limit), page, limit };
    },
    referredFriendsConnection: ({ first, after }: { first?: number | null; after?: string | null }) =>
      connection(friendsOf(state), Number(after ?? 0), first ?? 50),
  };
}

function friendsOf(state: State) {
  if (state === 'demo-no-friends') throw unavailable();
  const length = state === 'demo-player' ? 60 : 5;
  const names = state === 'demo-long-names' ? LONG_NAMES : Array.from({ length }, (_, index) => `Friend ${index + 1}`);
  return (state === 'demo-empty' ? [] : names).map((displayName, index) => ({
    id: `friend-${index + 1}`,
    playerUniqueId: `demo-friend-${index + 1}`,
    displayName,
    joinDate: CREATED,
    status: index % 2 === 0 ? 'PENDING' : 'ACTIVE',
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
  const [startCursor, endCursor] = [edges[0]?.cursor, edges.at(-1)?.cursor];
  const hasPreviousPage = first > 0 && nodes.length > 0;
  return { edges, nodes, pageInfo: { hasNextPage, hasPreviousPage, startCursor, endCursor }, totalCount: total };
}
