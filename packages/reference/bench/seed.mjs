import { sql } from 'kysely';

export const FRIENDS = 100_000;
export const COLLECTORS = 1_000;
const COUPONS_OF_EACH = 10;

/**
 * Fills an empty store: `players` players, one of them (`referrer`) with 100,000 friends beside them, 1,000 of them with
 * 10 coupons each. The statements run on both databases.
 */
export async function seed(store, players) {
  const now = Date.now();
  const group = { handle: 'free-shipping', title: 'Free shipping', active: true, coupon: { type: 'free_shipping' } };
  await store.write(async (queries) => {
    const run = (statement) => statement.execute(queries);
    const numbers = (count) =>
      sql`with recursive n(i) as (select 0 union all select i + 1 from n where i < ${sql.lit(count - 1)})`;
    const people = (prefix) => sql`insert into players (player_unique_id, service_id, referral_code, created_at,
        display_name, email, mobile, join_date, more_attributes)
      select ${sql.lit(prefix)} || i, ${sql.lit(`s-${prefix}`)} || i, ${sql.lit(`c-${prefix}`)} || i, ${sql.lit(now)},
        'Player ' || i, ${sql.lit(prefix)} || i || '@example.com', '49151' || i, '2024-02-29T12:00:00.000Z',
        '{"city":"Berlin","totalOrders":7,"custom":{"favouriteColour":"green","shoeSize":42}}' from n`;
    // A common table expression stands before `insert` on both.
    await run(sql`${numbers(1)} ${people('referrer')}`);
    await run(sql`${numbers(players)} ${people('player-')}`);
    await run(sql`${numbers(FRIENDS)} ${people('friend-')}`);
    await run(sql`insert into totals (player_id) select id from players`);
    // Referred in another order than created, as in life: 7919 and 100,000 have no common divisor.
    await run(sql`${numbers(FRIENDS)} insert into referrals (friend_id, referrer_id, status, position, referred_at)
      select friend.id, referrer.id, case when i % 2 = 0 then 'pending' else 'active' end, 1 + (i * 7919) % ${sql.lit(FRIENDS)},
        ${sql.lit(now)}
      from n join players as friend on friend.player_unique_id = 'friend-' || i
        join players as referrer on referrer.player_unique_id = 'referrer0'`);
    await run(sql`update totals set pending_friends = ${sql.lit(FRIENDS / 2)}, active_friends = ${sql.lit(FRIENDS / 2)},
      last_position = ${sql.lit(FRIENDS)} where player_id = (select id from players where player_unique_id = 'referrer0')`);
    for (let number = 0; number < COUPONS_OF_EACH; number++) {
      await run(sql`${numbers(Math.min(players, COLLECTORS))} insert into coupons
          (code, player_id, group_handle, created_at, definition)
        select ${sql.lit(`BENCH${number}-`)} || i, id, 'free-shipping', ${sql.lit(now)}, ${sql.lit(JSON.stringify(group))}
        from n join players on player_unique_id = 'player-' || i`);
    }
  });
}
