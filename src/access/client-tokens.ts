import { timingSafeEqual } from 'node:crypto';
import { readTokensFile } from '../config/auth.ts';
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

/** Reads `CLIENT_TOKENS_FILE`. Throws when it cannot be used. */
export function readClientTokens(path: string): ClientTokens {
  const entries = readEntries(path);
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
