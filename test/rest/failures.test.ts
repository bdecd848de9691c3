import { describe, expect, test } from '@jest/globals';
import type { RestClient } from '../../src/rest/client.ts';
import type { Answer, EndpointName } from '../kit/upstream.ts';
import { failure, operation, start } from './setup.ts';

const endpoints: [EndpointName, (rest: RestClient) => Promise<unknown>][] = [
  ['GET /player', (rest) => rest.getPlayer('p1', undefined, operation())],
  ['GET /coupon', (rest) => rest.listCoupons('p1', operation())],
  ['GET /referrals', (rest) => rest.listReferrals('p1', 1, 50, operation())],
  ['POST /player', (rest) => rest.upsertPlayer({ playerUniqueId: 'p1' }, operation())],
  ['POST /event', (rest) => rest.trackEvents({ playerUniqueId: 'p1', events: {} }, operation())],
  ['DELETE /player', (rest) => rest.deletePlayer('p1', operation())],
];

const html = { 'content-type': 'text/html' };
const big = JSON.stringify({ referralLink: 'x'.repeat(3000) });
const rejected = { code: 'UPSTREAM_REJECTED', retryable: false };
const invalid = { code: 'UPSTREAM_INVALID_RESPONSE', retryable: false };
const misconfigured = { code: 'UPSTREAM_MISCONFIGURED', retryable: false };
const unavailable = { code: 'UPSTREAM_UNAVAILABLE', retryable: true };

/**
 * A failed write as its caller sees it. The services of the table have received every request: what they refused was not
 * done, of everything else nobody knows. What was not done may be sent again, an event must not even have been received.
 */
function ofWrite(endpoint: EndpointName, answer: Answer, { retryable, ...error }: Record<string, unknown>) {
  if (endpoint.startsWith('GET')) return { ...error, retryable, outcome: undefined };
  const { status = 200, fault } = answer;
  const isRefused = fault === undefined && status >= 400 && status < 500;
  const mayRepeat = isRefused && endpoint !== 'POST /event';
  return { ...error, retryable: retryable === true && mayRepeat, outcome: isRefused ? 'NOT_DONE' : 'UNKNOWN' };
}

/** What the service does, and what becomes of every operation. */
const table: [string, Answer, Record<string, unknown>][] = [
  ['400', { status: 400, json: { code: 5, message: 'no' } }, { ...rejected, status: 400 }],
  ['409 without a body', { status: 409 }, { ...rejected, status: 409 }],
  ['400 in HTML', { status: 400, raw: '<p>', headers: html }, { ...rejected, status: 400 }],
  ['401', { status: 401 }, { ...misconfigured, status: 401 }],
  ['403', { status: 403 }, { ...misconfigured, status: 403 }],
  ['500', { status: 500, raw: 'oops' }, { ...unavailable, status: 500 }],
  ['503', { status: 503, headers: { 'retry-after': '120' } }, { ...unavailable, status: 503, retryAfterMs: 30_000 }],
  ['429', { status: 429, headers: { 'retry-after': '120' } }, { ...unavailable, status: 429, retryAfterMs: 30_000 }],
  [
    'an unreadable Retry-After',
    { status: 503, headers: { 'retry-after': 'soon' } },
    { ...unavailable, retryAfterMs: undefined },
  ],
  ['a redirect', { status: 302, headers: { location: '/api/v3.0/elsewhere' } }, { ...invalid, status: 302 }],
  ['a permanent redirect', { status: 308, headers: { location: 'http://127.0.0.1:1/' } }, { ...invalid, status: 308 }],
  ['HTML', { raw: '<html>', headers: html }, invalid],
  ['JSON that says it is HTML', { json: {}, headers: html }, invalid],
  ['broken JSON', { raw: '{"a":' }, invalid],
  ['two values', { raw: '{}{}' }, invalid],
  ['a list', { json: [{ playerUniqueId: 'p1' }] }, invalid],
  ['a text', { json: 'p1' }, invalid],
  ['a number', { json: 7 }, invalid],
  ['422 of a busy player', { status: 422, json: { code: 2001 } }, { ...unavailable, status: 422 }],
  ['422 with another code', { status: 422, json: { code: 7 } }, { ...rejected, status: 422 }],
  ['another encoding', { raw: 'x', headers: { 'content-encoding': 'gzip' } }, invalid],
  ['a body over the limit', { raw: big }, invalid],
  ['a body over the limit in pieces', { raw: big, headers: { 'transfer-encoding': 'chunked' } }, invalid],
  ['a body without end', { fault: 'flood' }, invalid],
  ['a cut connection', { fault: 'reset' }, unavailable],
  ['a body that is cut', { json: { a: 'b' }, fault: 'cut' }, unavailable],
  ['a shorter body than announced', { raw: '{}', headers: { 'content-length': '20' }, fault: 'cut' }, unavailable],
];

