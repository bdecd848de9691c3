import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import { invalid, missing, unknownPlayer } from '../errors.ts';
import { readContact } from '../programme/contacts.ts';
import type { Programme } from '../programme/file.ts';
import { decideReferral, forgetContacts, noteEarlierContacts } from '../programme/referral.ts';
import * as players from '../store/players.ts';
import { removeReferral } from '../store/referrals.ts';
import type { Queries } from '../store/store.ts';
import { date, dateTime, decode, definedOf, integer, number, optional, playerUniqueId, text } from '../wire/members.ts';
import { playerIdOf, requireKey, type Service } from './service.ts';

/** The most bytes of UTF-8 that a player's `custom` has as JSON. */
const MAX_CUSTOM_BYTES = 16 * 1024;

/** JSON numbers are read as doubles: larger whole numbers would be changed. */
const exactNumber = number.refine(
  (value) => !Number.isInteger(value) || Number.isSafeInteger(value),
  'must be text if it is a whole number beyond 2^53 - 1, which cannot be stored exactly',
);

/** `custom`: keys of the client's choice with texts or numbers; a key with `null` or empty text counts as absent. */
const custom = z
  .record(z.string(), optional(z.union([z.string(), exactNumber], 'must be text or a number')), 'must be an object')
  .transform(definedOf);

const [TEXT, TIME] = [optional(text), optional(dateTime)];

const playerAttributes = z.object(
  {
    ...{ displayName: TEXT, firstName: TEXT, lastName: TEXT, gender: TEXT, email: TEXT, mobile: TEXT, tags: TEXT },
    ...{ country: TEXT, city: TEXT, zip: TEXT, dateOfBirth: TIME, joinDate: TIME, lastOrderDate: optional(date) },
    ...{ totalSpent: optional(number), totalOrders: optional(integer), avgOrderAmount: optional(number) },
    custom: optional(custom),
  },
  'must be an object',
);

/** The body of `POST /integrations/player`. */
const playerUpsert = z.object(
  {
    playerUniqueId,
    playerAttributes: optional(playerAttributes),
    deviceToken: optional(text),
    osType: optional(text),
  },
  'must be an object',
);

type PlayerUpsert = z.output<typeof playerUpsert>;

export function playerRoutes(app: FastifyInstance, service: Service): void {
  const { store, programme } = service;
  const linkOf = (player: players.PlayerRow) => `${service.publicUrl()}/r/${player.referral_code}`;
  const secretKey = { onRequest: requireKey(service, 'secretKey') };
  app.post('/integrations/player', async (request) => {
    const body = decode(playerUpsert, request.body, 'The body');
    if (body.deviceToken !== undefined && body.osType === undefined) throw missing('osType');
    const player = await store.write((queries) => upsertPlayer(queries, service, body));
    return {
      playerUniqueId: player.player_unique_id,
      serviceId: player.service_id,
      referralLink: linkOf(player),
    };
  });

  app.get('/integrations/player/:playerUniqueId', async (request, reply) => {
    const language = languageOf(programme, request.headers['lang']);
    const id = playerIdOf(request);
    const player = await store.read((queries) => players.findPlayer(queries, id));
    if (!player) throw unknownPlayer();
    if (language !== undefined) reply.header('content-language', language);
    return {
      playerUniqueId: player.player_unique_id,
      playerAttributes: players.attributesOf(player) ?? {},
      referralLink: linkOf(player),
    };
  });

  app.delete('/integrations/player/:playerUniqueId', secretKey, async (request, reply) => {
    const id = playerIdOf(request);
    await store.erase(async (queries) => {
      const player = await players.lockPlayer(queries, id);
      if (!player) throw unknownPlayer();
      await removeReferral(queries, player.id);
      await forgetContacts(queries, service, player);
      await players.deletePlayer(queries, player.id);
    });
    return reply.send();
  });
}

/** Creates or updates the player. Its first attributes decide whether it was referred. */
export async function upsertPlayer(
  queries: Queries,
  service: Service,
  { playerUniqueId, playerAttributes, deviceToken, osType }: PlayerUpsert,
): Promise<players.PlayerRow> {
  requireContacts(service.programme, playerAttributes);
  const player = await players.lockOrCreatePlayer(queries, playerUniqueId, service.now());
  const known = players.attributesOf(player);
  const attributes = mergeAttributes(known, playerAttributes);
  await players.updatePlayer(queries, player.id, {
    ...(attributes && players.attributeColumns(attributes)),
    ...(deviceToken !== undefined && { device_token: deviceToken }),
    ...(osType !== undefined && { os_type: osType }),
  });
  if (known && attributes) await noteEarlierContacts(queries, service, player.id, known, attributes);
  else if (attributes) await decideReferral(queries, service, player.id, attributes);
  return player;
}

/** Throws an ApiError for an e-mail or a mobile that cannot be one: its referral could never count. */
function requireContacts({ country }: Programme, given: z.output<typeof playerAttributes> | undefined): void {
  const { email, mobile } = given ?? {};
  if (email !== undefined && !readContact('email', email)) {
    throw invalid('playerAttributes.email', 'must be an e-mail address like name@example.com');
  }
  if (mobile !== undefined && !readContact('mobile', mobile, country)) {
    throw invalid('playerAttributes.mobile', 'must be a mobile number with 5 to 20 digits');
  }
}

/**
 * The attributes after an update: sent members replace known ones, `custom` is merged by key. Undefined if nothing was
 * sent: no attributes, only `null` and empty text, or a `custom` without values. Throws an ApiError if `custom` would
 * be too large.
 */
function mergeAttributes(
  known: players.PlayerAttributes | undefined,
  sent: z.output<typeof playerAttributes> | undefined,
): players.PlayerAttributes | undefined {
  const { custom = {}, ...others } = sent ?? {};
  const given = definedOf(others);
  const hasCustom = Object.keys(custom).length > 0;
  if (Object.keys(given).length === 0 && !hasCustom) return undefined;
  if (!hasCustom) return { ...known, ...given };
  const merged = { ...known?.custom, ...custom };
  if (Buffer.byteLength(JSON.stringify(merged)) > MAX_CUSTOM_BYTES) {
    const problem = `must have at most ${MAX_CUSTOM_BYTES} bytes of JSON, known keys included`;
    throw invalid('playerAttributes.custom', problem);
  }
  return { ...known, ...given, custom: merged };
}

/** The requested language; undefined if none is requested. Throws an ApiError if the account does not have it. */
function languageOf(programme: Programme, requested: string | string[] | undefined): string | undefined {
  if (requested === undefined || requested === '') return undefined;
  const wanted = String(requested).trim().toLowerCase();
  const known = programme.languages.find((language) => language.toLowerCase() === wanted);
  if (known === undefined) throw invalid('Lang', `must be one of ${programme.languages.join(', ')}`);
  return known;
}
