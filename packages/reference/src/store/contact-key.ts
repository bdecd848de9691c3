import { createHmac, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReferenceConfig } from '../config.ts';
import { OperatorError } from '../errors.ts';
import { type Queries, reasonOf, type Store } from './store.ts';

type KeySettings = Pick<ReferenceConfig, 'contactHashKey' | 'dataDir'>;

/** The key of the configuration. Without one, in development, it is a file beside the database, in no backup and in no dump. */
export function contactKeyOf({ contactHashKey, dataDir }: KeySettings): string {
  return contactHashKey ?? withKeyFile(dataDir, (path) => readFileSync(path, 'utf8').trim());
}

/** Makes this file, mode 0600, if it is needed and missing. For a start: commands need the key of a database that exists. */
export function makeContactKey({ contactHashKey, dataDir }: KeySettings): void {
  if (contactHashKey !== undefined) return;
  withKeyFile(dataDir, (path) => {
    mkdirSync(dataDir, { recursive: true });
    try {
      writeFileSync(path, `${randomBytes(32).toString('base64url')}\n`, { flag: 'wx', mode: 0o600 });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
  });
}

function withKeyFile<Result>(dataDir: string, use: (path: string) => Result): Result {
  const path = join(dataDir, 'contact-hash-key');
  try {
    return use(path);
  } catch (error) {
    throw new OperatorError(`CONTACT_HASH_KEY is not set, and ${path} cannot be used: ${reasonOf(error)}`);
  }
}

export const keyedHash = (key: string, text: string): string =>
  createHmac('sha256', key).update(text).digest('base64url');

/**
 * The keyed hash of a contact. Its two keys are in two places: `storeKey` in the database, `contactKey` in the
 * configuration. Who has the database alone can neither read nor try contacts. The inner hash is never stored.
 */
export const contactHash = (contactKey: string, storeKey: string, { kind, value }: { kind: string; value: string }) =>
  keyedHash(contactKey, keyedHash(storeKey, `${kind}:${value}`));

/** The inner key, which is in the database. */
export async function readStoreKey(queries: Queries): Promise<string> {
  const state = queries.selectFrom('service_state').select('value').where('name', '=', 'contact-hash-key');
  const row = await state.executeTakeFirst();
  if (!row) throw new OperatorError(`The database has no key for contact hashes. ${RESTORE}`);
  return row.value;
}

/** What a table with hashes has of both keys, to recognise them. */
export const keyMark = (contactHashKey: string, storeKey: string): string =>
  keyedHash(contactHashKey, keyedHash(storeKey, 'mark'));

const RESTORE =
  'A restore was partial, or went into a database where the service had started. Restore the whole dump into an empty database.';

/**
 * The function that hashes contacts. Throws an OperatorError if the hashes that are stored were made with other keys:
 * each contact that has counted would count again.
 */
export async function contactHasher(queries: Queries, contactHashKey: string): Promise<Store['hashOf']> {
  const storeKey = await readStoreKey(queries);
  const marks = await queries.selectFrom('counted_contacts').select('hash').where('counted_at', '=', 0).execute();
  if (marks.length !== 1) throw new OperatorError(`The contact hashes belong to ${marks.length} stores. ${RESTORE}`);
  if (marks[0]?.hash !== keyMark(contactHashKey, storeKey)) {
    throw new OperatorError(
      'CONTACT_HASH_KEY is not the key of this database: contacts of deleted players would count again. Set the key that the database was used with (in development the file contact-hash-key in DATA_DIR).',
    );
  }
  return (contact) => contactHash(contactHashKey, storeKey, contact);
}
