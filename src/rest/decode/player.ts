import { UpstreamError } from '../errors.ts';
import { calendarDate, dateTime } from './dates.ts';
import { identifier, int, isJson, type Json, number, playerText, shape, texts, url, type Warn } from './members.ts';

const attributes = shape('playerAttributes', {
  displayName: playerText,
  firstName: playerText,
  lastName: playerText,
  mobile: playerText,
  gender: playerText,
  email: playerText,
  dateOfBirth: dateTime,
  joinDate: dateTime,
  tags,
  country: playerText,
  city: playerText,
  zip: playerText,
  totalSpent: number,
  totalOrders: int,
  lastOrderDate: calendarDate,
  avgOrderAmount: number,
  custom,
});

export type Player = ReturnType<typeof decodePlayer>;
export type PlayerAttributes = NonNullable<ReturnType<typeof attributes>>;
export type PlayerUpsertResponse = ReturnType<typeof decodeUpsert>;

/**
 * A player. For an empty body, only the id is known. Throws `UPSTREAM_INVALID_RESPONSE` for a response about another player.
 */
export function decodePlayer(body: Json, playerUniqueId: string, warn: Warn) {
  checkPlayer(body, playerUniqueId);
  return {
    // The same as `playerUniqueId`. GraphQL clients normalise their caches by it.
    id: playerUniqueId,
    playerUniqueId,
    attributes: attributes(body['playerAttributes'], 'player.playerAttributes', warn),
    referralLink: url(body['referralLink'], 'player.referralLink', warn),
  };
}

/** The response to an upsert, checked in the same way; `serviceIdField` is the wire name of `serviceId`. */
export function decodeUpsert(body: Json, playerUniqueId: string, serviceIdField: string, warn: Warn) {
  checkPlayer(body, playerUniqueId);
  return {
    playerUniqueId,
    serviceId: identifier(body[serviceIdField], 'upsert.serviceId', warn),
    referralLink: url(body['referralLink'], 'upsert.referralLink', warn),
  };
}

/** A response may name the requested player, or none. Some services send an id as a number, which JSON may have rounded. */
function checkPlayer(body: Json, playerUniqueId: string): void {
  const responseId = body['playerUniqueId'];
  if (responseId === playerUniqueId || responseId === undefined || responseId === null || responseId === '') return;
  const inexact = typeof responseId === 'number' && !Number.isSafeInteger(responseId);
  if (inexact ? responseId === Number(playerUniqueId) : String(responseId) === playerUniqueId) return;
  throw new UpstreamError('UPSTREAM_INVALID_RESPONSE', 'The response is about another player');
}

/** Comma-separated text by the interface document; some services send a list. */
function tags(value: unknown, member: string, warn: Warn): string[] | undefined {
  const parts = typeof value === 'string' ? playerText(value, member, warn)?.split(',') : texts(value, member, warn);
  return parts?.map((tag) => tag.trim()).filter((tag) => tag !== '');
}

/** The strings and numbers among the free attributes. `Object.fromEntries` treats `__proto__` like any other name. */
function custom(value: unknown, member: string, warn: Warn): Record<string, string | number> | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isJson(value)) {
    warn('wrong-type', member);
    return undefined;
  }
  // The usual case needs no copy.
  if (isCustom(value)) return value;
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string | number] => {
      const fits = isCustomAttribute(entry[1]);
      if (!fits && entry[1] !== null) warn('wrong-type', member);
      return fits;
    }),
  );
}

function isCustom(value: Json): value is Record<string, string | number> {
  return Object.values(value).every(isCustomAttribute);
}

function isCustomAttribute(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}
