import { gzipSync } from 'node:zlib';
import { GOOD, GOOD_BODY, GOOD_DATA, operation, PLAYER, type Row, rows, text } from './row.ts';

const LIMIT = 262_144;
const sized = (bytes: number) => GOOD_BODY.padEnd(bytes, ' ');
const chunked = (body: string) => {
  const parts = body.match(/.{1,60000}/gs) ?? [];
  return `${parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('')}0\r\n\r\n`;
};
const good = { status: 200, data: GOOD_DATA, upstream: [PLAYER] };
const bad = { status: 400, code: 'BAD_REQUEST' };
const wrongType = { status: 415, code: 'BAD_REQUEST' };

const tooLarge = { status: 413, code: 'BAD_REQUEST' };
const CHUNKED = 'Transfer-Encoding: chunked';

const size: Row[] = [
  ...rows(
    good,
    ['a body at the limit', text(sized(LIMIT))],
    ['a chunked body at the limit', text(chunked(sized(LIMIT)), CHUNKED)],
  ),
  ...rows(
    tooLarge,
    ['a body one byte over the limit', text(sized(LIMIT + 1))],
    ['a chunked body one byte over the limit', text(chunked(sized(LIMIT + 1)), CHUNKED)],
    ['a body that only says it is too large', text(GOOD_BODY, 'Content-Length: 99999999999')],
  ),
  ...rows(bad, ['an empty body', text('')]),
];

const CODINGS = ['gzip', 'br', 'deflate', 'x-gzip', 'identity, gzip', 'gzip, identity', 'GZIP'];
const BAD_CHARSETS = ['utf-16', 'latin1', 'utf-7', 'us-ascii', '', 'utf-8; charset=utf-16', 'utf-16; charset=utf-8'];
const BAD_TYPES = [
  ...['text/plain', 'application/graphql', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'],
  ...['application/json-patch+json', 'application/jsonp', 'application/json, text/plain', 'application', '*/*'],
  ...BAD_CHARSETS.map((charset) => `application/json; charset=${charset}`),
  ...['application/json; x=1; charset=utf-16', 'application/json;; charset=utf-16', 'application/'],
];
const GOOD_TYPES = ['; charset=utf-8', ';charset=UTF-8', '; charset="utf-8"'].map((rest) => `application/json${rest}`);
const multipart = `--x\r\nContent-Disposition: form-data; name="operations"\r\n\r\n${GOOD_BODY}\r\n--x--\r\n`;

const types: Row[] = [
  ...BAD_TYPES.map(
    (type): Row => ({
      name: `the content type ${type}`,
      send: text(GOOD_BODY, `Content-Type: ${type}`),
      ...wrongType,
      status: [400, 415],
    }),
  ),
  ...[...GOOD_TYPES, 'Application/JSON'].map(
    (type): Row => ({ name: `the content type ${type}`, send: text(GOOD_BODY, `Content-Type: ${type}`), ...good }),
  ),
  ...CODINGS.map(
    (coding): Row => ({
      name: `the content coding ${coding}`,
      send: text(coding === 'gzip' ? gzipSync(GOOD_BODY) : GOOD_BODY, `Content-Encoding: ${coding}`),
      ...wrongType,
    }),
  ),
  ...rows(
    wrongType,
    ['no content type', { body: GOOD_BODY }, { status: [400, 415] }],
    ['a bomb of gzip', text(gzipSync(Buffer.alloc(10_000_000)), 'Content-Encoding: gzip')],
    [
      'an upload by multipart',
      text(multipart, 'Content-Type: multipart/form-data; boundary=x', 'Apollo-Require-Preflight: yes'),
    ],
  ),
  ...rows(good, ['the content coding identity', text(GOOD_BODY, 'Content-Encoding: identity')]),
];

/** A good body, but for these bytes in a text. */
const withBytes = (...bytes: number[]) =>
  Buffer.concat([Buffer.from('{"query":"{ me { id } }","x":"'), Buffer.from(bytes), Buffer.from('"}')]);

const encodings: Row[] = rows(
  bad,
  ['a byte that is no UTF-8', text(withBytes(0xff))],
  ['half a letter', text(withBytes(0xc3))],
  ['an overlong letter', text(withBytes(0xc0, 0xaf))],
  ['half a surrogate pair as UTF-8', text(withBytes(0xed, 0xa0, 0x80))],
  ['a letter beyond Unicode', text(withBytes(0xf4, 0x90, 0x80, 0x80))],
  ['a byte order mark', text(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(GOOD_BODY)]))],
  ['UTF-16', text(Buffer.from(GOOD_BODY, 'utf16le'))],
  ['UTF-16 with a byte order mark', text(Buffer.from(`\ufeff${GOOD_BODY}`, 'utf16le'))],
);

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

const persisted = (persistedQuery: object) => ({ extensions: { persistedQuery } });
const beside = (members: string) => text(`{"query": "{ me { id } }", ${members}}`);
const many = Array.from({ length: 15_000 }, (_, n) => `"k${n}":${n}`).join();

const harmless: Row[] = [
  ...rows(
    good,
    ['__proto__ beside the query', beside('"__proto__": {"polluted": 1}')],
    ['__proto__ among the variables', beside('"variables": {"__proto__": {"polluted": 1}}')],
    ['more digits inside a string', beside('"variables": {"x": ",12345678901234567890"}')],
    ['the largest exact number', beside('"variables": {"x": 9007199254740991, "y": 0.1234567890123456789}')],
    ['variables nobody asked for', operation(GOOD, { a: { b: [{ c: 'd' }] } })],
  ),
  ...rows(
    { status: 400 },
    [
      'variables with 15,000 properties',
      beside(`"variables": {${many}}`),
      { code: 'BAD_USER_INPUT', has: /more than 10000 properties/ },
    ],
    ['a persisted query of another algorithm', operation(undefined, {}, persisted({ version: 9, sha256Hash: 'x' }))],
    [
      'a persisted query whose hash is not its own',
      operation(GOOD, {}, persisted({ version: 1, sha256Hash: 'a'.repeat(64) })),
    ],
    [
      'a persisted query whose hash is an object',
      operation(GOOD, {}, persisted({ version: 1, sha256Hash: { $ne: 1 } })),
    ],
  ),
];

export const bodies: Row[] = [...size, ...types, ...encodings, ...json, ...numbers, ...harmless];
