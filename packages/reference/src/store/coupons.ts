import { type Insertable, type Selectable, sql } from 'kysely';
import type { Queries } from './store.ts';
import type { CouponsTable } from './tables.ts';

export type CouponRow = Selectable<CouponsTable>;

export async function addCoupon(queries: Queries, coupon: Insertable<CouponsTable>): Promise<void> {
  await queries.insertInto('coupons').values(coupon).execute();
}

/** A player's coupons, the oldest first. */
export function listCoupons(queries: Queries, playerId: number): Promise<CouponRow[]> {
  return queries.selectFrom('coupons').selectAll().where('player_id', '=', playerId).orderBy('id').execute();
}

/** How many coupons of a group a player obtained. Stable only under the lock of the player's totals. */
export async function countCoupons(queries: Queries, playerId: number, groupHandle: string): Promise<number> {
  const { count } = await queries
    .selectFrom('coupons')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('player_id', '=', playerId)
    .where('group_handle', '=', groupHandle)
    .executeTakeFirstOrThrow();
  return count;
}

export function findCoupon(queries: Queries, code: string): Promise<CouponRow | undefined> {
  return queries.selectFrom('coupons').selectAll().where('code', '=', code).executeTakeFirst();
}

/** Counts one use of a coupon; undefined if its usage limit is reached. */
export function useCoupon(queries: Queries, code: string): Promise<CouponRow | undefined> {
  return queries
    .updateTable('coupons')
    .set({ uses: sql`uses + 1` })
    .where('code', '=', code)
    .where((where) => where.or([where('usage_limit', 'is', null), where('uses', '<', where.ref('usage_limit'))]))
    .returningAll()
    .executeTakeFirst();
}
