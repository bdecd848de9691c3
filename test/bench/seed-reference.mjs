import { randomBytes, randomUUID } from 'node:crypto';

/** The sizes that the reference service must hold. */
export const SIZES = { players: 100_000, friends: 100_000, coupons: 2_000 };

const ROWS_PER_INSERT = 500;

/**
 * Fills an empty store directly: one referrer, `big-referrer`, with 100,000 friends among 100,000 further players, and
 * one player, `big-collector`, with 2,000 coupons. The programme's groups must be stored already.
 */
export async function seedReference(store) {
  const now = Date.now();
  const player = (id, attributes) => ({
    player_unique_id: id,
    service_id: randomUUID(),
    referral_code: randomBytes(12).toString('base64url'),
    attributes: JSON.stringify(attributes),
    device_token: null,
    os_type: null,
    created_at: now,
  });
  await store.write(async (queries) => {
    const insert = (table, rows) => queries.insertInto(table).values(rows).execute();
    await insert('players', [player('big-referrer', { displayName: 'Big Referrer' }), player('big-collector', {})]);
    for (let first = 0; first < SIZES.players; first += ROWS_PER_INSERT) {
      const rows = Array.from({ length: ROWS_PER_INSERT }, (_, index) => {
        const number = first + index;
        return player(`player-${number}`, {
          displayName: `Player ${number}`,
          email: `player-${number}@example.com`,
          mobile: `+49 151 ${number}`,
          joinDate: '2024-02-29T12:00:00.000Z',
          totalOrders: number % 17,
          custom: { number },
        });
      });
      await insert('players', rows);
    }
    const players = await queries.selectFrom('players').select(['id', 'player_unique_id']).orderBy('id').execute();
    const idOf = (id) => players.find((row) => row.player_unique_id === id).id;
    const [referrer, collector] = [idOf('big-referrer'), idOf('big-collector')];
    const friends = players.filter(({ id }) => id !== referrer && id !== collector).slice(0, SIZES.friends);
    for (const chunk of chunks(players)) {
      await insert(
        'totals',
        chunk.map(({ id }) => ({ player_id: id, pending_friends: 0, active_friends: 0 })),
      );
    }
    // Referred in another order than created, as in life: the order of the list is not the order of the table.
    const referred = friends.map(({ id }, index) => ({
      friend_id: id,
      referrer_id: referrer,
      status: index % 2 ? 'active' : 'pending',
      referred_at: now + ((index * 7919) % SIZES.friends),
      activated_at: index % 2 ? now : null,
    }));
    for (const chunk of chunks(referred)) await insert('referrals', chunk);
    await queries
      .updateTable('totals')
      .set({ pending_friends: Math.ceil(friends.length / 2), active_friends: Math.floor(friends.length / 2) })
      .where('player_id', '=', referrer)
      .execute();
    const coupons = Array.from({ length: SIZES.coupons }, (_, index) => ({
      code: `BENCH${index}`,
      player_id: collector,
      group_handle: 'free-shipping',
      coupon_type: 'free_shipping',
      value: 5,
      currency: 'EUR',
      created_at: now,
      start_at: now,
      end_at: now + 1e9,
      product: null,
      collections: null,
      options: '{"UsageLimit":3}',
      usage_limit: 3,
      uses: index % 2,
    }));
    for (const chunk of chunks(coupons)) await insert('coupons', chunk);
  });
}

function* chunks(rows) {
  for (let first = 0; first < rows.length; first += ROWS_PER_INSERT) yield rows.slice(first, first + ROWS_PER_INSERT);
}
