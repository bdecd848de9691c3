import { SCOPES, type Scope } from '../../config/scopes.ts';

/** The authenticated caller. */
export interface Caller {
  /** For logs and rate limits: the token's subject or the client's name, never the token. */
  name: string;
  /** The player the token belongs to; absent for a client that is no player. */
  sub?: string;
  scopes: ReadonlySet<Scope>;
}

/** Tells callers apart. A player and a client may have the same name; they are still two. */
export function callerKey({ sub, name }: Caller): string {
  return sub === undefined ? `client:${name}` : `player:${name}`;
}

/** Somebody without a token, where a health check is let through: no scope, so nothing but `__typename`. */
export const ANONYMOUS_CALLER: Caller = { name: 'anonymous', scopes: new Set() };

/** In an open gateway, in development, every caller has all scopes, as the demo player. */
export const OPEN_CALLER: Caller = { name: 'development', sub: 'demo-player', scopes: new Set(SCOPES) };
