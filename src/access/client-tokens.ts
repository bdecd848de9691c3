import { timingSafeEqual } from 'node:crypto';
import { readTokensFile } from '../config/auth.ts';
import { reasonOf } from '../config/environment.ts';
import { onFileChange } from '../config/file-change.ts';
import { type Caller, createCaller } from './caller.ts';

/** Clients that are no players: their names, the SHA-256 of their tokens, and what they may do. */
interface ClientTokens {
  /** The client with the token of this SHA-256, unless the token has expired. Constant time over all entries. */
  find(digest: Buffer): Caller | undefined;
}

interface Entry {
  digest: Buffer;
  caller: Caller;
  expiresAt: number;
}

/**
 * Reads `CLIENT_TOKENS_FILE` and reads it again when it changes. Throws when it cannot be used now. When it cannot be used
 * later, the last valid tokens stay in force and `warn` is called.
 */
export function readClientTokens(path: string, warn: (message: string) => void): ClientTokens {
  let entries: readonly Entry[] = [];
  onFileChange(path, () => {
    try {
      entries = readEntries(path);
    } catch (error) {
      warn(`CLIENT_TOKENS_FILE: ${reasonOf(error)}; the earlier client tokens stay in force`);
    }
  });
  entries = readEntries(path);
  return {
    find(digest) {
      let found: Entry | undefined;
      for (const entry of entries) if (timingSafeEqual(entry.digest, digest)) found = entry;
      return found && found.expiresAt > Date.now() ? found.caller : undefined;
    },
  };
}

function readEntries(path: string): Entry[] {
  return readTokensFile(path).map(({ name, sha256, scopes, expiresAt }) => ({
    digest: Buffer.from(sha256, 'hex'),
    caller: createCaller(name, scopes, false),
    expiresAt: expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt),
  }));
}
