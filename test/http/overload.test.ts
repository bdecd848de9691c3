import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { createSlots } from '../../src/http/overload.ts';
import { player as playerCaller, startWithCallers } from '../kit/callers.ts';
import { startBoth } from '../kit/gateway.ts';
import { bearer, keySigner, secretSigner, token } from '../kit/tokens.ts';
import { until } from '../kit/until.ts';

let both: Awaited<ReturnType<typeof startBoth>>;

async function start(env: Record<string, string>) {
  both = await startBoth(env);
  return both;
}

const player = (id: string) => `{player(playerUniqueId:"${id}"){id}}`;

function open(): Socket {
  const { hostname, port } = new URL(both.gateway.url);
  return connect(Number(port), hostname);
}

/** Resets connections, and waits until they are closed. */
const reset = (clients: Socket[]) => Promise.all(clients.map((client) => once(client.resetAndDestroy(), 'close')));

/** The bytes of a request. */
const get = (query: string, header = 'Apollo-Require-Preflight: 1') =>
  `GET /graphql?query=${query} HTTP/1.1\r\nHost: localhost\r\n${header}\r\n\r\n`;

test('a caller with as many operations in flight as it may have gets 503, until one of them ends', async () => {
  const { gateway, upstream } = await start({ MAX_CONCURRENT_OPERATIONS_PER_SERVER_CALLER: '2' });
  const held = [upstream.hold('GET /player'), upstream.hold('GET /player')];
  const first = ['p1', 'p2'].map((id) => gateway.query(player(id)));
  await upstream.received(2);

  const refused = await gateway.query(player('p3'), {}, { origin: 'http://localhost:3000' });
  const { status, headers, data, errors, extensions } = refused;
  expect({ status, data, errors }).toEqual({
    status: 503,
    data: undefined,
    errors: [
      {
        message: expect.stringContaining('try again'),
        extensions: { code: 'OVERLOADED', retryable: true, retryAfterMs: 1_000 },
      },
    ],
  });
  expect(headers.get('retry-after')).toBe('1');
  expect(headers.get('access-control-allow-origin')).toBe('http://localhost:3000');
  expect(headers.get('content-type')).toContain('application/json');
  expect(extensions['requestId']).toBe(headers.get('x-request-id'));
  expect(upstream.requests).toHaveLength(2);
  expect(await gateway.metrics()).toContain('outcome="OVERLOADED"} 1');
  // One line a minute: the lines of refused operations themselves are at debug.
  expect((await gateway.query(player('p3'))).status).toBe(503);
  const lines = gateway
    .logged()
    .split('\n')
    .filter((line) => line.includes('"msg":"operations are refused"'));
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 40, caller: 'development', reason: 'this caller has as many operations in flight as allowed' },
  ]);

  for (const { release } of held) release();
  expect((await Promise.all(first)).map((answer) => answer.status)).toEqual([200, 200]);
  expect((await gateway.query(player('p3'))).data).toEqual({ player: { id: 'p3' } });
});

test('each reason for which operations are refused has a line, also while one caller is refused all the time', async () => {
  const limits = { MAX_CONCURRENT_OPERATIONS: '4', MAX_CONCURRENT_OPERATIONS_PER_CALLER: '2' };
  const { gateway, upstream, as } = await startWithCallers(limits);
  const [p1, p2] = [playerCaller('p1', 'players:read'), playerCaller('p2', 'players:read')];
  const held = [p1, p1, p2].map((caller) => {
    const { release } = upstream.hold('GET /player');
    return { release, response: as(caller, '{ me { id } }') };
  });
  await upstream.received(3);
  for (const caller of [p1, p2, p1, p2]) expect((await as(caller, '{ me { id } }')).status).toBe(503);
  for (const { release } of held) release();
  for (const { response } of held) expect(await response).toMatchObject({ status: 200, codes: [] });
  const reasons = gateway
    .logged()
    .split('\n')
    .flatMap((line) => (line.includes('"msg":"operations are refused"') ? JSON.parse(line).reason : []));
  expect(reasons).toEqual([expect.stringMatching(/^this caller has/), expect.stringMatching(/^all callers together/)]);
});

