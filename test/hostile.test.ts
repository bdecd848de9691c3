import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { bodies } from './hostile/bodies.ts';
import { inputs } from './hostile/inputs.ts';
import { leaks } from './hostile/leaks.ts';
import { GOOD, GOOD_BODY, GOOD_DATA, PLAYER, type Row } from './hostile/row.ts';
import { shapes } from './hostile/shapes.ts';
import { transport } from './hostile/transport.ts';
import { client, player, startWithCallers, WHAT } from './kit/callers.ts';
import { post } from './kit/gateway.ts';
import { type RawAnswer, raw, requestBytes } from './kit/raw.ts';
import { API_KEY, SECRET_KEY } from './kit/upstream.ts';

/*
 * Hostile requests, each with what must come of it and what the REST service may hear of it, against a gateway in
 * production form. Whatever a row says besides: no answer tells of keys, stacks or addresses, an answer without data stays
 * under 16 KB, and who asks for nothing gets nothing.
 */

const scopes = WHAT.filter((scope) => scope !== 'schema:read');
const phone = player('p1', ...scopes, 'any-player');
const callers = { phone, player: player('p1', ...scopes), server: client(...WHAT, 'any-player') };

let all: Awaited<ReturnType<typeof startWithCallers>>;
beforeAll(async () => {
  all = await startWithCallers({ NODE_ENV: 'production' });
});
beforeEach(() => all.upstream.forget());
afterAll(() => all.close());

function bytesOf({ send, as = 'phone' }: Row): (string | Buffer)[] {
  if (Array.isArray(send)) return send;
  if (as === 'nobody') return [requestBytes(send)];
  const { authorization } = callers[as];
  return [requestBytes({ ...send, headers: [`Authorization: ${authorization}`, ...(send.headers ?? [])] })];
}

const LEAKS = new RegExp(
  `${API_KEY}|${SECRET_KEY}|stolen|node_modules|\\.[cm]?[jt]s:\\d|\\n +at |127\\.0\\.0\\.1|api/v3`,
);
const MAX_ERROR_BYTES = 16 * 1_024;

function check(row: Row, { status, statuses, body, text }: RawAnswer): void {
  expect({ status: [row.status].flat().includes(status) ? 'as expected' : `${status} ${body.slice(0, 300)}` }).toEqual({
    status: 'as expected',
  });
  expect(statuses.length).toBeLessThanOrEqual(row.answers ?? 1);
  expect(text).not.toMatch(LEAKS);
  if (row.has) expect(text).toMatch(row.has);
  if (row.hasNot) expect(text).not.toMatch(row.hasNot);
  const { data, errors, extensions } = body.startsWith('{') ? JSON.parse(body) : {};
  if (data == null) expect(text.length).toBeLessThan(MAX_ERROR_BYTES);
  if ('data' in row) expect(data).toEqual(row.data);
  if (row.code) expect(errors[0].extensions.code).toBe(row.code);
  if (row.limit) expect(errors[0].extensions.limit).toBe(row.limit);
  if (extensions) expect(extensions.requestId).toMatch(/^[\w-]{36}$/);
  expect(all.upstream.calls()).toEqual(row.upstream ?? []);
}

describe.each([
  ['transport', transport],
  ['bodies', bodies],
  ['shapes', shapes],
  ['inputs', inputs],
  ['leaks', leaks],
])('%s', (_table, rows) => {
  test.each(rows.map((row): [string, Row] => [row.name, row]))('%s', async (_name, row) => {
    if (row.script) all.upstream.on(row.script[0], row.script[1], 'usual');
    check(row, await raw(all.gateway.url, ...bytesOf(row)));
  });

  test('and afterwards an honest request is answered', async () => {
    const { status, data } = await all.as(phone, GOOD);
    expect({ status, data }).toEqual({ status: 200, data: GOOD_DATA });
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });
});

describe('clients that are slow are cut', () => {
  const authorization = `Authorization: ${phone.authorization}`;
  const complete = requestBytes({ headers: [authorization, 'Content-Type: application/json'], body: GOOD_BODY });
  test.each([
    ['before their first byte', Buffer.alloc(0)],
    ['in the middle of a header', complete.subarray(0, 40)],
    ['before their body', complete.subarray(0, complete.length - GOOD_BODY.length)],
    ['before the last byte of their body', complete.subarray(0, complete.length - 1)],
  ])('%s', async (_where, sent) => {
    const { status, body } = await raw(all.gateway.url, sent);
    expect([0, 408]).toContain(status);
    expect(body).not.toContain('"data"');
    expect(all.upstream.calls()).toEqual([]);
  });
});

test("what reaches the REST service carries our headers and nothing of the client's", async () => {
  const headers = {
    authorization: phone.authorization ?? '',
    apikey: 'stolen',
    secretkey: 'stolen',
    lang: 'fr',
    cookie: 'a=b',
    'x-evil': '1',
  };
  await post(all.gateway.url, { query: '{ me { referralLink coupons { code } } }' }, headers);
  expect(all.upstream.requests).toHaveLength(2);
  for (const { endpoint, headers: seen } of all.upstream.requests) {
    expect(seen).toMatchObject({ apikey: API_KEY });
    expect(seen['secretkey']).toBe(endpoint === 'GET /coupon' ? SECRET_KEY : undefined);
    for (const name of ['lang', 'cookie', 'authorization', 'x-evil']) expect(seen[name]).toBeUndefined();
  }
});

test.each(['__proto__', 'constructor'])('the name %s arrives as a name', async (name) => {
  const variables = JSON.parse(
    `{"input":{"playerUniqueId":"p1","events":[{"name":"${name}","metadata":{"${name}":["x",1]}}]}}`,
  );
  await all.as(
    callers.server,
    'mutation ($input: TrackEventsInput!) { trackEvents(input: $input) { eventNames } }',
    variables,
  );
  expect(all.upstream.requests.map(({ body }) => JSON.stringify(body))).toEqual([
    `{"playerUniqueId":"p1","events":{"${name}":{"${name}":["x",1]}}}`,
  ]);
});

test('the tables hold what they promise', () => {
  const rows = [...transport, ...bodies, ...shapes, ...inputs, ...leaks];
  expect(rows.length).toBeGreaterThanOrEqual(300);
  expect(rows.filter(({ upstream }) => upstream?.includes(PLAYER)).length).toBeGreaterThan(10);
});
