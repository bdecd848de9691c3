import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import { ApiError, unknownPlayer } from '../errors.ts';
import { groupOf, groupState, isExpired, issueCoupon } from '../programme/coupons.ts';
import { type CouponRow, findCoupon, useCoupon } from '../store/coupons.ts';
import { findPlayer } from '../store/players.ts';
import { lockTotals } from '../store/referrals.ts';
import { decode, playerUniqueId } from '../wire/members.ts';
import { acceptJson, requireKey, type Service } from './service.ts';

const GIVE = z.object({ playerUniqueId, group: z.string() });
const USE = z.object({ code: z.string() });

/** What the operator asks for, by its path. No part of the interface document. The command line calls them too. */
export const OPERATIONS = {
  '/coupons': async (service: Service, body: unknown) => ({ code: await give(service, body) }),
  '/coupons/use': async (service: Service, body: unknown) => {
    const { code, uses, usage_limit: usageLimit } = await use(service, decode(USE, body, 'The body').code);
    return { code, uses, ...(usageLimit !== null && { usageLimit, usesLeft: usageLimit - uses }) };
  },
  '/backup': async ({ store, backupKeep, now }: Service) => {
    if (!store.backup) throw new ApiError(409, 'PostgreSQL has its own tool: use pg_dump');
    return { file: await store.backup(backupKeep, now()) };
  },
};

/** The routes of the operator's port. Both keys are required: other programs of the machine reach the port too. */
export function operatorRoutes(app: FastifyInstance, service: Service): void {
  app.addHook('onRequest', requireKey(service, 'APIKey'));
  app.addHook('onRequest', requireKey(service, 'secretKey'));
  acceptJson(app);
  for (const [path, run] of Object.entries(OPERATIONS)) app.post(path, ({ body }) => run(service, body));
}

function give({ store, programme, now }: Service, body: unknown): Promise<string> {
  const { playerUniqueId, group: given } = decode(GIVE, body, 'The body');
  const group = programme.groups.find(({ handle }) => handle === given);
  if (!group) throw new ApiError(404, `The programme has no group ${JSON.stringify(given)}`);
  return store.write(async (queries) => {
    const player = await findPlayer(queries, playerUniqueId);
    if (!player || !(await lockTotals(queries, player.id))) throw unknownPlayer();
    const code = await issueCoupon(queries, group, player.id, now());
    if (code === undefined) throw new ApiError(409, 'The group is not available to the player now');
    return code;
  });
}

function use({ store, programme, now }: Service, code: string): Promise<CouponRow> {
  return store.write(async (queries) => {
    const coupon = await findCoupon(queries, code);
    if (!coupon) throw new ApiError(404, 'There is no coupon with this code');
    const time = now();
    if (coupon.start_at !== null && time < coupon.start_at) throw new ApiError(409, 'The coupon cannot be used yet');
    if (isExpired(coupon.end_at, time)) throw new ApiError(409, 'The coupon has expired');
    if (!groupState(groupOf(programme, coupon), 0, time).isActive)
      throw new ApiError(409, 'The group of the coupon is not active');
    const used = await useCoupon(queries, code);
    if (!used) throw new ApiError(409, 'The usage limit of the coupon is reached');
    return used;
  });
}