test('a limit of two is two beside others too, and an innocent caller is not blamed', () => {
  const slots = createSlots({ all: 10, player: 2, server: 9 }, () => false);
  const admit = (key: string, isServer = false) => slots.admit({ name: key, key, scopes: new Set(), isServer });
  const take = (key: string, isServer?: boolean) => {
    const slot = admit(key, isServer);
    if (typeof slot !== 'string') slot.hold();
    return typeof slot === 'string' ? slot : 'taken';
  };
  expect([take('a'), take('b'), take('b')]).toEqual(['taken', 'taken', 'taken']);
  expect(take('b')).toContain('this caller has');
  expect(Array.from({ length: 6 }, () => take('job', true))).toEqual(Array(6).fill('taken'));
  expect(take('job', true)).toContain('all callers together');
  expect(take('c')).toBe('taken');
  expect(take('d')).toContain('all callers together');
});

test('while players use all slots, a server still gets as many as a player alone', () => {
  const slots = createSlots({ all: 80, player: 10, server: 70 }, () => false);
  const admit = (key: string, isServer = false) => slots.admit({ name: key, key, scopes: new Set(), isServer });
  const ofPlayers = Array.from({ length: 80 }, (_, n) => admit(`p${n}`));
  for (const slot of ofPlayers) if (typeof slot !== 'string') slot.hold();
  let got = 0;
  for (const [n, slot] of ofPlayers.slice(0, 20).entries()) {
    if (typeof slot !== 'string') slot.release();
    const ofServer = admit('job', true);
    got += Number(typeof ofServer !== 'string');
    // A player comes for what the server may not have.
    const next = typeof ofServer === 'string' ? admit(`q${n}`) : ofServer;
    if (typeof next !== 'string') next.hold();
  }
  expect(got).toBeGreaterThanOrEqual(10);
});

test('30 callers that take all they may have leave slots and bytes to others', () => {
  const slots = createSlots({ all: 1_000, player: 125, server: 875 }, () => false);
  const admit = (key: string) => slots.admit({ name: key, key, scopes: new Set(), isServer: false });
  /** How many slots a caller gets, and how many of these may have so many bytes. */
  const takeAll = (key: string, bytes: number) => {
    let [taken, full] = [0, 0];
    for (let slot = admit(key); typeof slot !== 'string'; slot = admit(key)) {
      slot.hold();
      taken += 1;
      full += Number(slot.addBytes(bytes));
    }
    return [taken, full];
  };
  expect(takeAll('alone', 262_144)).toEqual([125, 64]);
  for (let n = 0; n < 29; n += 1) takeAll(`greedy-${n}`, 262_144);
  const [slotsOfLate = 0, withBytes] = takeAll('late', 1_000);
  expect(slotsOfLate).toBeGreaterThan(1);
  expect(withBytes).toBe(slotsOfLate);
});

test('a client with several requests on one connection that disconnects cancels all of them', async () => {
  const { gateway, upstream } = await start({ MAX_CONCURRENT_OPERATIONS_PER_SERVER_CALLER: '3' });
  upstream.on('GET /player', { fault: 'hang' }, { fault: 'hang' }, { fault: 'hang' }, 'usual');
  const client = open();
  client.write(['p1', 'p2', 'p3'].map((id) => get(player(id))).join(''));
  await upstream.received(3);
  await reset([client]);
  await Promise.all(upstream.requests.map(({ gone }) => gone));
  expect(await gateway.metrics()).toContain('gateway_operations_active 0\n');
  const again = await Promise.all(['q1', 'q2', 'q3'].map((id) => gateway.query(player(id))));
  expect(again.map(({ status }) => status)).toEqual([200, 200, 200]);
});

test('clients that disconnect beside one that stays give back one slot each', async () => {
  const { gateway, upstream } = await start({ MAX_CONCURRENT_OPERATIONS_PER_SERVER_CALLER: '2' });
  upstream.on('GET /player', { fault: 'hang' });
  const clients = Array.from({ length: 22 }, open);
  for (const [index, client] of clients.entries()) {
    client.write(get(player(`p${index}`)));
    await upstream.received(index + 1);
    // The first and the last stay. The caller may have no more than these in flight.
    if (index % 21 === 0) continue;
    await reset([client]);
    await upstream.requests[index]?.gone;
    expect(await gateway.metrics()).toContain('gateway_operations_active 1\n');
  }
  expect((await gateway.query(player('p22'))).status).toBe(503);
  for (const client of clients) client.destroy();
});

