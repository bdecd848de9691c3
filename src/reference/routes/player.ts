import type { FastifyInstance } from 'fastify';
import { unknownPlayer } from '../errors.ts';
import { decideReferral } from '../programme/referral.ts';
import { languageOf, referralLink, type Service } from '../service.ts';
import {
  deletePlayer,
  findPlayer,
  lockOrCreatePlayer,
  lockPlayer,
  type PlayerRow,
  updatePlayer,
} from '../store/players.ts';
import { addToTotals, findReferral } from '../store/referrals.ts';
import { decode } from '../wire/decode.ts';
import { mergeAttributes, type PlayerAttributes, type PlayerUpsert, playerUpsert } from '../wire/player.ts';
import { parseStored } from '../wire/response.ts';
import { playerIdOf, requireSecretKey } from './request.ts';

export function playerRoutes(app: FastifyInstance, service: Service): void {
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

  app.delete('/integrations/player/:playerUniqueId', requireSecretKey(service), async (request, reply) => {
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
