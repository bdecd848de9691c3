/* A client beside an attack: it asks again as soon as it has its response, on eight connections. */
import { setTimeout as sleep } from 'node:timers/promises';
import { client } from './wire.mjs';

const CONNECTIONS = 8;
const QUERY =
  'query Victim($id: ID!) { player(playerUniqueId: $id) { id attributes { displayName } coupons { code value } } }';

/** Asks until it is stopped. `window` resolves to what was answered in so many milliseconds. */
export function startVictim(url, authorization) {
  const send = client({ url, authorization, from: '127.0.0.1' }, CONNECTIONS);
  let seen = { good: 0, failed: {} };
  let asked = 0;
  let over = false;
  const loop = async () => {
    while (!over) {
      asked += 1;
      const into = seen;
      const { status, text } = await send({ query: QUERY, variables: { id: `player-${asked % 1_000}` } });
      if (status === 200 && !text.startsWith('{"errors"')) into.good += 1;
      else {
        const what = `${status} ${/"code":"(\w+)"/.exec(text)?.[1] ?? ''}`;
        into.failed[what] = (into.failed[what] ?? 0) + 1;
        await sleep(20);
      }
    }
  };
  for (let left = CONNECTIONS; left > 0; left -= 1) void loop();
  return {
    async window(ms) {
      seen = { good: 0, failed: {} };
      const began = performance.now();
      const mine = seen;
      await sleep(ms);
      return { perSecond: (mine.good * 1_000) / (performance.now() - began), failed: mine.failed };
    },
    stop() {
      over = true;
    },
  };
}
