import type { FastifyInstance } from 'fastify';
import { unknownPlayer } from '../errors.ts';
import { countReferral } from '../programme/referral.ts';
import { languageOf, referralLink, type Service } from '../service.ts';
import {
  findPlayer,
  type PlayerRow,
  removePlayer,
  takeKnownPlayer,
  takePlayer,
  updatePlayer,
} from '../store/players.ts';
import { addToTotals, findReferral } from '../store/referrals.ts';
import { stored } from '../wire/answers.ts';
import { decode } from '../wire/decode.ts';
import { mergeAttributes, type PlayerAttributes, type PlayerUpsert, playerUpsert } from '../wire/player.ts';
import { needsSecretKey } from './authenticate.ts';
import { playerIdOf } from './player-id.ts';

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
      playerAttributes: stored(player.attributes) ?? {},
      referralLink: referralLink(service, player, language),
    };
  });

  app.delete('/integrations/player/:playerUniqueId', needsSecretKey(service), async (request, reply) => {
    await deletePlayer(service, playerIdOf(request));
    return reply.send();
  });
}

/** Creates or updates the player. The first attributes of a player are the ones that a referral is recognised by. */
function upsertPlayer(
  { store, programme, now }: Service,
  { playerUniqueId, playerAttributes, deviceToken, osType }: PlayerUpsert,
): Promise<PlayerRow> {
  const time = now();
  return store.write(async (queries) => {
    const player = await takePlayer(queries, playerUniqueId, time);
    const known = stored<PlayerAttributes>(player.attributes);
    const attributes = mergeAttributes(known, playerAttributes);
    await updatePlayer(queries, player.id, {
      ...(attributes && { attributes: JSON.stringify(attributes) }),
      ...(deviceToken !== undefined && { device_token: deviceToken }),
      ...(osType !== undefined && { os_type: osType }),
    });
    if (!known && attributes) await countReferral(queries, programme, player.id, attributes, time);
    return player;
  });
}

/** What hangs on the player goes with it; the one who referred it counts it no more. */
function deletePlayer({ store }: Service, playerUniqueId: string): Promise<void> {
  return store.write(async (queries) => {
    const player = await takeKnownPlayer(queries, playerUniqueId);
    if (!player) throw unknownPlayer();
    const referral = await findReferral(queries, player.id);
    if (referral) {
      const isPending = referral.status === 'pending';
      await addToTotals(queries, referral.referrer_id, { pending: isPending ? -1 : 0, active: isPending ? 0 : -1 });
    }
    await removePlayer(queries, player.id);
  });
}
