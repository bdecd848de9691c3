import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import { invalid, unknownPlayer } from '../errors.ts';
import { decideReferral } from '../programme/referral.ts';
import type { Programme } from '../programme/schema.ts';
import {
  deletePlayer,
  findPlayer,
  lockOrCreatePlayer,
  lockPlayer,
  type PlayerRow,
  updatePlayer,
} from '../store/players.ts';
import { addToTotals, findReferral } from '../store/referrals.ts';
import { date, dateTime, decode, integer, number, optional, playerUniqueId, text } from '../wire/members.ts';
import { parseStored } from '../wire/response.ts';
import { playerIdOf, requireKey, type Service } from './request.ts';

/** JSON numbers are read as doubles: larger whole numbers would be changed. */
const exactNumber = z
  .number()
  .refine(
    (value) => !Number.isInteger(value) || Number.isSafeInteger(value),
    'must be text if it is a whole number beyond 2^53 - 1, which cannot be stored exactly',
  );

/** `custom`: keys of the client's choice with texts or numbers; a key with `null` counts as absent. */
const custom = z
  .record(z.string(), z.union([z.string(), exactNumber, z.null()], 'must be text or a number'), 'must be an object')
  .transform((given) =>
    Object.fromEntries(Object.entries(given).filter((entry): entry is [string, string | number] => entry[1] !== null)),
  );

/** The attributes of a player as they arrive. Unknown members are ignored. */
const playerAttributes = z.object(
  {
    displayName: optional(text),
    firstName: optional(text),
    lastName: optional(text),
    mobile: optional(text),
    gender: optional(text),
    email: optional(text),
    dateOfBirth: optional(dateTime),
    joinDate: optional(dateTime),
    tags: optional(text),
    country: optional(text),
    city: optional(text),
    zip: optional(text),
    totalSpent: optional(number),
    totalOrders: optional(integer),
    lastOrderDate: optional(date),
    avgOrderAmount: optional(number),
    custom: optional(custom),
  },
  'must be an object',
);

/** The body of `POST /integrations/player`. */
const playerUpsert = z
  .object(
    {
      playerUniqueId,
      playerAttributes: optional(playerAttributes),
      deviceToken: optional(text),
      osType: optional(text),
    },
    'must be an object',
  )
  .refine(({ deviceToken, osType }) => deviceToken === undefined || osType !== undefined, {
    path: ['osType'],
    message: 'must be given with a deviceToken',
  });

type PlayerUpsert = z.output<typeof playerUpsert>;
type PlayerAttributes = z.output<typeof playerAttributes>;

export function playerRoutes(app: FastifyInstance, service: Service): void {
  const secretKey = { onRequest: requireKey(service, 'secretKey') };
  app.post('/integrations/player', async (request) => {
    const player = await upsertPlayer(service, decode(playerUpsert, request.body, 'The body'));
    return {
      playerUniqueId: player.player_unique_id,
      serviceId: player.service_id,
      referralLink: referralLink(service, player),
    };
  });

  app.get('/integrations/player/:playerUniqueId', async (request, reply) => {
    const language = languageOf(service.programme, request.headers['lang']);
    const id = playerIdOf(request);
    const player = await service.store.read((queries) => findPlayer(queries, id));
    if (!player) throw unknownPlayer();
    if (language !== undefined) reply.header('content-language', language);
    return {
      playerUniqueId: player.player_unique_id,
      playerAttributes: parseStored(player.attributes) ?? {},
      referralLink: referralLink(service, player, language),
    };
  });

  app.delete('/integrations/player/:playerUniqueId', secretKey, async (request, reply) => {
    await removePlayer(service, playerIdOf(request));
    return reply.send();
  });
}

/** Creates or updates the player. Its first attributes decide whether it was referred. */
export function upsertPlayer(
  { store, programme, now }: Service,
  { playerUniqueId, playerAttributes, deviceToken, osType }: PlayerUpsert,
): Promise<PlayerRow> {
  const time = now();
  return store.write(async (queries) => {
    const player = await lockOrCreatePlayer(queries, playerUniqueId, time);
    const known = parseStored<PlayerAttributes>(player.attributes);
    const attributes = mergeAttributes(known, playerAttributes);
    const outcome =
      !known && attributes ? await decideReferral(queries, programme, player.id, attributes, time) : undefined;
    await updatePlayer(queries, player.id, {
      ...(attributes && { attributes: JSON.stringify(attributes) }),
      ...(outcome && { first_attributes_at: time, referral_outcome: outcome }),
      ...(deviceToken !== undefined && { device_token: deviceToken }),
      ...(osType !== undefined && { os_type: osType }),
    });
    return player;
  });
}

/**
 * The attributes after an update: sent members replace known ones, `custom` is merged by key. Undefined if nothing was
 * sent: no attributes, only `null` and empty text, or a `custom` without values.
 */
function mergeAttributes(
  known: PlayerAttributes | undefined,
  sent: PlayerAttributes | undefined,
): PlayerAttributes | undefined {
  const { custom = {}, ...others } = sent ?? {};
  const given = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined));
  const hasCustom = Object.keys(custom).length > 0;
  if (Object.keys(given).length === 0 && !hasCustom) return undefined;
  return { ...known, ...given, ...(hasCustom && { custom: { ...known?.custom, ...custom } }) };
}

/** Deletes the player with everything that belongs to it, and subtracts it from its referrer's totals. */
function removePlayer({ store }: Service, playerUniqueId: string): Promise<void> {
  return store.write(async (queries) => {
    const player = await lockPlayer(queries, playerUniqueId);
    if (!player) throw unknownPlayer();
    const referral = await findReferral(queries, player.id);
    if (referral) {
      const isPending = referral.status === 'pending';
      await addToTotals(queries, referral.referrer_id, { pending: isPending ? -1 : 0, active: isPending ? 0 : -1 });
    }
    await deletePlayer(queries, player.id);
  });
}

/** The link that a player shares. With a language, it opens the landing page in that language. */
function referralLink(service: Service, player: PlayerRow, language?: string): string {
  const link = `${service.publicUrl()}/r/${player.referral_code}`;
  return language === undefined ? link : `${link}?lang=${encodeURIComponent(language)}`;
}

/** The requested language; undefined if none is requested. Throws an ApiError if the account does not have it. */
function languageOf(programme: Programme, requested: string | string[] | undefined): string | undefined {
  if (requested === undefined || requested === '') return undefined;
  const known = programme.languages.find(
    (language) => language.toLowerCase() === String(requested).trim().toLowerCase(),
  );
  if (known === undefined) throw invalid('Lang', `must be one of ${programme.languages.join(', ')}`);
  return known;
}
