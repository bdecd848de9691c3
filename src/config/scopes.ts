import querystring from 'node:querystring';

/** What a token can allow. `any-player` extends the other scopes from the token's own player to all players. */
export const SCOPES = [
  'players:read',
  'players:write',
  'players:delete',
  'figures:write',
  'coupons:read',
  'referrals:read',
  'contacts:read',
  'contacts:write',
  'events:write',
  'schema:read',
  'any-player',
] as const;

/** `events:write` allows every event, `events:write:<name>` the one of that name, as `encodeURIComponent` encodes it. */
export type Scope = (typeof SCOPES)[number] | `events:write:${string}`;

const ONE_EVENT = /^events:write:((?:[\w.!~*'()-]|%[0-9A-F]{2}){1,1024})$/;

export const namesIn = (text: string): string[] => text.split(/[\s,]+/).filter((name) => name !== '');

/** Whether a text is a scope of this gateway. Others allow nothing in a JWT, and are an error in `CLIENT_TOKENS_FILE`. */
export function isScope(text: string): text is Scope {
  const [, name] = ONE_EVENT.exec(text) ?? [];
  // Another spelling of the name would never be compared equal.
  const isEvent = name !== undefined && encodeURIComponent(querystring.unescape(name)) === name;
  return isEvent || (SCOPES as readonly string[]).includes(text);
}
