import type { Queries } from './store.ts';
import type { ContactsTable } from './tables.ts';

export type Contact = Pick<ContactsTable, 'kind' | 'value'>;

/** Stores a contact left at a referrer's link. One left there before keeps its place in the order; its time begins again. */
export async function addContact(queries: Queries, referrerId: number, contact: Contact, now: number): Promise<void> {
  await queries
    .insertInto('contacts')
    .values({ ...contact, referrer_id: referrerId, given_at: now })
    .onConflict((conflict) => conflict.columns(['referrer_id', 'kind', 'value']).doUpdateSet({ given_at: now }))
    .execute();
}

/** All links where one of these contacts was left at `expiryTime` or later, the first one first. */
export function findContacts(queries: Queries, contacts: readonly Contact[], expiryTime: number) {
  return queries
    .selectFrom('contacts')
    .select(['kind', 'value', 'referrer_id'])
    .where((where) => where.or(contacts.map(({ kind, value }) => where.and({ kind, value }))))
    .where('given_at', '>=', expiryTime)
    .orderBy('id')
    .execute();
}

/**
 * Notes at every link which player this contact belongs to, so that all are deleted with the player.
 * @param onlyFree Only where it belongs to no player yet.
 */
export async function markContact(
  queries: Queries,
  { kind, value }: Contact,
  playerId: number,
  { onlyFree = false } = {},
): Promise<void> {
  await queries
    .updateTable('contacts')
    .set({ counted_for: playerId })
    .where((where) => where.and({ kind, value, ...(onlyFree && { counted_for: null }) }))
    .execute();
}

export function findMarked(queries: Queries, playerId: number): Promise<Contact[]> {
  return queries.selectFrom('contacts').select(['kind', 'value']).where('counted_for', '=', playerId).execute();
}

export async function removeContact(queries: Queries, { kind, value }: Contact): Promise<void> {
  await queries.deleteFrom('contacts').where('kind', '=', kind).where('value', '=', value).execute();
}

export async function deleteExpiredContacts(queries: Queries, before: number): Promise<void> {
  await queries.deleteFrom('contacts').where('given_at', '<', before).execute();
}

/** Which of these hashes belong to contacts that have counted or that a deleted player had. */
export async function findCounted(queries: Queries, hashes: readonly string[]): Promise<Set<string>> {
  const rows = await queries.selectFrom('counted_contacts').select('hash').where('hash', 'in', hashes).execute();
  return new Set(rows.map(({ hash }) => hash));
}

/** Stores a hash permanently; false if it was stored before, perhaps in a transaction at the same time. */
export async function addCounted(queries: Queries, hash: string, now: number): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await queries
    .insertInto('counted_contacts')
    .values({ hash, counted_at: now })
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** Removes a hash that the same transaction has stored. */
export async function removeCounted(queries: Queries, hash: string): Promise<void> {
  await queries.deleteFrom('counted_contacts').where('hash', '=', hash).execute();
}

export async function addEarlier(queries: Queries, playerId: number, hash: string): Promise<void> {
  await queries
    .insertInto('earlier_contacts')
    .values({ player_id: playerId, hash })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export function findEarlier(queries: Queries, hash: string) {
  return queries
    .selectFrom('earlier_contacts')
    .select('player_id')
    .where('hash', '=', hash)
    .orderBy('player_id')
    .limit(1)
    .executeTakeFirst();
}

/** Stores permanently the hashes of all contacts that the player had before. */
export async function countEarlier(queries: Queries, playerId: number, now: number): Promise<void> {
  const rows = await queries.selectFrom('earlier_contacts').select('hash').where('player_id', '=', playerId).execute();
  for (const { hash } of rows) await addCounted(queries, hash, now);
}
