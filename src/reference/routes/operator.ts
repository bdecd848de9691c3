import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import { Refusal, unknownPlayer } from '../errors.ts';
import { issueCoupon } from '../programme/coupons.ts';
import { groupState, hasStarted, isExpired } from '../programme/derived.ts';
import type { Service } from '../service.ts';
import { findCoupon, useCoupon } from '../store/coupons.ts';
import { findPlayer } from '../store/players.ts';
import { addToTotals } from '../store/referrals.ts';
import { decode } from '../wire/decode.ts';
import { playerUniqueId } from '../wire/members.ts';
import { needsApiKey, needsSecretKey } from './authenticate.ts';
import { acceptJson } from './json-body.ts';

/** Issue a coupon of `group` to the player. */
const ISSUE = z.object({ playerUniqueId, group: z.string() });
const USE = z.object({ code: z.string() });

/**
 * The operator's door, which the command `npm run reference -- coupon …` knocks at: the running process alone has the
 * store. It is no part of the interface document, and both keys open it.
 */
export function operatorRoutes(app: FastifyInstance, service: Service): void {
  app.addHook('onRequest', needsApiKey(service));
  acceptJson(app);

  app.post('/coupon/issue', needsSecretKey(service), async (request) => {
    const { playerUniqueId, group } = decode(ISSUE, request.body, 'The body');
    return { code: await issue(service, playerUniqueId, group) };
  });

  app.post('/coupon/use', needsSecretKey(service), async (request) => {
    const { code } = decode(USE, request.body, 'The body');
    return { code, uses: await use(service, code) };
  });
}

function issue({ store, programme, now }: Service, playerUniqueId: string, handle: string): Promise<string> {
  const group = programme.groups.find((candidate) => candidate.handle === handle);
  if (!group) throw new Refusal(404, `The programme has no group ${JSON.stringify(handle)}`);
  return store.write(async (queries) => {
    const player = await findPlayer(queries, playerUniqueId);
    const isHeld = player && (await addToTotals(queries, player.id, { pending: 0, active: 0 }));
    if (!isHeld) throw unknownPlayer();
    const code = await issueCoupon(queries, group, player.id, now());
    if (code === undefined) throw new Refusal(409, 'The player can obtain no coupon of this group now');
    return code;
  });
}

function use({ store, programme, now }: Service, code: string): Promise<number> {
  return store.write(async (queries) => {
    const coupon = await findCoupon(queries, code);
    if (!coupon) throw new Refusal(404, 'There is no coupon with this code');
    const time = now();
    if (!hasStarted(coupon.start_at, time)) throw new Refusal(409, 'The coupon cannot be used yet');
    if (isExpired(coupon.end_at, time)) throw new Refusal(409, 'The coupon has expired');
    const group = programme.groups.find(({ handle }) => handle === coupon.group_handle);
    if (group && !groupState(group, 0, time).isActive) throw new Refusal(409, 'The group of the coupon is not active');
    const used = await useCoupon(queries, code);
    if (!used) throw new Refusal(409, 'The coupon was used as often as it can be');
    return used.uses;
  });
}
