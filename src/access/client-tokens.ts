import { timingSafeEqual } from 'node:crypto';
import type { ClientToken } from '../config/auth.ts';
import { type Caller, createCaller } from './caller.ts';

/**
 * Finds the client with the token of a SHA-256, unless the token has expired. Constant time over all entries. The entries are
 * read at the start: revoking one before its `expiresAt` is a rollout.
 */
export function createClientTokens(entries: readonly ClientToken[]): (digest: Buffer) => Caller | undefined {
  const clients = entries.map(({ name, sha256, scopes, expiresAt }) => ({
    digest: Buffer.from(sha256, 'hex'),
    caller: createCaller(name, scopes, false),
    expiresAt: expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt),
  }));
  return (digest) => {
    let found: (typeof clients)[number] | undefined;
    for (const client of clients) if (timingSafeEqual(client.digest, digest)) found = client;
    return found && found.expiresAt > Date.now() ? found.caller : undefined;
  };
}
