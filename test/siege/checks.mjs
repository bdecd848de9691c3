/* Rows that are no duel: something is done to the gateway and something must be true. `limit` says what. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { startAttack } from './duel.mjs';
import { claims, startGateway, token, tokens } from './programs.mjs';
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

/** How many of some results there are. */
const countOf = (results, fits) => results.filter(fits).length;
const all = (number, act) => Promise.all(Array.from({ length: number }, (_, index) => act(index)));

export async function badTokensBesideGoodOnes(upstream) {
  return await withGateway(upstream, {}, async (gateway) => {
    const remembered = asking(gateway, `Bearer ${token('p1')}`);
    await remembered({ query: '{ me { id } }' });
    const attack = await startAttack('badTokens', gateway.url);
    // Longer than the allowance of 500 lasts would take half a minute at 100 a second: it is used up first.
    const bad = asking(gateway, 'Bearer no.token.atall');
    await all(600, () => bad({ query: '{ me { id } }' }));
    const refused = (await bad({ query: '{ me { id } }' })).status;
    const results = [];
    for (let index = 0; index < 100; index += 1) results.push(await remembered({ query: '{ me { id } }' }));
    await attack.stop();
    const good = countOf(results, ({ status }) => status === 200);
    return { ok: good === 100 && refused === 429, seen: `${good} of 100 answered; a bad token ${refused}` };
  });
}

/** A key server that can be made to work, to fail and to hang. */
async function startKeyServer() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const jwk = { ...publicKey.export({ format: 'jwk' }), alg: 'EdDSA', use: 'sig', kid: 'k1' };
  const state = { mode: 'works', fetches: 0 };
  const server = createServer((_request, response) => {
    state.fetches += 1;
    if (state.mode === 'works')
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: [jwk] }));
    if (state.mode === 'fails') response.writeHead(500).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return {
    state,
    url: `http://127.0.0.1:${server.address().port}/keys`,
    token(sub) {
      const input = `${part({ alg: 'EdDSA', kid: 'k1' })}.${part(claims(sub))}`;
      return `${input}.${sign(null, Buffer.from(input), privateKey).toString('base64url')}`;
    },
    async stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** @param mode What the key server does: it `fails` or `hangs`. */
export async function keyServerLost(upstream, mode) {
  const keys = await startKeyServer();
  keys.state.mode = mode;
  try {
    return await withGateway(upstream, { JWT_JWKS_URL: keys.url }, async (gateway) => {
      const ask = asking(gateway, `Bearer ${keys.token('p1')}`);
      const ready = (await fetch(`${gateway.management}/readyz`)).status;
      const results = await all(300, () => ask({ query: '{ me { id } }' }));
      const retryable = countOf(results, ({ status, text }) => status === 503 && text.includes('"retryable":true'));
      const { fetches } = keys.state;
      keys.state.mode = 'works';
      // The next attempt is after 30 s.
      const until = performance.now() + 40_000;
      let back = 0;
      while (back !== 200 && performance.now() < until) {
        await sleep(200);
        back = (await ask({ query: '{ me { id } }' })).status;
      }
      const readyAgain = (await fetch(`${gateway.management}/readyz`)).status;
      return {
        ok: retryable === 300 && fetches <= 5 && ready === 503 && back === 200 && readyAgain === 200,
        seen: `${retryable} of 300 are 503 retryable, ${fetches} fetches, readyz ${ready}; then ${back} and ${readyAgain}`,
      };
    });
  } finally {
    await keys.stop();
  }
}

/** Tokens that were verified before stay valid while the key server is away. */
export async function keyServerLostLater(upstream) {
  const keys = await startKeyServer();
  try {
    return await withGateway(upstream, { JWT_JWKS_URL: keys.url }, async (gateway) => {
      await asking(gateway, `Bearer ${keys.token('p0')}`)({ query: '{ me { id } }' });
      keys.state.mode = 'fails';
      const before = keys.state.fetches;
      const results = await all(100, (n) =>
        asking(gateway, `Bearer ${keys.token(`p${n}`)}`)({ query: '{ me { id } }' }),
      );
      const good = countOf(results, ({ status }) => status === 200);
      const fetches = keys.state.fetches - before;
      return {
        ok: good === 100 && fetches <= 5,
        seen: `${good} of 100 new tokens answered with the keys that were there, ${fetches} fetches`,
      };
    });
  } finally {
    await keys.stop();
  }
}

/** A 429 is an error of that call alone. */
export async function longPause(upstream) {
  upstream.become({ delayMs: 5, pauses: 1, retryAfter: 3_600 });
  return await withGateway(upstream, {}, async (gateway) => {
    const ask = asking(gateway, tokens.server);
    const first = await ask({ query: READ, variables: { id: 'p1' } });
    const others = await all(100, (n) => ask({ query: READ, variables: { id: `q${n}` } }));
    const good = countOf(others, ({ text }) => text.includes('"player":{') && !text.includes('"errors"'));
    return { ok: good === 100, seen: `${first.status}, then ${good} of 100 other players answered` };
  });
}

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

/** Many at once over a slow REST service: a caller gets an eighth of MAX_CONCURRENT_OPERATIONS, and the others the rest. */
export async function slowUpstreamBurst(upstream) {
  upstream.become({ delayMs: 1_000 });
  return await withGateway(upstream, { REST_CONNECTIONS: '512' }, async (gateway) => {
    const query = 'query Slow($id: ID!) { player(playerUniqueId: $id) { id referralLink } }';
    const callers = tokens.servers.slice(0, 4).map((authorization) => asking(gateway, authorization));
    const burst = async (number) => {
      const results = await all(number, (n) => callers[n % 4]({ query, variables: { id: `s${n}` } }));
      return countOf(results, ({ status }) => status === 200);
    };
    const [within, over] = [await burst(480), await burst(800)];
    return {
      ok: within === 480 && over >= 4 * 125,
      seen: `${within} of 480 of four callers answered, and ${over} of 800, of which 500 have a slot`,
    };
  });
}

/** 3,000 keys of three players, then an order with its first key again. */
export async function keysOfOthers(upstream) {
  return await withGateway(upstream, {}, async (gateway) => {
    const query =
      'mutation K($id: ID!, $k: String!) { trackEvents(input: { playerUniqueId: $id, idempotencyKey: $k, events: [{ name: "place_order" }] }) { eventNames } }';
    const order = () =>
      asking(gateway, `Bearer ${token('keyed')}`)({ query, variables: { id: 'keyed', k: 'order-1' } });
    const before = await upstream.events();
    await order();
    for (const id of ['a1', 'a2', 'a3']) {
      const ask = asking(gateway, `Bearer ${token(id)}`);
      for (let sent = 0; sent < 1_000; sent += 100)
        await all(100, (n) => ask({ query, variables: { id, k: `${id}-${sent + n}` } }));
    }
    const { status } = await order();
    const sent = (await upstream.events()) - before;
    return { ok: sent === 1 && status === 200, seen: `the order was sent ${sent} times; its repetition got ${status}` };
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
