import { SCOPES, type Scope } from '../../config/scopes.ts';

/** The authenticated caller. */
export interface Caller {
  /** For logs and rate limits: the token's subject or the client's name, never the token. */
  name: string;
  /** The player the token belongs to; absent for a client that is no player. */
  sub?: string;
  scopes: ReadonlySet<Scope>;
}

/** A request without a token, allowed only for `{ __typename }`. */
export const ANONYMOUS_CALLER: Caller = { name: 'anonymous', scopes: new Set() };

/** In an open gateway, in development, every caller has all scopes, as the demo player. */
export const OPEN_CALLER: Caller = { name: 'development', sub: 'demo-player', scopes: new Set(SCOPES) };
