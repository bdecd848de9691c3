import { SCOPES, type Scope } from '../config/scopes.ts';

/** The authenticated caller. */
export interface Caller {
  /** For logs: the client's name, or a keyed hash of the player or client that a JWT names. Never the token. */
  name: string;
  /** For rate limits: tells callers apart. A player and a client may have the same name; they are still two. */
  key: string;
  /** The player the token belongs to; absent for a client that is no player. */
  sub?: string;
  scopes: ReadonlySet<Scope>;
  /** In development: why a token has no scopes, for the message of FORBIDDEN. */
  hint?: string;
}

/** @param isPlayer Whether `name` is the player that the token belongs to. */
export function createCaller(name: string, scopes: Iterable<Scope>, isPlayer: boolean): Caller {
  const caller = { name, key: `${isPlayer ? 'player' : 'client'}:${name}`, scopes: new Set(scopes) };
  return isPlayer ? { ...caller, sub: name } : caller;
}

/** In an open gateway, in development, every caller has all scopes, as the demo player. */
export const OPEN_CALLER: Caller = { ...createCaller('demo-player', SCOPES, true), name: 'development' };

/** Why a request is not authenticated. `keys` is the gateway's own trouble: there is no key to verify with. */
export type TokenReason =
  | 'missing'
  | 'malformed'
  | 'signature'
  | 'issuer'
  | 'audience'
  | 'type'
  | 'expired'
  | 'lifetime'
  | 'require'
  | 'player'
  | 'scopes'
  | 'keys';

/** A rejected token, for the log: never the token, a player's id or an e-mail address. */
export interface Rejection {
  reason: TokenReason;
  /** The claim, or the member of the header, that is not accepted. */
  claim?: string;
  expected?: string;
  /** What the token has there, at most 100 characters; of the player's claim only its type. */
  found?: string;
}
