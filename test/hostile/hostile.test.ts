import { beforeEach, describe, expect, test } from '@jest/globals';
import { client, player, startWithCallers, WHAT } from '../kit/callers.ts';
import { raw, requestBytes } from '../kit/raw.ts';
import { API_KEY, SECRET_KEY } from '../kit/upstream.ts';
import { documents } from './documents.ts';
import { bodies, heads } from './http.ts';
import { inputs } from './inputs.ts';
import { AUTHORIZED, GOOD, good, PLAYER, type Row, rows } from './row.ts';

/*
 * Hostile requests, each with what must come of it and what the REST service may receive, against a gateway in production
 * form. Whatever a row says besides: there is one response at most, none tells of keys, stacks or addresses, one without data
 * stays under 16 KB, and who asks for nothing gets nothing.
 */

const phone = player('p1', ...WHAT.filter((scope) => scope !== 'schema:read'), 'any-player');
const callers = { phone, server: client(...WHAT, 'any-player') };

const all = await startWithCallers({ NODE_ENV: 'production' });
beforeEach(() => all.upstream.forget());

function bytesOf({ send, as = 'phone' }: Row): (string | Buffer)[] {
  const lines = as === 'nobody' ? [] : [`Authorization: ${callers[as].authorization}`];
  if (!Array.isArray(send)) return [requestBytes({ ...send, headers: [...lines, ...(send.headers ?? [])] })];
  return send.map((part) => (typeof part === 'string' ? part.replace(AUTHORIZED, lines.join()) : part));
}

/** What a broken REST service might say, everything in it secret. */
const TALKATIVE = `{"code":9,"message":"SELECT * -- ${API_KEY} ${SECRET_KEY}","stack":"boom","email":"somebody@example.org"}`;
const cookie = { 'set-cookie': 'session=stolen', 'x-powered-by': 'stolen' };

const leaks: Row[] = rows(
  { status: 200 },
  ['a refusal', GOOD, { script: ['GET /player', { status: 400, raw: TALKATIVE }], upstream: [PLAYER] }],
  ['headers of its own', GOOD, { script: ['GET /player', { json: {}, headers: cookie }], ...good }],
);

const LEAKS = new RegExp(
  `${API_KEY}|${SECRET_KEY}|stolen|SELECT|boom|somebody@|internal|node_modules|\\.[cm]?[jt]s:\\d|\\n +at |127\\.0\\.0\\.1|api/v3`,
);

describe.each([
  ['heads', heads],
  ['bodies', bodies],
  ['documents', documents],
  ['inputs', inputs],
  ['what the REST service says', leaks],
])('%s', (_table, table) => {
  test.each(table.map((row): [string, Row] => [row.name, row]))('%s', async (_name, row) => {
    if (row.script) all.upstream.on(row.script[0], row.script[1], 'usual');
    const { status, statuses, body, text } = await raw(all.gateway.url, ...bytesOf(row));
    const { data, errors, extensions } = body.startsWith('{') ? JSON.parse(body) : {};
    const told = { status: row.status, ...(row.code && { code: row.code }), ...(row.limit && { limit: row.limit }) };
    expect({ ...errors?.[0]?.extensions, status }).toMatchObject(told);
    expect(statuses).toHaveLength(1);
    expect(text).not.toMatch(LEAKS);
    if (row.has) expect(text).toMatch(row.has);
    if (row.hasNot) expect(text).not.toMatch(row.hasNot);
    if (data == null) expect(text.length).toBeLessThan(16_384);
    if ('data' in row) expect(data).toEqual(row.data);
    if (extensions) expect(extensions.requestId).toMatch(/^[\w-]{36}$/);
    if (extensions) expect(text).toContain(`x-request-id: ${extensions.requestId}\r\n`);
    // The gateway may read its keys meanwhile.
    expect(all.upstream.calls().filter((call) => call !== 'GET /keys')).toEqual(row.upstream ?? []);
  });
});

test('after all of these a usual request returns data, no prototype has changed, and no error was logged', async () => {
  expect(await all.as(phone, GOOD)).toMatchObject({ status: 200, data: good.data });
  expect(Reflect.get({}, 'polluted')).toBeUndefined();
  expect(all.gateway.logged()).not.toContain('"level":50');
});
