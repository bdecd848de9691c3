import { UpstreamError } from '../errors.ts';
import type { Notice } from '../observe.ts';
import type { Player, PlayerAttributes, PlayerUpsertResponse } from '../wire.ts';
import { calendarDate, dateTime } from './dates.ts';
import { identifier, int, isJson, type Json, number, object, text, texts, webAddress } from './members.ts';

/**
 * A player. The body of an existing player may be empty: then nothing more is known. Throws `UPSTREAM_INVALID_RESPONSE`
 * for an answer about another player.
 */
export function decodePlayer(body: Json, playerUniqueId: string, notice: Notice): Player {
  checkPlayer(body, playerUniqueId);
  return {
    id: playerUniqueId,
    playerUniqueId,
    attributes: object(body['playerAttributes'], attributes, 'player.playerAttributes', notice),
    referralLink: webAddress(body['referralLink'], 'player.referralLink', notice),
  };
}

/** The answer to an upsert, checked likewise; `serviceIdField` is the name `serviceId` has on the wire. */
export function decodeUpsert(
  body: Json,
  playerUniqueId: string,
  serviceIdField: string,
  notice: Notice,
): PlayerUpsertResponse {
  checkPlayer(body, playerUniqueId);
  return {
    playerUniqueId,
    serviceId: identifier(body[serviceIdField], 'upsert.serviceId', notice),
    referralLink: webAddress(body['referralLink'], 'upsert.referralLink', notice),
  };
}

/** Lets an answer pass that names the player asked for, or none. An id may have travelled as a number. */
function checkPlayer(body: Json, playerUniqueId: string): void {
  const named = body['playerUniqueId'];
  if (named === playerUniqueId || named === undefined || named === null || named === '') return;
  const inexact = typeof named === 'number' && !Number.isSafeInteger(named);
  if (inexact ? named === Number(playerUniqueId) : String(named) === playerUniqueId) return;
  throw new UpstreamError('UPSTREAM_INVALID_RESPONSE', 'The answer is about another player');
}

function attributes(from: Json, notice: Notice): PlayerAttributes {
  return {
    displayName: text(from['displayName'], 'playerAttributes.displayName', notice),
    firstName: text(from['firstName'], 'playerAttributes.firstName', notice),
    lastName: text(from['lastName'], 'playerAttributes.lastName', notice),
    mobile: text(from['mobile'], 'playerAttributes.mobile', notice),
    gender: text(from['gender'], 'playerAttributes.gender', notice),
    email: text(from['email'], 'playerAttributes.email', notice),
    dateOfBirth: dateTime(from['dateOfBirth'], 'playerAttributes.dateOfBirth', notice),
    joinDate: dateTime(from['joinDate'], 'playerAttributes.joinDate', notice),
    tags: tags(from['tags'], notice),
    country: text(from['country'], 'playerAttributes.country', notice),
    city: text(from['city'], 'playerAttributes.city', notice),
    zip: text(from['zip'], 'playerAttributes.zip', notice),
    totalSpent: number(from['totalSpent'], 'playerAttributes.totalSpent', notice),
    totalOrders: int(from['totalOrders'], 'playerAttributes.totalOrders', notice),
    lastOrderDate: calendarDate(from['lastOrderDate'], 'playerAttributes.lastOrderDate', notice),
    avgOrderAmount: number(from['avgOrderAmount'], 'playerAttributes.avgOrderAmount', notice),
    custom: custom(from['custom'], notice),
  };
}

/** Comma-separated text on the wire; some services send a list all the same. */
function tags(value: unknown, notice: Notice): string[] | undefined {
  const parts = typeof value === 'string' ? value.split(',') : texts(value, 'playerAttributes.tags', notice);
  return parts?.map((tag) => tag.trim()).filter((tag) => tag !== '');
}

/** The strings and numbers among the free attributes. `fromEntries` defines members, so no name is special. */
function custom(value: unknown, notice: Notice): PlayerAttributes['custom'] {
  if (value === undefined || value === null) return undefined;
  if (!isJson(value)) {
    notice('wrong-type', 'playerAttributes.custom');
    return undefined;
  }
  // Nearly always: there is nothing else among them.
  if (isCustom(value)) return value;
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string | number] => {
      const fits = isCustomAttribute(entry[1]);
      if (!fits && entry[1] !== null) notice('wrong-type', 'playerAttributes.custom');
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
