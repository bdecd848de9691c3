import { readFileSync } from 'node:fs';

const PLAYERS = {
  'demo-player': 'everything is there',
  'demo-empty': 'nothing yet',
  'demo-slow-coupons': 'the coupons hang',
  'demo-no-coupons': 'the coupons fail',
  'demo-no-friends': 'the friends fail',
  'demo-coupons-come-back': 'the coupons fail for 5 s',
  'demo-late-contact': 'its contact came too late: no referral, no coupon',
  'demo-throttled': 'nothing can be read',
  'demo-long-names': 'long, right-to-left and blank names',
};

const queryOf = (player: string) => `{
  player(playerUniqueId: "${player}") {
    referralLink
    attributes { displayName }
    coupons(filter: { usableNow: true }) { code value currency }
    referredFriends(limit: 3) { total nodes { displayName status } }
  }
}`;

const ideOf = (player: string) => `/graphiql?query=${encodeURIComponent(queryOf(player))}`;

/**
 * The first screen of a gateway in development, made of the files in assets/pages/. It loads nothing.
 * @param state Whether a token is needed, as HTML.
 */
export function startPage(assets: URL, state: string): { html: string; script: string } {
  const read = (name: string) => readFileSync(new URL(`pages/${name}`, assets), 'utf8');
  const players = Object.entries(PLAYERS).map(([id, is]) => `<li><a href="${ideOf(id)}">${id}</a>: ${is}</li>`);
  const values = { state, query: queryOf('demo-player'), ide: ideOf('demo-player'), players: players.join('\n') };
  const body = Object.entries(values).reduce(
    (html, [name, value]) => html.replace(`{${name}}`, () => value),
    read('start.html'),
  );
  const script = read('start.js');
  const head = `<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">`;
  return { html: `${head}<style>${read('start.css')}</style>${body}<script type="module">${script}</script>`, script };
}