describe.each(table)('%s', (_behaviour, answer, expected) => {
  test.each(endpoints)('on %s', async (endpoint, call) => {
    const { upstream, rest } = await start({ maxResponseBytes: 2000 });
    upstream.on(endpoint, answer);
    expect(await failure(call(rest))).toMatchObject(ofWrite(endpoint, answer, expected));
    expect(upstream.requests.every((request) => request.path !== '/elsewhere')).toBe(true);
  });
});

describe.each<[string, Answer]>([
  ['an empty body', { raw: '' }],
  ['204', { status: 204 }],
  ['white space', { raw: ' \n ' }],
  ['an empty body without a type', { raw: '', headers: { 'content-type': '' } }],
  ['an empty object', { json: {} }],
  [
    'an object of unknown members',
    { json: { message: 'ok', playerAttributes: null, coupons: null, referredFriends: null } },
  ],
  ['201', { status: 201, json: {} }],
  ['a byte order mark', { raw: '\ufeff{}' }],
  ['another JSON type', { raw: '{}', headers: { 'content-type': 'application/vnd.api+json; charset=utf-8' } }],
])('%s is a success', (_case, answer) => {
  test.each([
    ['GET /player', { id: 'p1', playerUniqueId: 'p1', attributes: undefined, referralLink: undefined }],
    ['GET /coupon', []],
    ['GET /referrals', { referredFriends: [] }],
    ['POST /player', { playerUniqueId: 'p1', serviceId: undefined, referralLink: undefined }],
    ['POST /event', undefined],
    ['DELETE /player', 'deleted'],
  ] as const)('on %s', async (endpoint, expected) => {
    const { upstream, rest } = await start();
    upstream.on(endpoint, answer);
    const result = await endpoints.find(([name]) => name === endpoint)?.[1](rest);
    if (typeof expected === 'object') expect(result).toMatchObject(expected);
    else expect(result).toBe(expected);
  });
});

const acknowledgements: [string, Answer][] = [
  ...['OK', '"ok"', 'true', '[]', 'null', ' ok ', '{"message":"queued"}', ''].map((raw): [string, Answer] => [
    raw,
    { raw },
  ]),
  ['OK as plain text', { raw: 'OK', headers: { 'content-type': 'text/plain' } }],
  ['OK without a type', { raw: 'OK', headers: { 'content-type': '' } }],
];
const noAcknowledgements: [string, Answer][] = [
  ...['no', '7', 'false', '["a"]', '"queued"', '<p>', 'OK OK'].map((raw): [string, Answer] => [raw, { raw }]),
  ['OK as HTML', { raw: 'OK', headers: { 'content-type': 'text/html; charset=utf-8' } }],
  ['nothing as HTML', { raw: '', headers: html }],
  ['OK as XHTML', { raw: 'OK', headers: { 'content-type': 'application/xhtml+xml' } }],
];

describe.each([
  ['DELETE /player', 'deleted'],
  ['POST /event', undefined],
] as const)('the response to %s', (endpoint, done) => {
  const call = async (answer: Answer) => {
    const { upstream, rest } = await start();
    upstream.on(endpoint, answer);
    return endpoints.find(([name]) => name === endpoint)?.[1](rest);
  };

  test.each(acknowledgements)('%s acknowledges the write', async (_body, answer) => {
    expect(await call(answer)).toBe(done);
  });

  test.each(noAcknowledgements)('%s does not: its outcome is unknown', async (_body, answer) => {
    expect(await failure(call(answer))).toMatchObject({ ...invalid, outcome: 'UNKNOWN' });
  });
});

