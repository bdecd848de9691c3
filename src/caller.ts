import type { Scope } from './config/scopes.ts';

export interface Caller {
  /** For logs: the client's name, or a keyed hash of the player or client that a JWT names. Never the token. */
  name: string;
  /** Tells callers apart. A player and a client may have the same name; they are still two. */
  key: string;
  /** The player the token belongs to; absent for a client that is no player. */
  playerUniqueId?: string;
  scopes: ReadonlySet<Scope>;
  /** Whether it has `any-player`: a server, with many users behind it. The token of a player is one user's. */
  isServer: boolean;
  /** In development: why a token has no scopes, for the message of FORBIDDEN. */
  hint?: string | undefined;
}
