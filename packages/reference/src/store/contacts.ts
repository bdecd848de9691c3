import type { Queries } from './store.ts';
import type { ContactsTable } from './tables.ts';

export type Contact = Pick<ContactsTable, 'kind' | 'value'>;

/**
 * Stores a contact left at a referrer's link. A contact that was left there before keeps its place in the order, except
 * one that was left before `expiryTime`: it gets a later place.
 */
export async function addContact(
  queries: Queries,
  referrerId: number,
  { kind, value }: Contact,
  now: number,
  expiryTime: number,
): Promise<void> {
  const contact = { referrer_id: referrerId, kind, value };
  await queries
    .deleteFrom('contacts')
    .where((where) => where.and(contact))
    .where('given_at', '<', expiryTime)
    .execute();
  await queries
    .insertInto('contacts')
    .values({ ...contact, given_at: now })
    .onConflict((conflict) => conflict.columns(['referrer_id', 'kind', 'value']).doNothing())
    .execute();
}

/** All links where one of these contacts was left, the first one first. */
export function findContacts(queries: Queries, contacts: readonly Contact[]) {
  return queries
    .selectFrom('contacts')
    .select(['kind', 'value', 'referrer_id', 'given_at'])
    .where((where) => where.or(contacts.map(({ kind, value }) => where.and({ kind, value }))))
    .orderBy('id')
    .execute();
}

/** Notes which friend these contacts have counted for, so that they are deleted together. */
export async function markContacts(queries: Queries, contacts: readonly Contact[], friendId: number): Promise<void> {
  await queries
    .updateTable('contacts')
    .set({ counted_for: friendId })
    .where((where) => where.or(contacts.map(({ kind, value }) => where.and({ kind, value }))))
    .execute();
}

/** Deletes contacts that were left before `before` and have not counted. */
export async function deleteExpiredContacts(queries: Queries, before: number): Promise<void> {
  await queries.deleteFrom('contacts').where('counted_for', 'is', null).where('given_at', '<', before).execute();
}

/** Which of these hashes belong to contacts that have counted. */
export async function findCounted(queries: Queries, hashes: readonly string[]): Promise<Set<string>> {
  const rows = await queries.selectFrom('counted_contacts').select('hash').where('hash', 'in', hashes).execute();
  return new Set(rows.map(({ hash }) => hash));
}

/** Stores hashes permanently; false if one of them has counted before, perhaps in a transaction at the same time. */
export async function addCounted(queries: Queries, hashes: readonly string[], now: number): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await queries
    .insertInto('counted_contacts')
    // In one order everywhere: two transactions with the same hashes must not deadlock.
    .values([...hashes].sort().map((hash) => ({ hash, counted_at: now })))
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === BigInt(hashes.length);
}

/** A value of the store itself; undefined if it is not set. */
export async function readState(queries: Queries, name: string): Promise<string | undefined> {
  const row = await queries.selectFrom('service_state').select('value').where('name', '=', name).executeTakeFirst();
  return row?.value;
}

export async function writeState(queries: Queries, name: string, value: string): Promise<void> {
  await queries
    .insertInto('service_state')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
}
