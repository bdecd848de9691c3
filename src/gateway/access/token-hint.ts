import type { AuthConfig } from '../../config/auth.ts';

/**
 * How a developer gets a token for this gateway, in a sentence with the command. Undefined for an open gateway, which needs
 * none.
 */
export function tokenHint(auth: AuthConfig): string | undefined {
  if (auth.kind === 'open') return undefined;
  if (auth.jwt?.key.kind === 'secret') {
    return 'With the same JWT_SECRET, JWT_ISSUER and JWT_AUDIENCE, `npm run token -- --sub demo-player --recipe phone-app` prints a token of the demo player.';
  }
  const issuer = auth.jwt && `Tokens are issued by ${auth.jwt.issuer}.`;
  const client =
    auth.clientTokensFile &&
    `\`npm run token -- --client my-tool --recipe support\` prints a token and its entry for ${auth.clientTokensFile}.`;
  return [issuer, client].filter(Boolean).join(' ');
}
