/* Requests whose heads or bodies no honest client sends: what our own checks decide, not Node's parser. */
import { type RawRequest, requestBytes } from '../kit/raw.ts';
import { AUTHORIZED, bad, GOOD, GOOD_BODY, good, JSON_TYPE, operation, type Row, rows, text } from './row.ts';

const CHUNKED = 'Transfer-Encoding: chunked';
const chunk = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n`;
const chunked = (body: string) => `${(body.match(/.{1,60000}/gs) ?? []).map(chunk).join('')}0\r\n\r\n`;
const IDENTITY = `POST /graphql HTTP/1.1\r\nHost: gateway.test\r\n${AUTHORIZED}\r\n${JSON_TYPE}\r\nTransfer-Encoding: identity, chunked\r\n\r\n`;
const broken = (path: string, line: string) => [
  `POST ${path} HTTP/1.1\r\nHost: gateway.test\r\n${line}\r\n${CHUNKED}\r\n\r\nzz\r\n`,
];
const header = (...lines: string[]) => text(GOOD_BODY, JSON_TYPE, ...lines);
const target = (path: string): RawRequest => ({ target: path, ...text(GOOD_BODY) });
const query = encodeURIComponent(GOOD);
const remove = encodeURIComponent('mutation { deletePlayer(input: { playerUniqueId: "p1" }) { userErrors { code } } }');
const get = (search: string, more: RawRequest = {}): RawRequest => ({
  ...{ method: 'GET', target: `/graphql?${search}`, headers: ['Apollo-Require-Preflight: yes'] },
  ...more,
});

export const heads: Row[] = [
  ...rows(
    bad,
    ['the transfer coding identity before chunked', [IDENTITY, chunked(GOOD_BODY)]],
    ['the header Host twice', header('Host: gateway.test', 'Host: other.test')],
    ['a broken escape in the target', target('/%zz'), { has: /encodes no character/ }],
    ['GET with an operation in a body', get('', text(GOOD_BODY)), { has: /must not have a body/ }],
    [
      'GET with an operation in chunks',
      get(`query=${query}`, text(chunked(GOOD_BODY), CHUNKED)),
      { has: /must not have a body/ },
    ],
    ['POST with the operation in the query', { ...text('{}'), target: `/graphql?query=${query}` }],
  ),
  ...rows(
    { status: 415, code: 'BAD_REQUEST' },
    ['the header Content-Type twice', header(JSON_TYPE)],
    ['GET with a simple content type', get(`query=${query}`, { headers: ['Content-Type: text/plain'] })],
  ),
  ...rows(
    { status: 404, code: 'BAD_REQUEST' },
    ['a target that steps up', target('/graphql/%2e%2e/metrics')],
    ...['/:a(', '/:a([', '/graphql:x('].map((path): [string, RawRequest] => [`the target ${path}`, target(path)]),
    // One request never gets two responses: the second would be taken for that of the next request.
    ['an unknown path, and a body that is no HTTP', broken('/nothing', AUTHORIZED)],
  ),
  ...rows(
    { status: 405, as: 'server' },
    ['a mutation by GET', get(`query=${remove}`)],
    ['PUT', { method: 'PUT', headers: [JSON_TYPE], body: GOOD_BODY }],
  ),
  ...rows({ status: 431, code: 'BAD_REQUEST' }, ['three hundred headers', header(...Array(300).fill('a: b'))]),
  ...rows(
    { as: 'nobody', status: 401, code: 'UNAUTHENTICATED' },
    ['nobody, with a document that cannot be parsed', '{'],
    ['bytes after a request that ends the connection', [requestBytes(text(GOOD_BODY)), 'GET / HTTP/1.1\r\n\r\n']],
  ),
  ...rows({ as: 'nobody', status: 400 }, ['nobody, and a body that is no HTTP', broken('/graphql', 'X-Nothing: 1')]),
  ...rows(
    good,
    ['GET', get(`query=${query}`)],
    ['a request id that is none', header('X-Request-Id: <script>alert(1)</script>'), { hasNot: /script/ }],
  ),
];

const LIMIT = 262_144;
const sized = (bytes: number) => GOOD_BODY.padEnd(bytes, ' ');
const typed = (type: string): [string, RawRequest] => [
  `the content type ${type.slice(0, 60)}`,
  text(GOOD_BODY, `Content-Type: ${type}`),
];
const json = (members: string) => text(`{"query": "{ me { id } }", ${members}}`);
const NESTED = `${'['.repeat(120_000)}${']'.repeat(120_000)}`;
const repeated = (value: unknown) => JSON.stringify(Array(60).fill(Array(400).fill(value)));
const many = Object.fromEntries(Array.from({ length: 15_000 }, (_, n) => [n, n]));
const BY_ID = 'query ($id: ID!) { player(playerUniqueId: $id) { id } }';
const BY_IDS = 'query ($ids: [ID!]!) { players(playerUniqueIds: $ids) { id } }';

export const bodies: Row[] = [
  ...rows(
    { status: 413, code: 'BAD_REQUEST' },
    ['a body one byte over the limit', text(sized(LIMIT + 1))],
    ['a chunked body one byte over the limit', text(chunked(sized(LIMIT + 1)), CHUNKED)],
  ),
  ...rows(
    { status: 415, code: 'BAD_REQUEST' },
    typed('application/json-patch+json'),
    typed('application/json; charset=utf-16'),
    typed('application/json; x=1; charset=utf-16'),
    ['an unknown coding', text(GOOD_BODY, 'Content-Encoding: zstd-of-ours')],
  ),
  ...rows(
    bad,
    ['a byte that is no UTF-8', text(Buffer.from(`${GOOD_BODY}\xff`, 'latin1'))],
    ['a batch', text(`[${GOOD_BODY},${GOOD_BODY}]`)],
    ['lists, 5,000 deep', text(`${'['.repeat(5_000)}${']'.repeat(5_000)}`)],
    ['a query that is a list', operation(['{ me { id } }'])],
    ['the query under __proto__', text('{"__proto__": {"query": "{ me { id } }"}}')],
    [
      'variables with 15,000 properties',
      operation(GOOD, many),
      { code: 'BAD_USER_INPUT', has: /more than 10000 properties/ },
    ],
    // Parsing 120,000 takes five times as long as 10,000 properties.
    ...[NESTED, repeated({}), repeated([])].map((value): [string, RawRequest, object] => [
      `variables with lists and objects ${value.slice(0, 12)}`,
      text(`{"query": "{ me { id } }", "variables": {"x": ${value}}}`),
      { code: 'BAD_USER_INPUT', has: /more than 10000 properties and lists/ },
    ]),
  ),
  ...rows(
    { ...bad, code: 'BAD_USER_INPUT', has: /too large to be exact; write it as a string\./ },
    ['an id beyond 2^53', operation(BY_ID, { id: 2 ** 53 })],
    ['an id beyond 2^53 in a list', operation(BY_IDS, { ids: ['p1', -(2 ** 53)] })],
    ['an id without end', text(`{"query": "${BY_ID}", "variables": {"id": 1e400}}`)],
    ['GET with an id that loses digits', get(`query=${encodeURIComponent(BY_ID)}&variables={"id":9007199254740993}`)],
  ),
  ...rows({ ...bad, code: 'BAD_USER_INPUT', has: /This number is not whole; write it as a string\./ }, [
    'an id with a fraction',
    operation(BY_ID, { id: 40.25 }),
  ]),
  ...rows(
    good,
    ['a body at the limit', text(sized(LIMIT))],
    ['a chunked body at the limit', text(chunked(sized(LIMIT)), CHUNKED)],
    typed('Application/JSON; charset="utf-8"'),
    typed('application/json;\tcharset=UTF-8'),
    ['the content coding identity', text(GOOD_BODY, 'Content-Encoding: identity')],
    ['__proto__ twice', json('"__proto__": {"polluted": 1}, "variables": {"__proto__": {"polluted": 1}}')],
    ['numbers that no type reads', json('"variables": {"x": [9007199254740993, 1e400]}')],
  ),
];
