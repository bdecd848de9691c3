import { tokenHint } from '../config/auth.ts';
import type { Config } from '../config/config.ts';

/** The text printed at a terminal in development: the addresses, and a query to try. */
export function announce(config: Config, urls: { gateway: string; rest: string; management: string }): string {
  const hint = tokenHint(config.auth);
  const lines = [
    '',
    `  GraphQL          ${urls.gateway}/graphql`,
    `  Apollo Sandbox   ${urls.gateway}/graphql (in a browser)`,
    `  GraphiQL         ${urls.gateway}/graphiql (works offline)`,
    `  REST service     ${new URL(urls.rest).origin}${config.rest.baseUrl ? '' : ' (the reference service, started beside the gateway)'}`,
    `  Management       ${urls.management}/readyz, /healthz, /metrics`,
    '',
    `  ${hint === undefined ? OPEN : `TOKENS: every request needs one. ${hint}`}`,
    '',
    '  Try it:',
    '',
    TRY,
    '',
  ];
  return `${lines.join('\n')}\n`;
}

const OPEN =
  'OPEN: no token setting is given, so everybody on this machine may do everything, as the player "demo-player".';

const TRY = `    {
      player(playerUniqueId: "demo-player") {
        attributes { displayName tags }
        coupons(filter: { usableNow: true, couponTypes: [PERCENTAGE_DISCOUNT] }) { couponType value }
        referredFriends(limit: 2) { total totalActive nodes { displayName status } }
      }
    }`;
