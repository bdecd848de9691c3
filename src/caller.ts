import { createHmac, hash } from 'node:crypto';
import { SCOPES, type Scope } from './config/scopes.ts';
import { reveal, type Secret } from './config/secret.ts';

export interface Caller {
  /** For logs: the client's name, or a keyed hash of the player or client that a JWT names. Never the token. */
  name: string;
  /** For rate limits: tells callers apart. A player and a client may have the same name; they are still two. */
  key: string;
  /** The player the token belongs to; absent for a client that is no player. */
  playerUniqueId?: string;
  scopes: ReadonlySet<Scope>;
  /** Whether it has `any-player`: a server, with many users behind it. The token of a player is one user's. */
  isServer: boolean;
  /** In development: why a token has no scopes, for the message of FORBIDDEN. */
  hint?: string | undefined;
}

/** In an open gateway, in development, every caller has all scopes, as the demo player. */
export const OPEN_CALLER: Caller = {
  name: 'development',
  key: 'player:demo-player',
  playerUniqueId: 'demo-player',
  scopes: new Set(SCOPES),
  isServer: true,
};

/** Names of players for the log: keyed hashes, because ids can be personal data. All replicas have the secret, so they agree. */
export function createPseudonyms(secret: Secret): (id: string) => string {
  const key = createHmac('sha256', reveal(secret)).update('names in the log').digest();
  return (id) => `hmac:${createHmac('sha256', key).update(id).digest('hex').slice(0, 16)}`;
}

/** What stands for a friend in ids and cursors: a keyed hash, because ids can be personal data. Another one for each owner. */
export function createFriendHash(secret: Secret): (owner: string, friend: string) => string {
  const key = createHmac('sha256', reveal(secret)).update('ids of friends').digest('base64url');
  return (owner, friend) => hash('sha256', key + JSON.stringify([owner, friend]), 'base64url').slice(0, 22);
}