test('responses to clients that have disconnected take no bytes from others', async () => {
  const { gateway, upstream } = await start({});
  // Each response would have 3 MB; all together may wait with 64 MB.
  const json = { coupons: [{ code: 'x'.repeat(1_500_000) }] };
  upstream.on('GET /coupon', { json });
  upstream.on('GET /player', { fault: 'hang' });
  const query = '{a:player(playerUniqueId:"p1"){coupons{code,id}}b:player(playerUniqueId:"p2"){attributes{email}}}';
  for (let sent = 2; sent <= 50; sent += 2) {
    const client = open();
    client.write(get(query));
    await upstream.received(sent);
    await until(async () => (await gateway.metrics()).includes(`coupon",outcome="OK"} ${sent / 2}\n`));
    const { gone } = upstream.requests.findLast(({ endpoint }) => endpoint === 'GET /player') ?? {};
    await reset([client]);
    await gone;
  }
  expect((await gateway.query('{player(playerUniqueId:"p1"){coupons{code}}}')).status).toBe(200);
});

test('clients that disconnect before their requests begin take no slot', async () => {
  const { gateway } = await start({ MAX_CONCURRENT_OPERATIONS_PER_SERVER_CALLER: '2' });
  const clients = Array.from({ length: 20 }, open);
  await Promise.all(clients.map((client) => once(client, 'connect')));
  for (const client of clients) client.write(get(player('p1')).repeat(3));
  await reset(clients);
  const answers = await Promise.all(['q1', 'q2'].map((id) => gateway.query(player(id))));
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
});

test('unfinished bodies of a caller take 16 MB at most; further ones get 503', async () => {
  await start({});
  const head =
    'POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 262144\r\n\r\n';
  const unfinished = Buffer.concat([Buffer.from(head), Buffer.alloc(262_143, ' ')]);
  const clients = Array.from({ length: 70 }, open);
  const responses: string[] = [];
  const refused = new Promise((resolve) => {
    for (const client of clients)
      client.once('data', (data) => responses.push(String(data)) === 6 && resolve(undefined));
  });
  for (const client of clients) client.write(unfinished);
  await refused;
  for (const response of responses) expect(response).toMatch(/^HTTP\/1\.1 503 .*\r\nconnection: close\r\n/is);
  for (const client of clients) client.destroy();
});

test('unfinished bodies of five callers leave memory for a sixth', async () => {
  const signer = secretSigner();
  const { gateway } = await start(signer.env);
  const as = (sub: string) => bearer(signer, { sub, scope: 'players:read' });
  const clients: Socket[] = [];
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    const { authorization } = as(name);
    const head = `POST /graphql HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\n`;
    const unfinished = Buffer.from(`${head}Content-Length: 262144\r\n\r\n${' '.repeat(262_143)}`);
    // One is verified first: until then, a token counts as a failure of its address.
    expect((await gateway.query('{ __typename }', {}, as(name))).status).toBe(200);
    const own = Array.from({ length: 65 }, open);
    clients.push(...own);
    const refused = Promise.race(own.map(async (client) => String((await once(client, 'data'))[0])));
    for (const client of own) client.write(unfinished);
    expect(await refused).toContain(' 503 ');
  }
  expect((await gateway.query('{ __typename }', {}, as('f'))).status).toBe(200);
  for (const client of clients) client.destroy();
});

test('a write whose response does not fit into the memory of its caller says what it did', async () => {
  const { gateway, upstream } = await start({});
  upstream.on('GET /coupon', { json: { coupons: [{ code: 'x'.repeat(300_000) }] } });
  const head =
    'POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 262144\r\n\r\n';
  const clients = Array.from({ length: 63 }, open);
  for (const client of clients) client.write(Buffer.concat([Buffer.from(head), Buffer.alloc(262_143, ' ')]));
  const coupons = 'player(playerUniqueId: "p1") { coupons { code } }';
  await until(async () => (await gateway.query(`{ ${coupons} }`)).status === 503);
  const upsert = (id: string, key: string) =>
    `${key}: upsertPlayer(input: { playerUniqueId: "${id}", attributes: { firstName: "a" } }) { player { coupons { code } } }`;
  const answer = await gateway.query(`mutation { ${upsert('p1', 'first')} ${upsert('p2', 'second')} }`);
  const extensions = { code: 'OVERLOADED', retryable: false, outcome: 'DONE' };
  expect(answer).toMatchObject({
    status: 503,
    errors: ['first', 'second'].map((key) => ({ path: [key], extensions })),
    extensions: { requestId: answer.headers.get('x-request-id') },
  });
  expect(answer.headers.get('retry-after')).toBe('1');
  expect(await gateway.metrics()).toContain('type="mutation",outcome="OVERLOADED"} 1');
  for (const client of clients) client.destroy();
});

