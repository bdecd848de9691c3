import { SCOPES, type Scope } from '../config/scopes.ts';

/** The authenticated caller. */
export interface Caller {
  /** For logs and rate limits: the token's subject or the client's name, never the token. */
  name: string;
  /** Tells callers apart. A player and a client may have the same name; they are still two. */
  key: string;
  /** The player the token belongs to; absent for a client that is no player. */
  sub?: string;
  scopes: ReadonlySet<Scope>;
  /** Whether it sent no token. Then it can select only `__typename`. */
  isAnonymous?: true;
}

/** @param isPlayer Whether `name` is the player that the token belongs to. */
export function createCaller(name: string, scopes: Iterable<Scope>, isPlayer: boolean): Caller {
  const caller = { name, key: `${isPlayer ? 'player' : 'client'}:${name}`, scopes: new Set(scopes) };
  return isPlayer ? { ...caller, sub: name } : caller;
}

/** The caller of a health check without a token. Each client address has its own rate limit. */
export function anonymousCaller(client: string): Caller {
  return { name: 'anonymous', key: `anonymous:${client}`, scopes: new Set(), isAnonymous: true };
}

/** In an open gateway, in development, every caller has all scopes, as the demo player. */
export const OPEN_CALLER: Caller = { ...createCaller('demo-player', SCOPES, true), name: 'development' };
