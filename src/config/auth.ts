import type { LocalKey } from './credentials.ts';
import type { Values } from './variables.ts';

export const JWT_KEYS = ['JWT_JWKS_URL', 'JWT_PUBLIC_KEY', 'JWT_SECRET'];

/** The key that verifies JWTs: exactly one of these kinds. */
export type JwtKey = { kind: 'jwks'; url: URL } | ({ kind: 'public-key' | 'secret' } & LocalKey);

/** How JWTs are verified and read: the settings JWT_*, and the key that they name. */
export interface JwtConfig extends Pick<Values, Extract<keyof Values, `JWT_${string}`>> {
  key: JwtKey;
}

/** How callers are authenticated. An open gateway gives every caller all scopes, as the demo player. */
export type AuthConfig =
  | { kind: 'open' }
  | { kind: 'tokens'; jwt: JwtConfig | undefined; clientTokens: Values['CLIENT_TOKENS_FILE'] };

export function authOf(values: Values): AuthConfig {
  const { JWT_JWKS_URL: url, JWT_PUBLIC_KEY: publicKey, JWT_SECRET: secret, CLIENT_TOKENS_FILE: clientTokens } = values;
  const key: JwtKey | undefined =
    (url && { kind: 'jwks', url }) ??
    (publicKey && { kind: 'public-key', ...publicKey }) ??
    (secret && { kind: 'secret', ...secret });
  return key || clientTokens ? { kind: 'tokens', jwt: key && { ...values, key }, clientTokens } : { kind: 'open' };
}

/** How a developer gets a token for this gateway, with the command. Undefined for an open gateway, which needs none. */
export function tokenHint(auth: AuthConfig): string | undefined {
  if (auth.kind === 'open') return undefined;
  if (auth.jwt?.key.kind === 'secret')
    return 'With the same JWT_SECRET, JWT_ISSUER and JWT_AUDIENCE, `npm run token -- --sub demo-player --recipe phone-app` prints a token of the demo player.';
  if (auth.jwt) return `Tokens are issued by ${auth.jwt.JWT_ISSUER.join(', ')}.`;
  return '`npm run token -- --client my-tool --recipe support` prints a token and its entry for CLIENT_TOKENS_FILE.';
}
