import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { beforeEach, expect, test } from '@jest/globals';
import { atEnd } from '../kit/at-end.ts';
import { post } from '../kit/post.ts';
import { startProcess } from '../kit/process.ts';
import { API_KEY, SECRET_KEY, startUpstream } from '../kit/upstream.ts';
import { start, upstream } from './setup.ts';

/* The built program in front of servers that answer as HTTP allows, and of what stands between. */

/** For the rows that look at no log: a process each would take most of their time. */
const usual = await startUpstream();
const shared = await startProcess({ REST_BASE_URL: usual.url });
/** For keys: what one row sent, the gateway knows in the next. */
let row = 0;
beforeEach(() => {
  usual.reset();
  row += 1;
});

/** A REST service of bytes: answers each request on a connection with these bytes. */
async function startBytes(answer: (request: string, socket: Socket) => string) {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => socket.destroy()));
    socket.on('data', (data) => {
      requests.push(data.toString());
      socket.write(answer(data.toString(), socket));
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  atEnd(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${Object(server.address()).port}`, requests, sockets };
}

/** The same for the rows that say which bytes they answer. */
let bytesOf = (_request: string, _socket: Socket) => '';
const service = await startBytes((request, socket) => bytesOf(request, socket));
const inFront = await startProcess({ REST_BASE_URL: `${service.url}/rewards//` });
/** For responses that do not end. The time is long enough for a busy machine to read the head. */
const impatient = await startProcess({ REST_BASE_URL: service.url, REST_TIMEOUT_MS: '800' });
beforeEach(() => void service.requests.splice(0));
const answer = (bytes: typeof bytesOf) => {
  bytesOf = bytes;
};

const READ = { query: '{ player(playerUniqueId: "p1") { attributes { city } coupons { code } } }' };
const UPSERT = {
  query: 'mutation { upsertPlayer(input: { playerUniqueId: "p1" }) { player { id } userErrors { code } } }',
};
const DELETE = { query: 'mutation { deletePlayer(input: { playerUniqueId: "p1" }) { deletedPlayerUniqueId } }' };
const track = (idempotencyKey: string) => ({
  query:
    'mutation ($key: String) { trackEvents(input: { playerUniqueId: "p1", idempotencyKey: $key, events: [{ name: "sign_in" }] }) { eventNames } }',
  variables: { key: idempotencyKey },
});
const PLAYER = JSON.stringify({ playerUniqueId: 'p1', playerAttributes: { city: 'Łódź' }, message: 'ok' });
const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
const LENGTH = `content-length: ${Buffer.byteLength(PLAYER)}\r\n`;

test.each([
  ['gzip', gzipSync],
  ['X-GZIP', gzipSync],
  ['br', brotliCompressSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['identity', (text: string) => Buffer.from(text)],
  ['deflate, gzip', (text: string) => gzipSync(deflateSync(text))],
  // Without the checksum at the end, as some servers send it.
  ['gzip', (text: string) => gzipSync(text).subarray(0, -8)],
  ['deflate', (text: string) => deflateSync(text).subarray(0, -4)],
  // Of a cache that has lost the header.
  [undefined, (text: string) => gzipSync(text)],
  // What is named and not done.
  ['UTF-8', (text: string) => Buffer.from(text)],
  ['gzip', (text: string) => Buffer.from(text)],
])('content-encoding %s is decoded, though none was asked for', async (encoding, encode) => {
  const answer = { raw: encode(PLAYER), headers: encoding ? { 'content-encoding': encoding } : {} };
  for (const endpoint of ['GET /player', 'GET /coupon', 'POST /player', 'POST /event'] as const) {
    usual.on(endpoint, answer);
  }
  expect((await post(shared.url, READ)).data.player.attributes).toEqual({ city: 'Łódź' });
  expect((await post(shared.url, UPSERT)).codes).toEqual([]);
  expect((await post(shared.url, track(`key-${row}`))).data.trackEvents.eventNames).toEqual(['sign_in']);
  expect(new Set(usual.requests.map(({ headers }) => headers['accept-encoding']))).toEqual(new Set(['identity']));
});

test.each([
  ['too large', 'gzip', gzipSync(Buffer.alloc(3_000_000, 0x20))],
  ['corrupt', 'gzip', gzipSync(PLAYER).subarray(0, 40)],
  // For an event, an empty text would be a success, and so would be the beginning of this one.
  ['corrupt', 'gzip', gzipSync(PLAYER).subarray(0, 10)],
  ['corrupt', 'gzip', gzipSync('null and void').subarray(0, -12)],
  ['unsupported', 'compress', Buffer.from([0x1f, 0x9d, 0x90])],
])(
  'a body that is %s when it is decoded is named in the log; its neighbours are served',
  async (problem, encoding, raw) => {
    const gateway = await start();
    upstream.on('GET /coupon', { raw, headers: { 'content-encoding': encoding } });
    const { data, codes } = await post(gateway.url, READ);
    expect([data.player, codes]).toMatchObject([{ coupons: null }, ['UPSTREAM_INVALID_RESPONSE']]);
    expect(data.player.attributes).not.toBeNull();
    const line = await gateway.logged(({ msg }) => msg === 'upstream call failed');
    expect(line.reason).toContain(`(content-encoding: ${encoding}) is ${problem}`);
    // The status of an error says enough.
    upstream.on('POST /event', { status: 503, raw, headers: { 'content-encoding': encoding } });
    const [error] = (await post(gateway.url, track('a'))).errors;
    expect(error?.extensions).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', outcome: 'UNKNOWN' });
  },
);

test('201 and 202 say that a write was done, also with a body that cannot be decoded', async () => {
  const raw = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
  usual.on('POST /event', { status: 202, raw, headers: { 'content-encoding': 'zstd' } });
  usual.on('POST /player', { status: 201, raw, headers: { 'content-encoding': 'gzip' } });
  expect((await post(shared.url, track(`a${row}`))).data.trackEvents.eventNames).toEqual(['sign_in']);
  expect((await post(shared.url, UPSERT)).codes).toEqual([]);
  usual.on('POST /event', { status: 200, raw, headers: { 'content-encoding': 'zstd' } });
  const [error] = (await post(shared.url, track(`b${row}`))).errors;
  expect(error?.extensions).toMatchObject({ code: 'UPSTREAM_INVALID_RESPONSE', outcome: 'UNKNOWN' });
});

/** The same about a player of the row: one player has six of the ten retries that a process begins with. */
const ofRow = <Body extends object>(body: Body): Body => JSON.parse(JSON.stringify(body).replaceAll('p1', `p${row}`));

test.each([301, 302, 303, 307, 308, 408, 421, 425, 429, 511, 521])(
  '%d did nothing: a keyed event is sent again with its key, and a read at once',
  async (status) => {
    const refusal = { status, headers: { location: '/elsewhere' } };
    usual.on('POST /event', refusal, 'usual');
    usual.on('POST /player', refusal, 'usual');
    usual.on('GET /player', refusal, 'usual');
    const event = ofRow(track(`order-${row}`));
    const refused = [await post(shared.url, event), await post(shared.url, ofRow(UPSERT))];
    for (const { errors } of refused) {
      expect(errors[0]?.extensions).toMatchObject({
        ...{ code: 'UPSTREAM_UNAVAILABLE', outcome: 'NOT_DONE', retryable: true },
      });
    }
    expect((await post(shared.url, event)).data.trackEvents.eventNames).toEqual(['sign_in']);
    expect((await post(shared.url, ofRow(UPSERT))).codes).toEqual([]);
    expect((await post(shared.url, ofRow(READ))).codes).toEqual([]);
    expect(usual.calls().filter((call) => call === 'POST /integrations/event')).toHaveLength(2);
    expect(usual.calls().filter((call) => call.includes('elsewhere'))).toEqual([]);
  },
);

test('a firewall that wants a User-Agent lets every call pass; its page is not taken for refused keys', async () => {
  const gateway = await start();
  await post(gateway.url, READ);
  await post(gateway.url, UPSERT);
  for (const { headers } of upstream.requests)
    expect(headers['user-agent']).toMatch(/^referral-gateway\/\d+\.\d+\.\d+/);
  upstream.on('POST /event', { status: 403, raw: '<h1>Blocked</h1>', headers: { 'content-type': 'text/html' } });
  const [error] = (await post(gateway.url, track('b'))).errors;
  expect(error?.extensions).toMatchObject({
    ...{ code: 'UPSTREAM_UNAVAILABLE', outcome: 'NOT_DONE', retryable: true, retryAfterMs: 60_000 },
  });
  const line = await gateway.logged(({ msg }) => msg === 'upstream call failed');
  expect(line.reason).toContain('something in between refused the call');
});

test.each([202, 405])(
  'a challenge of AWS WAF with %d is no response of the service: nothing was done',
  async (status) => {
    const gateway = await start();
    const challenge = { status, raw: '', headers: { 'x-amzn-waf-action': status === 202 ? 'challenge' : 'captcha' } };
    for (const endpoint of ['GET /player', 'POST /player', 'POST /event', 'DELETE /player'] as const) {
      upstream.on(endpoint, challenge, 'usual');
    }
    const read = await post(gateway.url, { query: '{ player(playerUniqueId: "p1") { attributes { city } } }' });
    expect([read.data, read.codes]).toEqual([{ player: null }, ['UPSTREAM_UNAVAILABLE']]);
    for (const write of [UPSERT, DELETE, track('order-19')]) {
      const [error] = (await post(gateway.url, write)).errors;
      expect(error?.extensions).toMatchObject({ outcome: 'NOT_DONE', retryable: true, retryAfterMs: 60_000 });
    }
    const line = await gateway.logged(({ msg }) => msg === 'upstream call failed');
    expect(line.reason).toContain('something in between refused the call');
    expect((await post(gateway.url, track('order-19'))).codes).toEqual([]);
  },
);

test('REST_SECRET_KEY_ON=all sends both keys on each of the six endpoints; otherwise on two', async () => {
  const everything = [
    ...[READ, UPSERT, track('c'), { query: '{ player(playerUniqueId: "p1") { referredFriends { total } } }' }],
    { query: 'mutation { deletePlayer(input: { playerUniqueId: "p1" }) { deletedPlayerUniqueId } }' },
  ];
  for (const [mode, withSecret] of [
    ['sensitive', 2],
    ['all', 6],
  ] as const) {
    upstream.reset();
    const gateway = await start({ REST_SECRET_KEY_ON: mode });
    for (const operation of everything) expect((await post(gateway.url, operation)).codes).toEqual([]);
    const endpoints = new Map(upstream.requests.map(({ endpoint, headers }) => [endpoint, headers]));
    expect(endpoints.size).toBe(6);
    expect([...endpoints.values()].map(({ apikey }) => apikey)).toEqual(Array(6).fill(API_KEY));
    const secrets = [...endpoints.values()].flatMap(({ secretkey }) => secretkey ?? []);
    expect(secrets).toEqual(Array(withSecret).fill(SECRET_KEY));
  }
});

test.each([
  [
    'interim responses',
    `HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n${HEAD}${LENGTH}\r\n${PLAYER}`,
  ],
  ['100 Continue', `HTTP/1.1 100 Continue\r\n\r\n${HEAD}${LENGTH}\r\n${PLAYER}`],
  [
    'interim responses of several kinds',
    `HTTP/1.1 103 x\r\nlink: </a>\r\n\r\nHTTP/1.1 100 \r\n\r\nHTTP/1.1 100 x\r\n\r\n${HEAD}${LENGTH}\r\n${PLAYER}`,
  ],
  ['a head of 50 KB', `${HEAD}${LENGTH}x-trace: ${'t'.repeat(50_000)}\r\n\r\n${PLAYER}`],
  [
    'chunks',
    `${HEAD}transfer-encoding: chunked\r\n\r\n${Buffer.byteLength(PLAYER).toString(16)}\r\n${PLAYER}\r\n0\r\n\r\n`,
  ],
  ['Connection: close', `${HEAD}${LENGTH}connection: close\r\n\r\n${PLAYER}`],
  ['a byte order mark', `${HEAD}content-length: ${Buffer.byteLength(PLAYER) + 3}\r\n\r\n\ufeff${PLAYER}`],
])('%s: a read and a write succeed; slashes at the end of the base path do not matter', async (_case, bytes) => {
  answer((_request, socket) => {
    if (bytes.includes('Connection: close')) process.nextTick(() => socket.end());
    return bytes;
  });
  const read = await post(inFront.url, { query: '{ player(playerUniqueId: "p1") { attributes { city } } }' });
  expect(read.data).toEqual({ player: { attributes: { city: 'Łódź' } } });
  expect((await post(inFront.url, track(`d${row}`))).codes).toEqual([]);
  expect(service.requests.map((request) => request.split(' ')[1])).toEqual([
    '/rewards/api/v3.0/integrations/player/p1',
    '/rewards/api/v3.0/integrations/event',
  ]);
});

test.each([
  ['two equal lengths', `${HEAD}${LENGTH}${LENGTH}\r\n${PLAYER}`],
  ['a length beside chunks', `${HEAD}${LENGTH}transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`],
])('%s: the response counts as a lost connection', async (_case, bytes) => {
  answer(() => bytes);
  expect((await post(inFront.url, READ)).codes).toEqual(['UPSTREAM_UNAVAILABLE']);
  const [error] = (await post(inFront.url, track(`ambiguous-${row}`))).errors;
  expect(error?.extensions).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', outcome: 'UNKNOWN' });
});

test.each([
  ['ISO-8859-1', 'Orléans', Buffer.from('Orl\xe9ans', 'latin1')],
  ['"latin1"; v=1', 'Orléans', Buffer.from('Orl\xe9ans', 'latin1')],
  ['windows-1252', 'Zürich, 5 €', Buffer.from('Z\xfcrich, 5 \x80', 'latin1')],
  ['iso-8859-1', 'Łódź', Buffer.from('Łódź')],
  ['none-such', 'Orl\ufffdans', Buffer.from('Orl\xe9ans', 'latin1')],
])('a response in the character set %s has the city %s', async (charset, city, bytes) => {
  const [before, after] = PLAYER.split('Łódź');
  const raw = Buffer.concat([Buffer.from(before ?? ''), bytes, Buffer.from(after ?? '')]);
  usual.on('GET /player', { raw, headers: { 'content-type': `application/json;charset=${charset}` } });
  const read = { query: '{ player(playerUniqueId: "p1") { attributes { city } } }' };
  expect((await post(shared.url, read)).data).toEqual({ player: { attributes: { city } } });
});

test.each([
  ['little', '; charset=UTF-16', (bytes: Buffer) => bytes],
  ['little', '', (bytes: Buffer) => bytes],
  ['big', '; charset=UTF-16', (bytes: Buffer) => bytes.swap16()],
  ['big', '; charset=utf-8', (bytes: Buffer) => bytes.swap16()],
])(
  'a response in UTF-16 is read in the byte order of its mark: %s end first, type with "%s"',
  async (_, more, order) => {
    const raw = order(Buffer.from(`\ufeff${PLAYER}`, 'utf16le'));
    usual.on('GET /player', { raw, headers: { 'content-type': `application/json${more}` } });
    const read = { query: '{ player(playerUniqueId: "p1") { attributes { city } } }' };
    expect((await post(shared.url, read)).data).toEqual({ player: { attributes: { city: 'Łódź' } } });
  },
);

test.each([
  ['utf-16', (bytes: Buffer) => bytes],
  ['UTF-16BE', (bytes: Buffer) => bytes.swap16()],
])('a response in %s without a mark, whose bytes are UTF-8 too, is read', async (charset, order) => {
  const raw = order(Buffer.from('{"playerUniqueId":"p1","playerAttributes":{"city":"Pune"}}', 'utf16le'));
  usual.on('GET /player', { raw, headers: { 'content-type': `application/json; charset=${charset}` } });
  const read = { query: '{ player(playerUniqueId: "p1") { attributes { city } } }' };
  expect((await post(shared.url, read)).data).toEqual({ player: { attributes: { city: 'Pune' } } });
});

test.each([
  [200, 'text/html', '<html>Sign in</html>', 'with a body that is no JSON object'],
  [403, 'text/plain', 'RBAC: access denied', 'something in between refused the call'],
])('%d with %s, and what it may be of, is named in the log', async (status, type, raw, reason) => {
  const gateway = await start();
  upstream.on('GET /player', { status, raw, headers: { 'content-type': type } });
  await post(gateway.url, { query: '{ player(playerUniqueId: "p1") { attributes { city } } }' });
  const line = await gateway.logged(({ msg }) => msg === 'upstream call failed');
  expect(line.reason).toContain(reason);
});

test.each([
  [302, 'is lost'],
  [302, 'does not end'],
  [409, 'is lost'],
  [409, 'does not end'],
  [429, 'is lost'],
  [429, 'does not end'],
])('%d whose body %s did nothing: the key of its event is free', async (status, end) => {
  const head = `HTTP/1.1 ${status} x\r\ncontent-type: application/json\r\ncontent-length: 40\r\n\r\n{"code":`;
  let isRefusing = true;
  answer((_request, socket) => {
    if (!isRefusing) return `${HEAD}${LENGTH}\r\n${PLAYER}`;
    if (end === 'is lost') process.nextTick(() => socket.end());
    return head;
  });
  const { url } = end === 'is lost' ? inFront : impatient;
  for (const write of [UPSERT, DELETE, track(`order-${row}`)]) {
    const [error] = (await post(url, write)).errors;
    expect(error?.extensions).toMatchObject({ outcome: 'NOT_DONE' });
  }
  isRefusing = false;
  expect((await post(url, track(`order-${row}`))).codes).toEqual([]);
  expect(service.requests.filter((request) => request.includes('/event '))).toHaveLength(2);
});

test.each([
  ['201', 'content-type: text/plain\r\ncontent-length: 7\r\n\r\nCreated'],
  ['202', 'content-type: application/json\r\ncontent-length: 40\r\n\r\n{"queued":'],
])('%s says that a write is done, whatever text follows, and whether it ends: %j', async (status, rest) => {
  answer((_request, socket) => {
    process.nextTick(() => socket.end());
    return `HTTP/1.1 ${status} x\r\n${rest}`;
  });
  const upsert = { query: 'mutation { upsertPlayer(input: { playerUniqueId: "p1" }) { serviceId } }' };
  for (const write of [upsert, DELETE, track(`k${row}`)]) expect((await post(inFront.url, write)).codes).toEqual([]);
  expect((await post(inFront.url, track(`k${row}`))).data.trackEvents.eventNames).toEqual(['sign_in']);
  expect(service.requests).toHaveLength(3);
  const read = await post(inFront.url, { query: '{ player(playerUniqueId: "p1") { attributes { city } } }' });
  expect(read.codes).toHaveLength(1);
});

test.each([
  ['a length that is too large', 'content-length: 99', '{"message":"ok"}', undefined],
  ['chunks without the last one', 'transfer-encoding: chunked', '10\r\n{"message":"ok"}\r\n', undefined],
  ['a mark and chunks without the last one', 'transfer-encoding: chunked', '5\r\n\ufeff{}\r\n', undefined],
  ['an error and chunks without the last one', 'transfer-encoding: chunked', '9\r\n{"error":1}\r\n', 'UNKNOWN'],
  ['the beginning of an object', 'content-length: 99', '{"a":{}', 'UNKNOWN'],
  ['a text', 'content-length: 99', '"OK"', 'UNKNOWN'],
  ['nothing', 'content-length: 99', '', 'UNKNOWN'],
])(
  '200 with %s, whose end does not arrive: a write is done if its object is whole',
  async (_, length, text, outcome) => {
    answer((_request, socket) => {
      process.nextTick(() => socket.end());
      return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${length}\r\n\r\n${text}`;
    });
    const upsert = { query: 'mutation { upsertPlayer(input: { playerUniqueId: "p1" }) { serviceId } }' };
    for (const write of [upsert, track(`order-${row}`)]) {
      const [error] = (await post(inFront.url, write)).errors;
      expect(error?.extensions?.['outcome']).toBe(outcome);
    }
    const read = await post(inFront.url, { query: '{ player(playerUniqueId: "p1") { attributes { city } } }' });
    expect(read.codes).toHaveLength(1);
  },
);

test('204 and 205 are a success without a body', async () => {
  for (const status of [204, 205]) {
    usual.on('POST /event', { status });
    expect((await post(shared.url, track(`e${status}`))).codes).toEqual([]);
  }
});

test.each([
  ['204', 'content-length: 2\r\n\r\n{}'],
  ['204', 'content-length: 2\r\n\r\n'],
  ['204', 'transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n'],
  ['205', 'content-length: 2\r\n\r\n'],
])('%s followed by %j is a success without a body, and so is what is sent next', async (status, rest) => {
  answer((_request, socket) => {
    if (status === '205') process.nextTick(() => socket.end());
    return `HTTP/1.1 ${status} x\r\ncontent-type: application/json\r\n${rest}`;
  });
  for (const write of [track(`i${row}`), track(`j${row}`), UPSERT])
    expect((await post(inFront.url, write)).codes).toEqual([]);
  expect(service.requests.filter((request) => request.startsWith('POST'))).toHaveLength(3);
});

test('the gateway closes an idle connection first, and replaces one at its age', async () => {
  const service = await startBytes(() => `${HEAD}${LENGTH}\r\n${PLAYER}`);
  const gateway = await startProcess({ REST_BASE_URL: service.url, REST_IDLE_TIMEOUT_MS: '50' });
  expect((await post(gateway.url, track('f'))).codes).toEqual([]);
  const [first] = service.sockets;
  if (first && !first.readableEnded) await once(first, 'end');
  expect((await post(gateway.url, track('g'))).codes).toEqual([]);
  expect(service.sockets.size).toBe(2);
  const aged = await startProcess({
    REST_BASE_URL: service.url,
    REST_CONNECTION_MAX_AGE_S: '1',
    REST_IDLE_TIMEOUT_MS: '60000',
  });
  const before = service.sockets.size;
  // In use all the time, the connection is not idle.
  for (let n = 0; service.sockets.size < before + 2; n += 1) {
    expect((await post(aged.url, track(`h${n}`))).codes).toEqual([]);
  }
});