test('clients that disconnect while their tokens are verified take no slot', async () => {
  const signer = keySigner('RS256', 'k1');
  const keys = createServer();
  await once(keys.listen(0, '127.0.0.1'), 'listening');
  const { JWT_PUBLIC_KEY: _, ...env } = signer.env;
  const JWT_JWKS_URL = `http://127.0.0.1:${(keys.address() as AddressInfo).port}/keys`;
  const asked = once(keys, 'request');
  const { gateway } = await start({ ...env, JWT_JWKS_URL, MAX_CONCURRENT_OPERATIONS_PER_SERVER_CALLER: '1' });
  const authorization = `Bearer ${token(signer)}`;
  const clients = Array.from({ length: 5 }, open);
  for (const client of clients) client.write(get('{__typename}', `Authorization: ${authorization}`));
  const [, response] = await asked;
  await reset(clients);
  response.end(JSON.stringify({ keys: [signer.jwk] }));
  expect((await gateway.query('{ __typename }', {}, { authorization })).status).toBe(200);
  expect(await gateway.metrics()).toContain('gateway_operations_active 0');
  keys.close();
});

test('a player has an eighth of the slots, and each server leaves an eighth of what the others do not have', async () => {
  const signer = secretSigner();
  const { gateway, upstream } = await start({ ...signer.env, MAX_CONCURRENT_OPERATIONS: '16' });
  upstream.on('GET /player', { fault: 'hang' });
  const as = (sub: string, scope: string) => bearer(signer, { sub, scope: `players:read ${scope}` });
  const query = '{ player(playerUniqueId: "p1") { attributes { city } } }';
  const ending = new AbortController();
  const fill = async (headers: Record<string, string>, number: number) => {
    const before = upstream.requests.length;
    for (let sent = 0; sent < number; sent += 1) {
      const { signal } = ending;
      const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, signal };
      fetch(`${gateway.url}/graphql`, { ...init, body: JSON.stringify({ query }) }).catch(() => {});
    }
    await upstream.received(before + number);
    expect((await gateway.query(query, {}, headers)).codes).toEqual(['OVERLOADED']);
  };
  await fill(as('p1', ''), 2);
  await fill(as('shop', 'any-player'), 13);
  for (const headers of [as('app', 'any-player'), as('p2', '')]) {
    expect((await gateway.query('{ __typename }', {}, headers)).status).toBe(200);
  }
  ending.abort();
  await until(async () => (await gateway.metrics()).includes('gateway_operations_active 0\n'));
});

test('events that go on without their client keep the slot until they are over', async () => {
  const { gateway, upstream } = await start({ MAX_CONCURRENT_OPERATIONS_PER_SERVER_CALLER: '3' });
  const holds = ['a', 'b', 'c'].map(() => upstream.hold('POST /event'));
  const track = (key: string) =>
    `mutation{trackEvents(input:{playerUniqueId:"p1",idempotencyKey:"${key}",events:[{name:"visit"}]}){eventNames}}`;
  const clients = ['a', 'b', 'c'].map((key) => {
    const client = open();
    const body = JSON.stringify({ query: track(key) });
    client.write(
      `POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    return client;
  });
  await upstream.received(3);
  await reset(clients);
  for (let more = 0; more < 20; more += 1) expect((await gateway.query(track(`more-${more}`))).status).toBe(503);
  expect(await gateway.metrics()).toContain('gateway_operations_active 3\n');
  expect(upstream.requests).toHaveLength(3);
  for (const { release } of holds) release();
  await until(async () => (await gateway.metrics()).includes('gateway_operations_active 0\n'));
  expect((await gateway.query(track('a'))).data).toEqual({ trackEvents: { eventNames: ['visit'] } });
  expect(upstream.requests).toHaveLength(3);
});
