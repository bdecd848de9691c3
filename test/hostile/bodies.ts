import { gzipSync } from 'node:zlib';
import { GOOD, GOOD_BODY, GOOD_DATA, JSON_TYPE, operation, PLAYER, type Row, text } from './row.ts';

const LIMIT = 262_144;
const sized = (bytes: number) => GOOD_BODY.padEnd(bytes, ' ');
const chunked = (body: string) => {
  const parts = body.match(/.{1,60000}/gs) ?? [];
  return `${parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('')}0\r\n\r\n`;
};
const good = { status: 200, data: GOOD_DATA, upstream: [PLAYER] };
const bad = { status: 400, code: 'BAD_REQUEST' };
const wrongType = { status: 415, code: 'BAD_REQUEST' };

const size: Row[] = [
  { name: 'a body at the limit', send: text(sized(LIMIT)), ...good },
  { name: 'a body one byte over the limit', send: text(sized(LIMIT + 1)), status: 413, code: 'BAD_REQUEST' },
  { name: 'a chunked body at the limit', send: text(chunked(sized(LIMIT)), 'Transfer-Encoding: chunked'), ...good },
  {
    name: 'a chunked body one byte over the limit',
    send: text(chunked(sized(LIMIT + 1)), 'Transfer-Encoding: chunked'),
    status: 413,
    code: 'BAD_REQUEST',
  },
  {
    name: 'a body that only says it is too large',
    send: text(GOOD_BODY, 'Content-Length: 99999999999'),
    status: 413,
    code: 'BAD_REQUEST',
  },
  { name: 'an empty body', send: text(''), ...bad },
];

const types: Row[] = [
  ...[
    'text/plain',
    'application/graphql',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json-patch+json',
    'application/jsonp',
    'application/json, text/plain',
    'application/json; charset=utf-16',
    'application/json; charset=utf-16le',
    'application/json; charset=latin1',
    'application/json; charset=iso-8859-1',
    'application/json; charset=utf-7',
    'application/json; charset=us-ascii',
    'application/json; charset=',
    'application/json; charset=utf-8; charset=utf-16',
    'application/json; charset=utf-16; charset=utf-8',
    'application/json; x=1; charset=utf-16',
    'application/json;; charset=utf-16',
    'application',
    'application/',
    '*/*',
  ].map(
    (type): Row => ({
      name: `the content type ${type}`,
      send: text(GOOD_BODY, `Content-Type: ${type}`),
      ...wrongType,
      status: [400, 415],
    }),
  ),
  { name: 'no content type', send: { body: GOOD_BODY }, ...wrongType, status: [400, 415] },
  ...[
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json; charset="utf-8"',
    'Application/JSON',
  ].map((type): Row => ({ name: `the content type ${type}`, send: text(GOOD_BODY, `Content-Type: ${type}`), ...good })),
  ...['gzip', 'br', 'deflate', 'x-gzip', 'identity, gzip', 'gzip, identity', 'GZIP'].map(
    (coding): Row => ({
      name: `the content coding ${coding}`,
      send: text(coding === 'gzip' ? gzipSync(GOOD_BODY) : GOOD_BODY, `Content-Encoding: ${coding}`),
      ...wrongType,
    }),
  ),
  { name: 'a bomb of gzip', send: text(gzipSync(Buffer.alloc(10_000_000)), 'Content-Encoding: gzip'), ...wrongType },
  { name: 'the content coding identity', send: text(GOOD_BODY, 'Content-Encoding: identity'), ...good },
  {
    name: 'an upload by multipart',
    send: text(
      `--x\r\nContent-Disposition: form-data; name="operations"\r\n\r\n${GOOD_BODY}\r\n--x\r\nContent-Disposition: form-data; name="map"\r\n\r\n{}\r\n--x--\r\n`,
      'Content-Type: multipart/form-data; boundary=x',
      'Apollo-Require-Preflight: yes',
    ),
    ...wrongType,
  },
];

const encodings: Row[] = (
  [
    [
      'a byte that is no UTF-8',
      Buffer.concat([Buffer.from('{"query":"{ me { id } }","x":"'), Buffer.from([0xff]), Buffer.from('"}')]),
    ],
    [
      'half a letter',
      Buffer.concat([Buffer.from('{"query":"{ me { id } }","x":"'), Buffer.from([0xc3]), Buffer.from('"}')]),
    ],
    [
      'an overlong letter',
      Buffer.concat([Buffer.from('{"query":"{ me { id } }","x":"'), Buffer.from([0xc0, 0xaf]), Buffer.from('"}')]),
    ],
    [
      'half a surrogate pair as UTF-8',
      Buffer.concat([
        Buffer.from('{"query":"{ me { id } }","x":"'),
        Buffer.from([0xed, 0xa0, 0x80]),
        Buffer.from('"}'),
      ]),
    ],
    [
      'a letter beyond Unicode',
      Buffer.concat([
        Buffer.from('{"query":"{ me { id } }","x":"'),
        Buffer.from([0xf4, 0x90, 0x80, 0x80]),
        Buffer.from('"}'),
      ]),
    ],
    ['a byte order mark', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(GOOD_BODY)])],
    ['UTF-16', Buffer.from(GOOD_BODY, 'utf16le')],
    ['UTF-16 with a byte order mark', Buffer.from(`\ufeff${GOOD_BODY}`, 'utf16le')],
    ['latin1', Buffer.from('{"query":"{ me { id } }","x":"\u00e9"}', 'latin1')],
  ] as [string, Buffer][]
).map(([name, body]) => ({ name: `a body in ${name}`, send: text(body), ...bad }));

