import type { FastifyInstance } from 'fastify';
import { unknownPlayer } from '../errors.ts';
import type { Service } from '../service.ts';
import { listCoupons, listGroups } from '../store/coupons.ts';
import { findPlayer } from '../store/players.ts';
import { couponList } from '../wire/coupon.ts';
import { playerIdOf, requireSecretKey } from './request.ts';

export function couponRoutes(app: FastifyInstance, service: Service): void {
  app.get('/integrations/transactions/:playerUniqueId/coupon', requireSecretKey(service), (request) => {
    const id = playerIdOf(request);
    return service.store.read(async (queries) => {
      const player = await findPlayer(queries, id);
      if (!player) throw unknownPlayer();
      return couponList(await listCoupons(queries, player.id), await listGroups(queries), service.now());
    });
  });
}
