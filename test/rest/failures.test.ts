import { expect, test } from '@jest/globals';
import { isTlsRefusal } from '../../src/rest/upstream-error.ts';
import type { Answer, EndpointName } from '../kit/upstream.ts';
import { CALLS, failure, operation, read, start, track } from './setup.ts';

const READS: EndpointName[] = ['GET /player', 'GET /coupon', 'GET /referrals'];
const WRITES: EndpointName[] = ['POST /player', 'POST /event', 'DELETE /player'];
const ENDPOINTS = [...READS, ...WRITES];

/** What becomes of the call of each endpoint that gets this response. */
async function answerAll(endpoints: EndpointName[], answer: Answer, observe = (call: Promise<unknown>) => call) {
  const started = await start();
  for (const endpoint of endpoints) started.upstream.on(endpoint, answer);
  const calls = endpoints.map(async (endpoint) => [endpoint, await observe(CALLS[endpoint](started.rest))]);
  return { ...started, results: Object.fromEntries(await Promise.all(calls)) };
}

const same = (endpoints: EndpointName[], result: unknown) =>
  Object.fromEntries(endpoints.map((endpoint) => [endpoint, result]));

const html = { 'content-type': 'text/html' };
const xhtml = { 'content-type': 'Application/XHTML+XML' };
const plain = { 'content-type': 'text/plain; charset=utf-8' };
const rejected = { code: 'UPSTREAM_REJECTED', retryable: false };
const invalid = { code: 'UPSTREAM_INVALID_RESPONSE', retryable: false };
const misconfigured = { code: 'UPSTREAM_MISCONFIGURED', retryable: true, retryAfterMs: 60_000 };
const unavailable = { code: 'UPSTREAM_UNAVAILABLE', retryable: true };
const kept = { ...unavailable, retryAfterMs: 60_000 };
const later = { 'retry-after': '120' };
const past = { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' };

/** Statuses of 5xx with which the service has not seen the request. */
const NOT_REACHED = [511, 521, 523, 525, 526, 530, 561];

/** What the service does, and what becomes of every call. */
test.each<[string, Answer, Record<string, unknown>]>([
  ['400', { status: 400, json: { code: 5, message: 'no' } }, { ...rejected, status: 400 }],
  ['401', { status: 401 }, { ...misconfigured, status: 401 }],
  ['403', { status: 403 }, { ...misconfigured, status: 403 }],
  ['404 with another code', { status: 404, json: { code: 7 } }, { ...rejected, status: 404 }],
  ['422 with another code', { status: 422, json: { code: 7 } }, { ...rejected, status: 422 }],
  ['422 of a busy player', { status: 422, json: { code: 2001 } }, { ...unavailable, status: 422, retryAfterMs: 200 }],
  ['429', { status: 429, headers: later }, { ...unavailable, status: 429, retryAfterMs: 30_000 }],
  ['500', { status: 500, raw: 'oops' }, { ...unavailable, status: 500, retryAfterMs: undefined }],
  ['503', { status: 503, headers: later }, { ...unavailable, status: 503, retryAfterMs: 30_000 }],
  ['a redirect', { status: 308, headers: { location: '/api/v3.0/elsewhere' } }, { ...unavailable, status: 308 }],
  ['408', { status: 408 }, { ...unavailable, status: 408, retryAfterMs: 200 }],
  ['421', { status: 421 }, { ...unavailable, status: 421, retryAfterMs: 200 }],
  ['425', { status: 425 }, { ...unavailable, status: 425, retryAfterMs: 200 }],
  ['421 with Retry-After', { status: 421, headers: later }, { ...unavailable, status: 421, retryAfterMs: 30_000 }],
  ['307 with Retry-After', { status: 307, headers: later }, { ...unavailable, status: 307, retryAfterMs: 30_000 }],
  ['503 until a time that is past', { status: 503, headers: past }, { ...unavailable, status: 503, retryAfterMs: 0 }],
  ['400 with the code of a busy player', { status: 400, json: { code: 2001 } }, { ...rejected, status: 400 }],
  ['401 with the code of an unknown player', { status: 401, json: { code: 101 } }, { ...misconfigured, status: 401 }],
  ['500 with the code of an unknown player', { status: 500, json: { code: 101 } }, { ...unavailable, status: 500 }],
  ['403 with a page as XHTML', { status: 403, raw: '<html/>', headers: xhtml }, { ...kept, status: 403 }],
  ['403 with a page', { status: 403, raw: '<html>', headers: html }, { ...kept, status: 403 }],
  [
    '403 with a page that cannot be decoded',
    { status: 403, raw: '\x28\xb5', headers: { ...html, 'content-encoding': 'zstd' } },
    { ...kept, status: 403 },
  ],
  ['400 with a page', { status: 400, raw: '<html>', headers: html }, { ...kept, status: 400 }],
  ['404 with a page', { status: 404, raw: '<html>', headers: html }, { ...kept, status: 404 }],
  ['413 with a page', { status: 413, raw: '<html>', headers: html }, { ...kept, status: 413 }],
  [
    '404 of an ingress without a route',
    { status: 404, raw: 'no such route', headers: plain },
    { ...kept, status: 404 },
  ],
  [
    '404 of a gateway that responds in XML',
    { status: 404, raw: '<Error/>', headers: { 'content-type': 'application/xml' } },
    { ...kept, status: 404 },
  ],
  ['407', { status: 407 }, { ...kept, status: 407 }],
  ['400 with a text', { status: 400, raw: 'no such lang', headers: plain }, { ...rejected, status: 400 }],
  ['403 with a text', { status: 403, raw: 'Forbidden', headers: plain }, { ...misconfigured, status: 403 }],
  ['409 with JSON that says it is a text', { status: 409, json: {}, headers: plain }, { ...rejected, status: 409 }],
  ['409 with JSON that says it is HTML', { status: 409, json: {}, headers: html }, { ...rejected, status: 409 }],
  ['403 without a body that says it is HTML', { status: 403, headers: html }, { ...misconfigured, status: 403 }],
  ['499', { status: 499 }, { ...unavailable, status: 499 }],
  ...NOT_REACHED.map((status): [string, Answer, Record<string, unknown>] => [
    `${status}`,
    { status, raw: '<html>', headers: html },
    { ...unavailable, status },
  ]),
  ['522', { status: 522, raw: '<html>', headers: html }, { ...unavailable, status: 522 }],
  ['201 with a page', { status: 201, raw: '<p>OK', headers: html }, { ...invalid, status: 201 }],
  ['a page', { raw: '<p>OK', headers: html }, invalid],
  ['broken JSON', { raw: '{"a":' }, invalid],
  ['a list', { json: [{ playerUniqueId: 'p1' }] }, invalid],
  ['a body without end', { fault: 'flood' }, invalid],
  ['a cut connection', { fault: 'reset' }, unavailable],
  ['a body that is cut', { json: { a: 'b' }, fault: 'cut' }, unavailable],
])('%s: the error, and the outcome of a write', async (_behaviour, answer, { retryable, ...error }) => {
  const { results, upstream } = await answerAll(ENDPOINTS, answer, failure);
  // The service has received every request: what it refused was not done, of everything else nobody knows.
  const { status = 200, fault } = answer;
  const isRefused = fault === undefined && ((status >= 300 && status < 499) || NOT_REACHED.includes(status));
  const outcome = isRefused ? 'NOT_DONE' : 'UNKNOWN';
  expect(results).toMatchObject({
    ...same(READS, { ...error, retryable, outcome: undefined }),
    ...same(WRITES, { ...error, retryable: retryable && isRefused, outcome }),
  });
  // Only what may pass is asked for again, and only by reads and deletes.
  const isRetried = retryable && !(Number(error['retryAfterMs']) >= 30_000);
  expect(upstream.calls()).toHaveLength(isRetried ? 3 * READS.length + 3 + 2 : ENDPOINTS.length);
});

const NULLS = { message: 'ok', playerAttributes: null, coupons: null, referredFriends: null };

test.each<[string, Answer]>([
  ['white space', { raw: ' \n ' }],
  ['204', { status: 204 }],
  ['an object of unknown and absent properties', { json: NULLS }],
  ['a byte order mark', { raw: '\ufeff{}' }],
  ['JSON that says it is HTML', { json: NULLS, headers: html }],
  ['no body that says it is HTML', { raw: '', headers: html }],
])('%s is a success', async (_case, answer) => {
  expect((await answerAll(ENDPOINTS, answer)).results).toEqual({
    'GET /player': { id: 'p1', playerUniqueId: 'p1', attributes: undefined, referralLink: undefined },
    'GET /coupon': [],
    'GET /referrals': { referredFriends: [] },
    'POST /player': { serviceId: undefined },
    'POST /event': undefined,
    'DELETE /player': 'deleted',
  });
});

test('an error that is sent with 200, or the response of another service, is no success of a read', async () => {
  for (const json of [{ code: 99, message: 'database is away' }, { error: 'internal' }, { status: 'up' }]) {
    const { results, seen } = await answerAll(READS, { json }, failure);
    expect(results).toMatchObject(same(READS, { ...invalid, status: 200 }));
    expect(seen.withoutCode).toEqual([]);
  }
});

test.each([
  { status: 'up' },
  { code: 0, message: 'queued' },
  { code: '200' },
  { error: null, errors: [], success: true },
  { message: 'ok', errors: {}, ok: 1, status: 200 },
  { playerUniqueId: 'p1', code: 12_345, status: 'active' },
  { playerUniqueId: 'p1', status: 'failed', errorMessage: 'OK', error: 'false' },
])('a write whose response is %j was done', async (json) => {
  const { results } = await answerAll(WRITES, { json });
  expect(results).toMatchObject({ 'POST /event': undefined, 'DELETE /player': 'deleted' });
});

test.each([
  ...[{ code: 5, message: 'a name is missing' }, { code: '99' }, { error: 'internal' }, { errors: [{ reason: 'x' }] }],
  ...[{ success: false }, { status: 'error', message: 'database is away' }, { status: 'FAILED' }],
  ...[{ success: 'false' }, { success: 0 }, { ok: false }, { status: false }, { status: 400 }, { statusCode: '500' }],
  ...[{ errorMessage: 'Task timed out' }, { playerUniqueId: 'p1', error: 'locked' }, { count: 0, success: false }],
])('of a write whose response is %j with 200, nobody knows whether it was done', async (json) => {
  const { results } = await answerAll(WRITES, { json }, failure);
  expect(results).toMatchObject(same(WRITES, { ...invalid, status: 200, outcome: 'UNKNOWN' }));
});

test.each<[string, Answer]>([
  ['numbers that JSON does not have', { raw: '{"coupons":[{"code":"A","value":NaN},{"code":"B","value":-Infinity}]}' }],
  ['line breaks in texts', { raw: '{"coupons":[{"code":"A","currency":"EU\nR\t"},{"code":"B","value":\tNaN}]}' }],
])('coupons with %s are read, without these values', async (_case, answer) => {
  const warned: string[] = [];
  const { rest, upstream } = await start({
    observer: { decodeWarning: (kind, member) => warned.push(`${kind} ${member}`) },
  });
  upstream.on('GET /coupon', answer);
  expect(await CALLS['GET /coupon'](rest)).toMatchObject([{ code: 'A' }, { code: 'B' }]);
  expect(warned).toContain('wrong-type body');
});

test('what is no JSON in another way stays unreadable, however long it is', async () => {
  for (const raw of ['{"code":"A","value":NaN,}', `{"code":"A${'\\"'.repeat(500_000)}`, '{"value":1NaN}', '"', '\\']) {
    const { results } = await answerAll(['GET /coupon'], { raw }, failure);
    expect(results).toMatchObject(same(['GET /coupon'], invalid));
  }
});

test.each(['OK', '"ok"', 'true', '[]', 'null'])('%j acknowledges a delete and an event', async (raw) => {
  const { results } = await answerAll(['DELETE /player', 'POST /event'], { raw, headers: { 'content-type': '' } });
  expect(results).toEqual({ 'DELETE /player': 'deleted', 'POST /event': undefined });
});

test.each(['no', '7', '["a"]', 'OK OK'])('%j acknowledges nothing', async (raw) => {
  const { results } = await answerAll(WRITES, { raw }, failure);
  expect(results).toMatchObject(same(WRITES, { ...invalid, outcome: 'UNKNOWN' }));
});

test.each<[string, Answer, warned: boolean]>([
  ['404', { status: 404, json: { code: 101, message: 'unknown' } }, false],
  ['404 of a proxy', { status: 404, raw: '<h1>Not found</h1>' }, true],
  ['404 as a text without characters', { status: 404, raw: '', headers: plain }, true],
  ['404 as a page without characters', { status: 404, raw: '', headers: html }, true],
  ['404 with code 101 that says it is HTML', { status: 404, json: { code: 101 }, headers: html }, false],
  ['404 with code 101 that says it is a text', { status: 404, json: { code: 101 }, headers: plain }, false],
  ['400 with code 101', { status: 400, json: { code: '101' } }, false],
  ['200 with code 101', { json: { code: 101 } }, false],
])('%s says that the player is unknown', async (_case, answer, warned) => {
  const { results, seen } = await answerAll([...READS, 'DELETE /player'], answer);
  expect(results).toEqual({ ...same(READS, null), 'DELETE /player': null });
  expect(seen.withoutCode).toHaveLength(warned ? 4 : 0);
});

test.each([400, 404, 422])(
  '%i with code 101 of a write that names its player in the body is a refusal',
  async (status) => {
    const { results } = await answerAll(['POST /player', 'POST /event'], { status, json: { code: 101 } }, failure);
    expect(results).toMatchObject(same(['POST /player', 'POST /event'], { ...rejected, status, outcome: 'NOT_DONE' }));
  },
);

test('404 of a write that names its player in the body is of an ingress, and a response about another player is invalid', async () => {
  const { results } = await answerAll(['POST /player', 'POST /event'], { status: 404 }, failure);
  expect(results).toMatchObject(same(['POST /player', 'POST /event'], { ...kept, status: 404, outcome: 'NOT_DONE' }));
  const other = await answerAll(['GET /player', 'POST /player'], { json: { playerUniqueId: 'p2' } }, failure);
  expect(other.results).toMatchObject({ 'GET /player': invalid, 'POST /player': { ...invalid, outcome: 'UNKNOWN' } });
});

test('without a connection no write is done, and each may be sent again; events are by nobody but the caller', async () => {
  const { upstream, rest } = await start();
  await upstream.stop();
  for (const endpoint of ['GET /player', ...WRITES] as const) {
    const op = operation();
    const outcome = endpoint === 'GET /player' ? undefined : 'NOT_DONE';
    expect(await failure(CALLS[endpoint](rest, 'p1', op))).toMatchObject({ ...unavailable, outcome });
    const attempts = endpoint === 'POST /event' ? 1 : 3;
    expect(op.records).toMatchObject([{ error: 'UPSTREAM_UNAVAILABLE', attempts }]);
  }
  expect(rest.health().queued).toBe(0);
});

test('a response that nobody asked for is not taken for the response to the next request', async () => {
  const { upstream, rest } = await start({ connections: 1 });
  const link = (id: string) => ({ json: { playerUniqueId: id, referralLink: `https://a.example/${id}` } });
  upstream.on('GET /player', { ...link('p1'), fault: 'twice' }, (request) => link(request.playerUniqueId ?? ''));
  for (const id of ['p1', 'p2'])
    expect(await read(rest, id)).toMatchObject({ referralLink: `https://a.example/${id}` });
});

test.each<[json: unknown, code: number | undefined]>([
  [{ code: 203, message: 'no firstName of p1' }, 203],
  [{ code: 41_791_234_567 }, undefined],
  [{ code: { toString: 1 } }, undefined],
])('of the error %j the log gets the code %j, the endpoint, and neither id nor message', async (json, serviceCode) => {
  const { upstream, rest } = await start();
  upstream.on('POST /event', { status: 400, json });
  const error: unknown = await track(rest).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ message: 'POST /integrations/event responded 400', status: 400, serviceCode });
  expect(JSON.stringify(error)).not.toMatch(/p1|firstName/);
});

test.each([
  ['BAD_CERTIFICATE', true],
  ['UNSUPPORTED_CERTIFICATE', true],
  ['CERTIFICATE_REVOKED', true],
  ['CERTIFICATE_EXPIRED', true],
  ['CERTIFICATE_UNKNOWN', true],
  ['HANDSHAKE_FAILURE', false],
  ['BAD_RECORD_MAC', false],
])('the alert %s refuses a client certificate: %s, in the spelling of each version of OpenSSL', (alert, isRefusal) => {
  for (const family of ['SSLV3', 'SSL/TLS']) {
    const code = `ERR_SSL_${family}_ALERT_${alert}`;
    expect([code, isTlsRefusal(Object.assign(new Error(), { code }))]).toEqual([code, isRefusal]);
  }
});