const json: Row[] = (
  [
    ['cut off', '{"query": "{ me'],
    ['a comma too many', '{"query": "{ me { id } }",}'],
    ['two documents', `${GOOD_BODY}${GOOD_BODY}`],
    ['a comment', `/* */${GOOD_BODY}`],
    ['single quotes', `{'query': '{ me { id } }'}`],
    ['NaN', '{"query": "{ me { id } }", "variables": {"x": NaN}}'],
    ['a NUL at the end', `${GOOD_BODY}\0`],
    ['a raw line break in a string', '{"query": "{ me\n{ id } }"}'],
    ['a list', `[${GOOD_BODY}]`],
    ['a batch', `[${GOOD_BODY},${GOOD_BODY}]`],
    ['an empty list', '[]'],
    ['null', 'null'],
    ['true', 'true'],
    ['a number', '1'],
    ['a string', '"{ me { id } }"'],
    ['an empty object', '{}'],
    ['lists, 100,000 deep', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['objects, 9,000 deep', `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`],
    ['a query that is a number', '{"query": 1}'],
    ['a query that is null', '{"query": null}'],
    ['a query that is a list', '{"query": ["{ me { id } }"]}'],
    ['a query that is an object', '{"query": {"toString": "x"}}'],
    ['variables that are text', JSON.stringify({ query: GOOD, variables: '{}' })],
    ['variables that are a number', JSON.stringify({ query: GOOD, variables: 1 })],
    ['extensions that are text', JSON.stringify({ query: GOOD, extensions: 'x' })],
    ['an operation name that is an object', JSON.stringify({ query: GOOD, operationName: {} })],
    ['the query under __proto__', '{"__proto__": {"query": "{ me { id } }"}}'],
    ['the query under constructor', '{"constructor": {"prototype": {"query": "{ me { id } }"}}}'],
  ] as [string, string][]
).map(([name, body]) => ({ name: `JSON with ${name}`, send: text(body), status: 400 }));

const numbers: Row[] = [
  '{"query": "{ me { id } }", "variables": {"x": 1e400}}',
  '{"query": "{ me { id } }", "variables": {"x": 9007199254740993}}',
  '{"query": "{ me { id } }", "variables": {"x": -9007199254740993}}',
  '{"query": "{ me { id } }", "variables": {"x": [0, [{"y": 9007199254740993}]]}}',
  '{"query": "{ me { id } }", "variables": {"__proto__": {"x": 9007199254740993}}}',
  '{"variables": {"x": 90071992547409930e0, "y": 1}, "query": "{ me { id } }"}',
  '9007199254740993',
  `${'{"a":'.repeat(9_000)}12345678901234567890${'}'.repeat(9_000)}`,
].map((body) => ({
  name: `a number that is not exact: ${body.slice(0, 80)}`,
  send: text(body),
  status: 400,
  has: /The number \\"\w+\\" is too large to be exact; write it as a string\./,
}));

const harmless: Row[] = [
  {
    name: 'variables with 15,000 properties',
    send: text(`{"query":"{me{id}}","variables":{${Array.from({ length: 15_000 }, (_, n) => `"k${n}":${n}`).join()}}}`),
    status: 400,
    code: 'BAD_USER_INPUT',
    has: /more than 10000 properties/,
  },
  {
    name: '__proto__ beside the query',
    send: text('{"__proto__": {"polluted": 1}, "query": "{ me { id } }"}'),
    ...good,
  },
  {
    name: '__proto__ among the variables',
    send: text('{"query": "{ me { id } }", "variables": {"__proto__": {"polluted": 1}}}'),
    ...good,
  },
  {
    name: 'more digits inside a string',
    send: text('{"query": "{ me { id } }", "variables": {"x": ",12345678901234567890"}}'),
    ...good,
  },
  {
    name: 'the largest number that is exact',
    send: text('{"query": "{ me { id } }", "variables": {"x": 9007199254740991, "y": 0.1234567890123456789}}'),
    ...good,
  },
  { name: 'variables nobody asked for', send: operation(GOOD, { a: { b: [{ c: 'd' }] } }), ...good },
  {
    name: 'a persisted query of another algorithm',
    send: text(JSON.stringify({ extensions: { persistedQuery: { version: 9, sha256Hash: 'x' } } }), JSON_TYPE),
    status: 400,
  },
  {
    name: 'a persisted query whose hash is not its own',
    send: operation(GOOD, {}, { extensions: { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } } }),
    status: 400,
  },
  {
    name: 'a persisted query whose hash is an object',
    send: operation(GOOD, {}, { extensions: { persistedQuery: { version: 1, sha256Hash: { $ne: 1 } } } }),
    status: 400,
  },
];

export const bodies: Row[] = [...size, ...types, ...encodings, ...json, ...numbers, ...harmless];
