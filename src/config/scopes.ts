/** What a token can allow. `any-player` says whom: anybody, instead of the token's own player alone. */
export const SCOPES = [
  'players:read',
  'players:write',
  'players:delete',
  'coupons:read',
  'referrals:read',
  'contacts:read',
  'events:write',
  'schema:read',
  'any-player',
] as const;

export type Scope = (typeof SCOPES)[number];

/** Whether a text from a token or a file is a scope this gateway knows. Others are ignored: they allow nothing. */
export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}
