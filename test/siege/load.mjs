/* More load than the gateway can take: what it still answers, and how soon it refuses. */
import { setTimeout as sleep } from 'node:timers/promises';
import { withGateway } from './checks.mjs';
import { tokens } from './programs.mjs';
import { client } from './wire.mjs';

const CLIENTS = 1_500;
const TIMES_CAPACITY = 5;
const PEAK_CONNECTIONS = 64;
/** How much the peak may vary. */
const NOISE = 0.25;
/** Work for the gateway, little for this process. */
const QUERY =
  'query Load($id: ID!) { player(playerUniqueId: $id) { id referredFriends(limit: 50) { total nodes { playerUniqueId displayName email joinDate status } } } }';

/** Several callers, since one does not get all slots. */
function callersOf(gateway, connections) {
  const each = Math.ceil(connections / tokens.servers.length);
  const senders = tokens.servers.map((authorization) =>
    client({ url: gateway.url, authorization, from: '127.0.0.1' }, each),
  );
  return (number) => senders[number % senders.length]({ query: QUERY, variables: { id: `load-${number % 500}` } });
}

/** `number` clients that each ask, wait for `pauseOf(response)` milliseconds, and ask again. */
async function measure(gateway, number, ms, pauseOf, rampMs = 1_000) {
  const ask = callersOf(gateway, number);
  let seen = { good: 0, refused: 0, lost: 0, times: [] };
  let over = false;
  for (let index = 0; index < number; index += 1) {
    void (async () => {
      await sleep((index / number) * rampMs);
      while (!over) {
        const began = performance.now();
        const response = await ask(index);
        seen[response.status === 200 ? 'good' : response.status === 503 ? 'refused' : 'lost'] += 1;
        seen.times.push(performance.now() - began);
        await sleep(pauseOf(response));
      }
    })();
  }
  await sleep(2 * rampMs);
  seen = { good: 0, refused: 0, lost: 0, times: [] };
  const cpu = gateway.cpuMs();
  const began = performance.now();
  await sleep(ms);
  const seconds = (performance.now() - began) / 1_000;
  over = true;
  const { good, refused, lost, times } = seen;
  const p99 = times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN;
  const cpuSeconds = (gateway.cpuMs() - cpu) / 1_000;
  return { perSecond: good / seconds, perCpuSecond: good / cpuSeconds, refused: refused / seconds, lost, p99 };
}

/** Clients that honour `Retry-After`, and ask for five times what can be answered. */
export async function retryingClients(upstream) {
  upstream.become({ delayMs: 5 });
  return await withGateway(upstream, {}, async (gateway) => {
    const peak = () => measure(gateway, PEAK_CONNECTIONS, 3_000, () => 0);
    await peak();
    const before = await peak();
    const pauseMs = (1_000 * CLIENTS) / (TIMES_CAPACITY * before.perSecond);
    const pauseOf = ({ headers }) => 1_000 * Number(headers['retry-after'] ?? 0) + pauseMs * (0.5 + Math.random());
    const loaded = await measure(gateway, CLIENTS, 6_000, pauseOf, 3_000);
    await sleep(2_000);
    const after = await peak();
    const share = (figure) => (2 * loaded[figure]) / (before[figure] + after[figure]);
    const [rate, cpu] = [share('perSecond'), share('perCpuSecond')].map((value) => `${(100 * value).toFixed(0)} %`);
    // Where the peak itself varies, nothing is known but the CPU time of one response.
    const byCpu = Math.abs(before.perSecond - after.perSecond) > (NOISE * (before.perSecond + after.perSecond)) / 2;
    return {
      ok: share('perSecond') >= 0.7 || (byCpu && share('perCpuSecond') >= 0.7),
      byCpu,
      seen: `${rate} of ${before.perSecond.toFixed(0)}/s (${cpu} by CPU time), ${loaded.refused.toFixed(0)} refusals/s, ${loaded.lost} lost, p99 ${loaded.p99.toFixed(0)} ms`,
    };
  });
}
