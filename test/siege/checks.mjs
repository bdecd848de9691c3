/* Rows that are no duel: something is done to the gateway and something must be true. `limit` says what. */
import { setTimeout as sleep } from 'node:timers/promises';
import { startAttack } from './duel.mjs';
import { startGateway, tokens } from './programs.mjs';
import { client } from './wire.mjs';

const READ = 'query Read($id: ID!) { player(playerUniqueId: $id) { id coupons { code value } } }';

/** Sends operations with a token. */
const asking = (gateway, authorization) => client({ url: gateway.url, authorization, from: '127.0.0.1' }, 400);

/** Runs `act` with a gateway of its own, and ends it. */
export async function withGateway(upstream, env, act) {
  const gateway = await startGateway(upstream, env);
  try {
    return await act(gateway);
  } finally {
    await gateway.stop();
  }
}

const all = (number, act) => Promise.all(Array.from({ length: number }, (_, index) => act(index)));

/** Clients that reset their connections. */
export async function resetsInTheLog(upstream) {
  upstream.become({ delayMs: 20 });
  return await withGateway(upstream, { LOG_LEVEL: 'info' }, async (gateway) => {
    const attack = await startAttack('resets', gateway.url);
    await sleep(2_000);
    await attack.stop();
    await sleep(300);
    const metrics = await gateway.metrics();
    const counted = (code) =>
      [...metrics.matchAll(new RegExp(`gateway_operations_total\\{[^}]*outcome="${code}"\\} (\\d+)`, 'g'))].reduce(
        (sum, [, n]) => sum + Number(n),
        0,
      );
    const internal = counted('INTERNAL_SERVER_ERROR');
    const errors = gateway
      .output()
      .split('\n')
      .filter((line) => /"level":(50|60)/.test(line)).length;
    return {
      ok: internal === 0 && errors === 0,
      seen: `${errors} lines at error, ${internal} INTERNAL_SERVER_ERROR, ${counted('CANCELLED')} CANCELLED`,
    };
  });
}

/** Many at once over a slow REST service: four servers get together as many slots as there are. */
export async function slowUpstreamBurst(upstream) {
  upstream.become({ delayMs: 1_000 });
  return await withGateway(upstream, { REST_CONNECTIONS: '512' }, async (gateway) => {
    const query = 'query Slow($id: ID!) { player(playerUniqueId: $id) { id referralLink } }';
    const callers = tokens.servers.slice(0, 4).map((authorization) => asking(gateway, authorization));
    const burst = async (number) => {
      const results = await all(number, (n) => callers[n % 4]({ query, variables: { id: `s${n}` } }));
      return results.filter(({ status }) => status === 200).length;
    };
    const [within, over] = [await burst(480), await burst(800)];
    return {
      ok: within === 480 && over === 800,
      seen: `${within} of 480 of four callers answered, and ${over} of 800`,
    };
  });
}

/** 208 documents of 900 characters, each often enough to be compiled. */
export async function compiledDocuments(upstream) {
  upstream.become({ delayMs: 0 });
  return await withGateway(upstream, {}, async (gateway) => {
    const victim = asking(gateway, tokens.server);
    const send = asking(gateway, tokens.servers[0]);
    const reads = async () => {
      for (let left = 300; left > 0; left -= 1) await victim({ query: READ, variables: { id: 'p1' } });
    };
    const cpuOfReads = async () => {
      await reads();
      const cpu = gateway.cpuMs();
      await reads();
      return gateway.cpuMs() - cpu;
    };
    const before = { cpu: await cpuOfReads(), mb: gateway.rssMb() };
    for (let document = 0; document < 208; document += 1) {
      const fields = Array.from({ length: 20 }, (_, n) => `c${document}x${n}: me { id attributes { displayName } }`);
      await all(55, () => send({ query: `query C${document} { ${fields.join(' ')} }` }));
    }
    const grown = gateway.rssMb() - before.mb;
    const share = before.cpu / (await cpuOfReads());
    return {
      ok: gateway.isAlive() && !(grown > 150) && share >= 0.7,
      seen: `${gateway.isAlive() ? 'alive' : 'DEAD'}, RSS + ${grown.toFixed(0)} MB, ${(100 * share).toFixed(0)} % of the rate by CPU time`,
    };
  });
}
