/* An honest client beside an attack: it asks again as soon as it has its answer (a closed loop). */
import { Pool } from 'undici';

const CONNECTIONS = 8;
export const QUERY = `query Victim($id: ID!) { player(playerUniqueId: $id) { id attributes { displayName } coupons { code value } } }`;

/**
 * Asks until it is stopped. `window` resolves to what was answered in so many milliseconds: answers with data in a second,
 * how many requests were answered otherwise, and the times in milliseconds.
 */
export function startVictim(url, { authorization, connections = CONNECTIONS, query = QUERY, players = 1_000 }) {
  const pool = new Pool(url, { connections, pipelining: 1 });
  const headers = { 'content-type': 'application/json', authorization };
  let seen = { answered: 0, failed: 0, times: [], statuses: new Map() };
  let asked = 0;
  let over = false;

  async function ask() {
    asked = (asked + 1) % players;
    const body = JSON.stringify({ query, variables: { id: `player-${asked}` } });
    const began = performance.now();
    const into = seen;
    try {
      const response = await pool.request({ method: 'POST', path: '/graphql', headers, body, headersTimeout: 10_000 });
      const text = await response.body.text();
      const good = response.statusCode === 200 && !text.startsWith('{"errors"');
      if (into !== seen) return;
      seen[good ? 'answered' : 'failed'] += 1;
      seen.times.push(performance.now() - began);
      if (!good) seen.statuses.set(response.statusCode, (seen.statuses.get(response.statusCode) ?? 0) + 1);
      // Who is refused waits a moment, as a client does.
      if (!good) await new Promise((resolve) => setTimeout(resolve, 20));
    } catch (error) {
      if (over || into !== seen) return;
      seen.failed += 1;
      seen.statuses.set(error.code ?? error.message, (seen.statuses.get(error.code ?? error.message) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  const loops = Array.from({ length: connections }, async () => {
    while (!over) await ask();
  });

  return {
    async window(ms) {
      seen = { answered: 0, failed: 0, times: [], statuses: new Map() };
      const began = performance.now();
      await new Promise((resolve) => setTimeout(resolve, ms));
      const { answered, failed, times, statuses } = seen;
      times.sort((a, b) => a - b);
      const at = (share) => times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? Number.NaN;
      const perSecond = (answered * 1_000) / (performance.now() - began);
      return { perSecond, failed, p50: at(0.5), p99: at(0.99), statuses: Object.fromEntries(statuses) };
    },
    async stop() {
      over = true;
      await pool.destroy();
      await Promise.all(loops);
    },
  };
}