describe.each<[string, Answer, warned: boolean]>([
  ['404', { status: 404, json: { code: 101, message: 'unknown' } }, false],
  ['404 without a body', { status: 404 }, true],
  ['404 of a proxy', { status: 404, raw: '<h1>Not found</h1>' }, true],
  ['400 with code 101', { status: 400, json: { code: 101 } }, false],
  ['200 with code 101', { json: { code: 101, message: 'unknown' } }, false],
])('%s', (_case, answer, warned) => {
  test.each([
    ['GET /player', null],
    ['GET /coupon', null],
    ['GET /referrals', null],
    ['DELETE /player', 'unknown'],
  ] as const)('on %s says that the player is unknown', async (endpoint, expected) => {
    const { upstream, rest, seen } = await start();
    upstream.on(endpoint, answer);
    expect(await endpoints.find(([name]) => name === endpoint)?.[1](rest)).toBe(expected);
    const [method] = endpoint.split(' ');
    expect(seen.decodeWarnings).toEqual(warned ? [expect.stringMatching(`^404 ${method} /`)] : []);
  });
});

test('404 on a write that names its player in the body is a refusal', async () => {
  const { upstream, rest } = await start();
  upstream.on('POST /event', { status: 404 });
  expect(await failure(rest.trackEvents({ playerUniqueId: 'p1', events: {} }, operation()))).toMatchObject({
    ...rejected,
    status: 404,
  });
});

test('an answer about another player is refused, on a read and on an upsert', async () => {
  const { upstream, rest } = await start();
  upstream.on('GET /player', { json: { playerUniqueId: 'p2' } });
  upstream.on('POST /player', { json: { playerUniqueId: 'p2' } });
  expect(await failure(rest.getPlayer('p1', undefined, operation()))).toMatchObject(invalid);
  expect(await failure(rest.upsertPlayer({ playerUniqueId: 'p1' }, operation()))).toMatchObject({
    ...invalid,
    outcome: 'UNKNOWN',
  });
});

test('the message names the endpoint and holds neither id nor key; what the service said is for the log', async () => {
  const { upstream, rest } = await start();
  upstream.on('GET /coupon', { status: 400, raw: `${'secret of p1 '.repeat(2_000)}` });
  const error: unknown = await rest.listCoupons('p1', operation()).catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    message: 'GET /integrations/transactions/{playerUniqueId}/coupon responded 400',
    excerpt: expect.stringMatching(/^(?:secret of p1 )+/),
  });
  expect(Object(error).excerpt).toHaveLength(16_384);
});

test('no connection: no write is done, and each may be sent again', async () => {
  const { upstream, rest } = await start();
  await upstream.stop();
  for (const [endpoint, call] of endpoints) {
    const outcome = endpoint.startsWith('GET') ? undefined : 'NOT_DONE';
    expect([endpoint, await failure(call(rest))]).toEqual([
      endpoint,
      expect.objectContaining({ ...unavailable, outcome }),
    ]);
  }
});

test('no connection: nothing can be reached', async () => {
  const { upstream, rest } = await start();
  await upstream.stop();
  const op = operation();
  expect(await failure(rest.getPlayer('p1', undefined, op))).toMatchObject({ ...unavailable, status: undefined });
  expect(op.records).toMatchObject([{ error: 'UPSTREAM_UNAVAILABLE', status: undefined }]);
});

test('an answer nobody asked for is never taken for the answer to the next request', async () => {
  const { upstream, rest } = await start({ connections: 1 });
  const link = (id: string) => ({ json: { playerUniqueId: id, referralLink: `https://a.example/${id}` } });
  upstream.on('GET /player', { ...link('p1'), fault: 'twice' }, (request) => link(request.playerUniqueId ?? ''));
  expect(await rest.getPlayer('p1', undefined, operation())).toMatchObject({ referralLink: 'https://a.example/p1' });
  expect(await rest.getPlayer('p2', undefined, operation())).toMatchObject({ referralLink: 'https://a.example/p2' });
});

test('why the service refused is kept for the log, without the values of the request', async () => {
  const { upstream, rest } = await start();
  const message =
    'mobile \\"+201 234 5678\\" of ANN SMITH (p-1): not valid for tag gold, see help@shop.example, keys api-key-for-tests, secret-key-for-tests';
  upstream.on('POST /player', {
    status: 400,
    raw: `{"message":"${message}","code":203,"trace":"${'x'.repeat(2_000)}"}`,
  });
  const playerAttributes = { firstName: 'Ann Smith', mobile: '+2012345678', tags: 'gold' };
  const error = await rest
    .upsertPlayer({ playerUniqueId: 'p-1', playerAttributes }, operation())
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    code: 'UPSTREAM_REJECTED',
    outcome: 'NOT_DONE',
    refusal: { code: '203', message: 'mobile "…" of … (…): not valid for tag …, see … keys …, …' },
  });
});

