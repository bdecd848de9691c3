/*
 * What the REST service sends of a player. Each property is named once, in its table; the types follow from the tables. Results
 * have the form of GraphQL results: dates in UTC, ids as text, and undefined for what is absent or not readable.
 */
import { isExactNumber, type Json } from '../../json.ts';
import { UpstreamError } from '../upstream-error.ts';
import * as d from './properties.ts';

export type Player = ReturnType<typeof decodePlayer>;
export type PlayerAttributes = NonNullable<Player['attributes']>;

/** A whole number as it is usually written: `01` and `1e3` may be other players than `1` and `1000`. */
const DIGITS = /^(?:0|-?[1-9]\d*)$/;

/**
 * Returns the response. Throws `UPSTREAM_INVALID_RESPONSE` if it names another player. Some services send an id as a number,
 * which JSON may have rounded.
 */
export function checkPlayer(response: Json, playerUniqueId: string): Json {
  const { playerUniqueId: named } = response;
  if (d.isAbsent(named) || named === playerUniqueId) return response;
  if (named === Number(playerUniqueId) && DIGITS.test(playerUniqueId)) return response;
  throw new UpstreamError('UPSTREAM_INVALID_RESPONSE', 'The response is about another player');
}

const playerAttributes = d.shape('playerAttributes', {
  playerUniqueId: d.reserved,
  displayName: d.playerText,
  firstName: d.playerText,
  lastName: d.playerText,
  mobile: d.playerText,
  gender: d.playerText,
  email: d.playerText,
  dateOfBirth: d.dateTime,
  joinDate: d.dateTime,
  tags,
  country: d.playerText,
  city: d.playerText,
  zip: d.playerText,
  totalSpent: d.number,
  totalOrders: d.int,
  lastOrderDate: d.calendarDate,
  avgOrderAmount: d.number,
  custom,
});

/** For an empty body, only the id is known. */
export function decodePlayer(body: Json, playerUniqueId: string, warn: d.Warn, wanted?: d.Wanted) {
  const attributes = playerAttributes(body['playerAttributes'], 'player.playerAttributes', warn, wanted);
  return {
    // GraphQL clients normalise their caches by it.
    id: playerUniqueId,
    playerUniqueId,
    attributes: attributes && Object.assign(attributes, { playerUniqueId }),
    referralLink:
      wanted?.has('referralLink') === false ? undefined : d.url(body['referralLink'], 'player.referralLink', warn),
  };
}

/** Comma-separated text by the interface document; some services send a list. As long as other texts of a player. */
function tags(value: unknown, member: string, warn: d.Warn): string[] | undefined {
  const joined = typeof value === 'object' ? d.texts(value, member, warn)?.join() : value;
  const list = d.playerText(joined, member, warn)?.split(',');
  return list?.map((tag) => tag.trim()).filter((tag) => tag !== '');
}

/** The most bytes of JSON that a player's `custom` may have. */
export const MAX_CUSTOM_BYTES = 16_384;

/**
 * The strings and numbers among the free attributes, as many as fit in 16 KB of JSON: a service may hold what was written
 * before there was a limit. `Object.fromEntries` treats `__proto__` like any other name.
 */
function custom(value: unknown, member: string, warn: d.Warn): Record<string, string | number> | undefined {
  const wire = d.object(value, member, warn);
  if (!wire) return undefined;
  const all = Object.entries(wire);
  if (all.length > d.MAX_ITEMS) warn('too-long', member);
  const kept: [string, string | number][] = [];
  let left = MAX_CUSTOM_BYTES - 1;
  for (const [name, attribute] of all.slice(0, d.MAX_ITEMS)) {
    const isValue = typeof attribute === 'string' || isExactNumber(attribute);
    // Without its own braces, but with a comma.
    const bytes = isValue ? Buffer.byteLength(JSON.stringify({ [name]: attribute })) - 1 : 0;
    if (isValue && bytes <= left) {
      left -= bytes;
      kept.push([name.toWellFormed(), typeof attribute === 'string' ? attribute.toWellFormed() : attribute]);
    } else if (attribute !== null) warn(isValue ? 'too-long' : 'wrong-type', member);
  }
  return Object.fromEntries(kept);
}
