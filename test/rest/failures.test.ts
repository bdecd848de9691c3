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
 * done, of everything else nobody knows. What was not done may be sent again.
 */
function ofWrite(endpoint: EndpointName, answer: Answer, { retryable, ...error }: Record<string, unknown>) {
  if (endpoint.startsWith('GET')) return { ...error, retryable, outcome: undefined };
  const { status = 200, fault } = answer;
  const isRefused = fault === undefined && status >= 400 && status < 500;
  return { ...error, retryable: retryable === true && isRefused, outcome: isRefused ? 'NOT_DONE' : 'UNKNOWN' };
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
  ['404 with the code as text', { status: 404, json: { code: '101' } }, false],
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

test('the message names the endpoint and holds neither id nor key', async () => {
  const { upstream, rest } = await start();
  upstream.on('GET /coupon', { status: 400, raw: 'secret of p1' });
  const error: unknown = await rest.listCoupons('p1', operation()).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ message: 'GET /integrations/transactions/{playerUniqueId}/coupon responded 400' });
  expect(JSON.stringify(error)).not.toContain('p1');
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

test.each<[json: unknown, code: number | undefined]>([
  [{ code: 203, message: 'no firstName' }, 203],
  [{ code: '203', message: 'no firstName' }, 203],
  [{ code: 'maria-7', message: 'no' }, undefined],
  [{ code: 41_791_234_567, message: 'no' }, undefined],
  [{ message: 'no Maria Muster' }, undefined],
  ['no', undefined],
])('of the error %j the log gets the code %j', async (json, code) => {
  const { upstream, rest } = await start();
  upstream.on('GET /coupon', { status: 400, json });
  const error: unknown = await rest.listCoupons('p1', operation()).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ status: 400, serviceCode: code });
  expect(JSON.stringify(error)).not.toMatch(/Maria|firstName/);
});
