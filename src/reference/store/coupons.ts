import { type Insertable, type Selectable, sql } from 'kysely';
import type { Queries } from './store.ts';
import type { CouponGroupsTable, CouponsTable } from './tables.ts';

export type CouponRow = Selectable<CouponsTable>;
export type CouponGroupRow = Selectable<CouponGroupsTable>;

/** Keeps a group as it is described now. Groups that are described no more stay, for the coupons that came from them. */
export async function saveGroup(queries: Queries, handle: string, definition: string): Promise<void> {
  await queries
    .insertInto('coupon_groups')
    .values({ handle, definition })
    .onConflict((conflict) =>
      conflict.column('handle').doUpdateSet({ definition }).where('coupon_groups.definition', '!=', definition),
    )
    .execute();
}

export function listGroups(queries: Queries): Promise<CouponGroupRow[]> {
  return queries.selectFrom('coupon_groups').selectAll().execute();
}

export async function addCoupon(queries: Queries, coupon: Insertable<CouponsTable>): Promise<void> {
  await queries.insertInto('coupons').values(coupon).execute();
}

/** A player's coupons, the oldest first. */
export function listCoupons(queries: Queries, playerId: number): Promise<CouponRow[]> {
  return queries.selectFrom('coupons').selectAll().where('player_id', '=', playerId).orderBy('id').execute();
}

/** How many coupons of a group a player obtained. Certain only while the player's totals are held. */
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

/** Counts one use of a coupon, unless it was used as often as it can be; then undefined. */
export function useCoupon(queries: Queries, code: string): Promise<CouponRow | undefined> {
  return queries
    .updateTable('coupons')
    .set({ uses: sql`uses + 1` })
    .where('code', '=', code)
    .where((where) => where.or([where('usage_limit', 'is', null), where('uses', '<', where.ref('usage_limit'))]))
    .returningAll()
    .executeTakeFirst();
}
