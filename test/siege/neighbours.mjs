/* What is broken, large, slow or many for one: an endpoint, a player, a caller, the clients. The others must not feel it. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { attributes, coupons, referrals } from '../bench/rest-data.mjs';
import { MANY_COUPONS } from './attacks.mjs';
import { withGateway } from './checks.mjs';
import { startAttack } from './duel.mjs';
import { bearer, startDefaultNginx, tokens } from './programs.mjs';
import { client, head } from './wire.mjs';

const OK = { status: 200, body: {} };
/** Texts, so that making them does not delay the clients, which are in this process too. */
const [FEW, MANY] = [10, 1_000].map((length) => JSON.stringify({ coupons: coupons(length) }));
const ENDPOINTS = [
  [/^POST .+\/event$/, 'events', () => ({})],
  [/^POST .+\/player$/, 'upserts', () => ({})],
  [/\/coupon$/, 'coupons', (id) => (/^(many|attacker)/.test(id) ? MANY : FEW)],
  [/\/referrals\?/, 'friends', () => referrals(1, 240)],
  [/\/player\//, 'players', (id) => ({ playerUniqueId: id, playerAttributes: attributes })],
];

/** A REST service that answers after `delayMs`; `change` gives an endpoint another answer, null for none at all. */
async function withRest({ delayMs = 5, languages = true, change = {} }, act) {
  const server = createServer(async ({ method, url, headers }, response) => {
    const [, name, bodyOf] = ENDPOINTS.find(([pattern]) => pattern.test(`${method} ${url}`)) ?? [];
    const id = /\/(?:player|players|transactions)\/([^/?]+)/.exec(url)?.[1];
    const answer = name in change ? change[name] : headers.lang && !languages ? { status: 400, body: { code: 5 } } : OK;
    if (answer === null) return;
    await sleep(delayMs);
    const body = answer === OK ? bodyOf(id) : answer.body;
    response
      .writeHead(answer.status, { 'content-type': 'application/json' })
      .end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  server.keepAliveTimeout = 60_000;
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await act({ url: `http://127.0.0.1:${server.address().port}` });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const sender = (gateway, authorization, connections = 50) =>
  client({ url: gateway.url, authorization, from: '127.0.0.1' }, connections);
const isGood = ({ status, text }) => status === 200 && !text.includes('"errors"');

const OPERATIONS = {
  players: 'query ($id: ID!) { player(playerUniqueId: $id) { attributes { city } } }',
  coupons: 'query ($id: ID!) { player(playerUniqueId: $id) { coupons { code } } }',
  friends: 'query ($id: ID!) { player(playerUniqueId: $id) { referredFriends { total } } }',
  upserts: 'mutation ($id: ID!) { upsertPlayer(input: { playerUniqueId: $id }) { serviceId } }',
  events: 'mutation ($id: ID!) { trackEvents(input: { playerUniqueId: $id, events: [{ name: "a" }] }) { eventNames } }',
};

/** While an endpoint fails for everybody, 500 operations of the other kinds are sent, and one in five of its own. */
export async function failingEndpoints() {
  const refused = [];
  for (const [failing, answer] of Object.entries({
    coupons: { status: 500 },
    events: { status: 500 },
    friends: null,
  })) {
    const isolated = async (gateway) => {
      const send = sender(gateway, tokens.server);
      const names = Object.keys(OPERATIONS).filter((name) => name !== failing);
      const sent = [];
      for (let number = 0; number < 500; number += 1) {
        const one = (name) => send({ query: OPERATIONS[name], variables: { id: `p${number}` } });
        if (number % 5 === 0) void one(failing);
        sent.push(one(names[number % names.length]));
        await sleep(4);
      }
      const bad = (await Promise.all(sent)).filter((response) => !isGood(response)).length;
      refused.push(`${failing} fail: ${bad} of 500 refused`);
      return bad === 0;
    };
    const holds = await withRest({ change: { [failing]: answer } }, (rest) =>
      withGateway(rest, { REST_TIMEOUT_MS: '500' }, isolated),
    );
    if (!holds) return { ok: false, seen: refused.join('; ') };
  }
  return { ok: true, seen: refused.join('; ') };
}

const READ = '{ me { attributes { city } } }';

/** One player reads a thousand coupons under 30 names as often as it may, from a process of its own; another reads its profile. */
export async function longLists() {
  return await withRest({ delayMs: 2 }, (rest) =>
    withGateway(rest, {}, async (gateway) => {
      const victim = sender(gateway, tokens.players[0]);
      // A process that has just started interprets all code.
      const before = sender(gateway, tokens.server);
      const warm = { query: MANY_COUPONS.replace('me', 'player(playerUniqueId: "many")') };
      for (let read = 0; read < 60; read += 1) await Promise.all([before(warm), victim({ query: READ })]);
      await sleep(2_500);
      const attack = await startAttack('manyCoupons', gateway.url);
      const times = [];
      const end = performance.now() + 8_000;
      while (performance.now() < end) {
        const began = performance.now();
        await victim({ query: READ });
        times.push(performance.now() - began);
        await sleep(25);
      }
      const attacks = JSON.stringify(await attack.stop());
      const longest = Math.max(...times);
      return {
        ok: longest <= 100,
        seen: `attacks ${attacks}, the longest of ${times.length} reads took ${longest.toFixed(0)} ms`,
      };
    }),
  );
}

const LINKS = Array.from(
  { length: 30 },
  (_, n) => `a${n}: referralLink(lang: "${'abcdefghij'[n % 10]}${'xyz'[n % 3]}")`,
);
const PAGES = Array.from({ length: 30 }, (_, n) => `a${n}: referredFriends(page: ${n + 1}, limit: 1) { count }`);
/** What takes many REST calls of one endpoint, and what the victim reads of it. */
const GREEDY = {
  links: [`{ me { ${LINKS.join(' ')} } }`, '{ me { referralLink } }'],
  pages: [`{ me { ${PAGES.join(' ')} } }`, '{ me { referredFriends { count } } }'],
};

/** One player causes as many REST calls as it may; how many reads another one gets, of those that it got before. */
export async function greedyPlayer() {
  const seen = [];
  let ok = true;
  for (const delayMs of [20, 50, 150]) {
    for (const [what, [query, read]] of Object.entries(GREEDY)) {
      const share = await withRest({ delayMs, languages: false }, (rest) =>
        withGateway(rest, {}, async (gateway) => {
          const attacker = sender(gateway, await bearer('greedy'), 200);
          const victim = sender(gateway, tokens.players[0]);
          const rate = async (ms) => {
            let reads = 0;
            for (const end = performance.now() + ms; performance.now() < end; reads += 1) {
              if (!isGood(await victim({ query: read }))) reads -= 1;
              await sleep(40);
            }
            return reads;
          };
          await rate(500);
          const before = await rate(4_000);
          let over = false;
          const attacked = (async () => {
            for (const began = performance.now(), sent = { count: 0 }; !over; sent.count += 1) {
              void attacker({ query });
              await sleep(Math.max(0, began + sent.count * 20 - performance.now()));
            }
          })();
          await sleep(1_000);
          const during = await rate(4_000);
          over = true;
          await attacked;
          return during / before;
        }),
      );
      seen.push(`${what} at ${delayMs} ms: ${(100 * share).toFixed(0)} %`);
      ok &&= share >= 0.8;
    }
  }
  return { ok, seen: seen.join(', ') };
}

/** Requests without a token from each /64 of one IPv6 network, as the edge forwards them; then 20 new users, half of them in it. */
export async function newUsers(upstream) {
  return await withGateway(upstream, { TRUST_PROXY: '1' }, async (gateway) => {
    const inNetwork = (n) => `2001:db8:5:${n.toString(16)}::1`;
    const requests = Array.from(
      { length: 50_800 },
      (_, n) => `GET /graphql HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: ${inNetwork(n)}\r\n\r\n`,
    );
    const refused = {};
    const socket = connect(gateway.port, '127.0.0.1').setEncoding('latin1');
    socket.on('data', (text) => {
      for (const [, status] of text.matchAll(/HTTP\/1\.1 (\d+)/g)) refused[status] = (refused[status] ?? 0) + 1;
    });
    socket.end(requests.join(''));
    await once(socket, 'close');
    let good = 0;
    for (let n = 0; n < 20; n += 1) {
      const from = n % 2 ? inNetwork(50_800 + n) : `203.0.113.${n}`;
      const send = sender(gateway, await bearer(`new-${n}`));
      if (isGood(await send({ query: READ }, { 'x-forwarded-for': from }))) good += 1;
    }
    return { ok: good === 20 && refused[401] > 0, seen: `${JSON.stringify(refused)}, ${good} of 20 get in` };
  });
}

/** More idle clients than there are file descriptors. */
export async function manyIdleClients(upstream) {
  return await withGateway(upstream, { OPEN_FILES: '1024' }, async (gateway) => {
    const stays = sender(gateway, tokens.server, 1);
    const read = () => stays({ query: OPERATIONS.players, variables: { id: 'p1' } });
    await read();
    const open = () =>
      connect(gateway.port, '127.0.0.1')
        .on('error', () => {})
        .resume();
    const idle = Array.from({ length: 1_100 }, open);
    for (const socket of idle) socket.write('GET /x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    await sleep(3_000);
    const during = isGood(await read());
    for (const socket of idle) socket.destroy();
    await sleep(500);
    const after = isGood(await sender(gateway, tokens.server)({ query: OPERATIONS.players, variables: { id: 'p2' } }));
    const alive = gateway.isAlive();
    return {
      ok: alive && during && after,
      seen: `${alive ? 'alive' : 'DEAD'}, served during ${during}, after ${after}`,
    };
  });
}

/** Requests that the gateway rejects, with a body that it does not need. nginx takes a reset for a broken gateway. */
const REJECTED = {
  'without a token': head({ headers: ['LENGTH'] }),
  'an unknown path': head({ path: '/nope', headers: ['LENGTH'] }),
  'a byte outside ASCII': head({ path: '/caf\u00e9', headers: ['LENGTH'] }),
  'a path that is no UTF-8': head({ path: '/%ff', headers: ['LENGTH'] }),
  'a head of 21 KB': head({ headers: [...'abc'].map((name) => `X-${name}: ${name.repeat(7_000)}`).concat('LENGTH') }),
};

/** Two replicas behind an nginx with its defaults, which excludes a server for 10 s after one failure. */
export async function rejectedBodies(upstream) {
  return await withGateway(upstream, {}, (one) =>
    withGateway(upstream, {}, async (two) => {
      const edge = await startDefaultNginx([one.port, two.port]);
      const read = sender(edge, tokens.server);
      const failed = {};
      let lost = 0;
      for (const [what, start] of Object.entries(REJECTED)) {
        for (let turn = 0; turn < 10; turn += 1) {
          const status = await reject(edge.url, start);
          if (!/^4/.test(status)) failed[`${what} ${status}`] = (failed[`${what} ${status}`] ?? 0) + 1;
          if (!isGood(await read({ query: OPERATIONS.players, variables: { id: 'p1' } }))) lost += 1;
        }
      }
      await edge.stop();
      return {
        ok: lost === 0,
        seen: `${lost} of 50 requests of another client failed; rejected without 4xx: ${JSON.stringify(failed)}`,
      };
    }),
  );
}

/** Sends a head and a body of nearly 1 MB. Resolves to the status, `none` when the connection is lost. */
async function reject(url, start) {
  const body = Buffer.alloc(1_000_000, 'x');
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {});
  socket.write(start.replace('LENGTH', `Content-Length: ${body.length}\r\nConnection: close`), 'latin1');
  socket.write(body);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  await once(socket, 'close');
  return /^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 'none';
}
