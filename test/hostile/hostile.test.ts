import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { client, player, startWithCallers, WHAT } from '../kit/callers.ts';
import { post } from '../kit/gateway.ts';
import { type RawAnswer, raw, requestBytes } from '../kit/raw.ts';
import { API_KEY, SECRET_KEY } from '../kit/upstream.ts';
import { bodies } from './bodies.ts';
import { inputs } from './inputs.ts';
import { leaks } from './leaks.ts';
import { AUTHORIZED, GOOD, GOOD_DATA, type Row } from './row.ts';
import { shapes } from './shapes.ts';
import { transport } from './transport.ts';

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
  if (as === 'nobody') return Array.isArray(send) ? send : [requestBytes(send)];
  const header = `Authorization: ${callers[as].authorization}`;
  if (Array.isArray(send))
    return send.map((part) => (typeof part === 'string' ? part.replace(AUTHORIZED, header) : part));
  return [requestBytes({ ...send, headers: [header, ...(send.headers ?? [])] })];
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

  test('returns data for a usual request after all of these', async () => {
    const { status, data } = await all.as(phone, GOOD);
    expect({ status, data }).toEqual({ status: 200, data: GOOD_DATA });
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
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
