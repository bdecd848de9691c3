import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import { ApiError, unknownPlayer } from '../errors.ts';
import { groupState, isExpired, issueCoupon } from '../programme/coupons.ts';
import { playerReport } from '../programme/report.ts';
import { type CouponRow, findCoupon, useCoupon } from '../store/coupons.ts';
import { findPlayer } from '../store/players.ts';
import { lockTotals } from '../store/referrals.ts';
import { decode, playerUniqueId } from '../wire/members.ts';
import { acceptJson, requireKey, type Service } from './request.ts';

const ISSUE = z.object({ playerUniqueId, group: z.string() });
const USE = z.object({ code: z.string() });
const REPORT = z.object({ playerUniqueId });

/**
 * The routes behind the operator's command `npm run reference -- …`: only the running process has the store. They are on
 * the management port, are no part of the interface document, and require both keys.
 */
export function operatorRoutes(app: FastifyInstance, service: Service, backupDir: string): void {
  const { store, programme, now } = service;
  app.addHook('onRequest', requireKey(service, 'APIKey'));
  app.addHook('onRequest', requireKey(service, 'secretKey'));
  acceptJson(app);

  app.post('/coupon/issue', async (request) => {
    const { playerUniqueId, group } = decode(ISSUE, request.body, 'The body');
    return { code: await issue(service, playerUniqueId, group) };
  });

  app.post('/coupon/use', async (request) => {
    const { code } = decode(USE, request.body, 'The body');
    const { uses, usage_limit } = await use(service, code);
    return { code, uses, ...(usage_limit !== null && { usageLimit: usage_limit, usesLeft: usage_limit - uses }) };
  });

  app.post('/report', async (request, reply) => {
    const { playerUniqueId } = decode(REPORT, request.body, 'The body');
    const report = await store.read((queries) => playerReport(queries, programme, playerUniqueId, now()));
    if (report === undefined) throw unknownPlayer();
    return reply.type('text/plain; charset=utf-8').send(report);
  });

  app.post('/backup', async () => ({ file: await backup(service, backupDir) }));
}

function issue({ store, programme, now }: Service, playerUniqueId: string, handle: string): Promise<string> {
  const group = programme.groups.find((candidate) => candidate.handle === handle);
  if (!group) throw new ApiError(404, `The programme has no group ${JSON.stringify(handle)}`);
  return store.write(async (queries) => {
    const player = await findPlayer(queries, playerUniqueId);
    if (!player || !(await lockTotals(queries, player.id))) throw unknownPlayer();
    const code = await issueCoupon(queries, group, player.id, { reason: 'operator', friend_id: null }, now());
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
    const group = programme.groups.find(({ handle }) => handle === coupon.group_handle);
    if (group && !groupState(group, 0, time).isActive) {
      throw new ApiError(409, 'The group of the coupon is not active');
    }
    const used = await useCoupon(queries, code);
    if (!used) throw new ApiError(409, 'The usage limit of the coupon is reached');
    return used;
  });
}

async function backup({ store }: Service, backupDir: string): Promise<string> {
  if (!store.backup) throw new ApiError(409, 'PostgreSQL has its own tool: use pg_dump');
  await mkdir(backupDir, { recursive: true });
  const file = join(backupDir, `reference-${new Date().toISOString().replaceAll(':', '-')}.db`);
  await store.backup(file);
  return file;
}
