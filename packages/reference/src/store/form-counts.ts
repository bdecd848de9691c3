import { sql } from 'kysely';
import type { Queries } from './store.ts';

/** How many forms are accepted in a period that begins with the first. */
interface Limit {
  max: number;
  periodMs: number;
}

/**
 * Counts a form; if it is over the limit, it is not counted, and the seconds until the next is accepted are returned.
 * All processes that share the database share the counts.
 */
export async function countForm(queries: Queries, key: string, { max, periodMs }: Limit, now: number) {
  // One that ends so late is of a clock that has been corrected. The clocks of processes may differ a little.
  const isOver = sql<boolean>`(form_counts.until <= ${now} or form_counts.until > ${now + 2 * periodMs})`;
  const counted = await queries
    .insertInto('form_counts')
    .values({ key, count: 1, until: now + periodMs })
    .onConflict((conflict) =>
      conflict
        .column('key')
        .doUpdateSet({
          count: sql`case when ${isOver} then 1 else form_counts.count + 1 end`,
          until: sql`case when ${isOver} then excluded.until else form_counts.until end`,
        })
        .where((where) => where.or([isOver, where('form_counts.count', '<', max)])),
    )
    .returning('count')
    .executeTakeFirst();
  if (counted) return undefined;
  const row = await queries.selectFrom('form_counts').select('until').where('key', '=', key).executeTakeFirst();
  return Math.max(1, Math.ceil(((row?.until ?? now) - now) / 1_000));
}

export async function deleteOldCounts(queries: Queries, now: number): Promise<void> {
  await queries.deleteFrom('form_counts').where('until', '<=', now).execute();
}
