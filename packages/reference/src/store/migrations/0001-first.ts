import { type Kysely, PostgresAdapter, sql } from 'kysely';

/** Players and what belongs to them. Every foreign key has an index: deleting a player reads all of them. */
export async function up<Tables>(db: Kysely<Tables>): Promise<void> {
  const types = typesOf(db);
  await createPlayers(db, types);
  await createReferrals(db, types);
  await createCoupons(db, types);
  await createEvents(db, types);
}

/** Types of columns that the two databases write differently, or that many tables have. */
function typesOf<Tables>(db: Kysely<Tables>) {
  const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter;
  // Neither database uses an id twice, so that nothing of a deleted player can become a new player's.
  const id = sql.raw(
    isPostgres ? 'bigint generated always as identity primary key' : 'integer primary key autoincrement',
  );
  // SQLite compares text by its bytes. So must PostgreSQL, whatever the collation of the database is.
  const text = sql.raw(isPostgres ? 'text collate "C"' : 'text');
  const player = sql.raw('bigint not null references players (id) on delete cascade');
  return { id, text, player };
}

type Types = ReturnType<typeof typesOf>;

async function createPlayers<Tables>(db: Kysely<Tables>, { id, text, player }: Types): Promise<void> {
  await sql`create table players (
    id ${id},
    player_unique_id ${text} not null unique,
    service_id ${text} not null unique,
    referral_code ${text} not null unique,
    attributes text,
    device_token text,
    os_type text,
    created_at bigint not null
  )`.execute(db);

  await sql`create table totals (
    player_id bigint primary key references players (id) on delete cascade,
    pending_friends integer not null default 0,
    active_friends integer not null default 0
  )`.execute(db);

  await sql`create table contacts (
    id ${id},
    referrer_id ${player},
    kind text not null check (kind in ('email', 'mobile')),
    value ${text} not null,
    given_at bigint not null,
    counted_for bigint references players (id) on delete set null,
    unique (referrer_id, kind, value)
  )`.execute(db);
  await sql`create index contacts_by_value on contacts (kind, value, id)`.execute(db);
  await sql`create index contacts_by_player on contacts (counted_for)`.execute(db);
}

async function createReferrals<Tables>(db: Kysely<Tables>, { player }: Types): Promise<void> {
  await sql`create table referrals (
    friend_id bigint primary key references players (id) on delete cascade,
    referrer_id ${player},
    status text not null check (status in ('pending', 'active')),
    referred_at bigint not null,
    activated_at bigint
  )`.execute(db);
  await sql`create index referrals_in_order on referrals (referrer_id, referred_at, friend_id)`.execute(db);
}

async function createCoupons<Tables>(db: Kysely<Tables>, { id, text, player }: Types): Promise<void> {
  await sql`create table coupon_groups (handle ${text} primary key, definition text not null)`.execute(db);

  await sql`create table coupons (
    id ${id},
    code ${text} not null unique,
    player_id ${player},
    group_handle ${text} not null references coupon_groups (handle),
    coupon_type text not null,
    value double precision,
    currency text,
    created_at bigint not null,
    start_at bigint,
    end_at bigint,
    product text,
    collections text,
    options text,
    usage_limit integer,
    uses integer not null default 0,
    check (usage_limit is null or uses <= usage_limit)
  )`.execute(db);
  await sql`create index coupons_by_player on coupons (player_id, group_handle)`.execute(db);
}

async function createEvents<Tables>(db: Kysely<Tables>, { id, player }: Types): Promise<void> {
  await sql`create table events (
    id ${id},
    player_id ${player},
    name text not null,
    metadata text not null,
    received_at bigint not null
  )`.execute(db);
  await sql`create index events_by_player on events (player_id)`.execute(db);
}