test.each([
  ['one long value', { firstName: 'x'.repeat(100_000) }],
  [
    'many values',
    Object.fromEntries(Array.from({ length: 150 }, (_, number) => [`m${number}`, `${number}`.repeat(60)])),
  ],
])('a refused write with %s fails as any other', async (_name, custom) => {
  const { upstream, rest } = await start();
  upstream.on('POST /player', { status: 400, raw: '{"code":203,"message":"no firstName"}' });
  const playerAttributes = { firstName: 'Ann', custom };
  const error = await rest
    .upsertPlayer({ playerUniqueId: 'p-1', playerAttributes }, operation())
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'UPSTREAM_REJECTED', refusal: { code: '203', message: 'no firstName' } });
});

test.each([
  ['an error object', { error: { code: 203, message: 'no firstName' } }],
  ['a list of errors', { errors: [{ code: '203', detail: 'no firstName' }] }],
])('the reason is read in %s', async (_name, json) => {
  const { upstream, rest } = await start();
  upstream.on('GET /coupon', { status: 400, raw: `\uFEFF${JSON.stringify(json)}` });
  const error: unknown = await rest.listCoupons('p1', operation()).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ refusal: { code: '203', message: 'no firstName' } });
});

test('a value that is cut by the end of the log is left out whole', async () => {
  const { upstream, rest } = await start();
  const id = 'ännäöü.smith';
  const message = `${'y'.repeat(180)} not for ${id} and ${'z'.repeat(600)}`;
  upstream.on('POST /player', { status: 400, json: { message } });
  const error: unknown = await rest
    .upsertPlayer({ playerUniqueId: id }, operation())
    .catch((reason: unknown) => reason);
  expect(Object(error).refusal.message).toMatch(/^y{180} not for … and z*$/);
});

test.each([
  ['too long', JSON.stringify({ code: 203, message: 'no', trace: 'x'.repeat(20_000) })],
  ['cut', '{"code":203,"message":"not for p'],
  ['no object', '["message"]'],
])('of a body that is %s, no refusal is logged', async (_name, raw) => {
  const { upstream, rest } = await start();
  upstream.on('GET /coupon', { status: 400, raw });
  const error: unknown = await rest.listCoupons('p1', operation()).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'UPSTREAM_REJECTED', refusal: undefined });
});

test.each<[name: string, id: string, refusal: object, logged: object | undefined]>([
  [
    'an encoded id',
    'maria@example.com',
    { message: 'Cannot GET /player/maria%40example.com' },
    { message: 'Cannot GET /player/…' },
  ],
  ['an encoded name', 'Maria Muster', { message: 'no Maria%20Muster' }, { message: 'no …' }],
  ['a code that is a value', 'Maria-7', { code: 'maria-7', message: 'no' }, { code: undefined, message: 'no' }],
  [
    'a code that is a telephone number',
    'p1',
    { code: '41791234567', message: 'no' },
    { code: undefined, message: 'no' },
  ],
  ['another form of Unicode', 'Zoë'.normalize('NFC'), { message: `no ${'Zoë'.normalize('NFD')}` }, { message: 'no …' }],
])('the log does not have %s', async (_name, id, refusal, logged) => {
  const { upstream, rest } = await start();
  upstream.on('GET /coupon', { status: 400, json: refusal });
  const error: unknown = await rest.listCoupons(id, operation()).catch((reason: unknown) => reason);
  expect(Object(error).refusal).toEqual(logged);
});

test('a refusal of more values than can be removed is not in the log', async () => {
  const { upstream, rest } = await start();
  upstream.on('POST /event', { status: 400, json: { code: 203, message: 'no Maria Muster' } });
  const events = Object.fromEntries(
    Array.from({ length: 201 }, (_, number) => [
      `event-${number}`,
      { name: number === 0 ? 'Maria Muster' : `${number}` },
    ]),
  );
  const error: unknown = await rest
    .trackEvents({ playerUniqueId: 'p1', events }, operation())
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'UPSTREAM_REJECTED' });
  expect(Object(error).refusal).toBeUndefined();
});

test('a refusal without words of its own has none in the log', async () => {
  const { upstream, rest } = await start();
  upstream.on('GET /coupon', { status: 400, raw: '<html>no</html>' });
  const error: unknown = await rest.listCoupons('p1', operation()).catch((reason: unknown) => reason);
  expect(Object(error).refusal).toBeUndefined();
});
