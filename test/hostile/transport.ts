import { requestBytes } from '../kit/raw.ts';
import { GOOD, GOOD_BODY, GOOD_DATA, JSON_TYPE, operation, PLAYER, type Row, text } from './row.ts';

const head = (...lines: string[]) =>
  `POST /graphql HTTP/1.1\r\nHost: gateway.test\r\n${JSON_TYPE}\r\n${lines.join('\r\n')}\r\n\r\n`;
const chunk = (body: string) => `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n`;
const SMUGGLED = 'GET /graphql?query=%7Bme%7Bid%7D%7D HTTP/1.1\r\nHost: gateway.test\r\n\r\n';
const LENGTH = `Content-Length: ${GOOD_BODY.length}`;

/** Bytes that are no request, or two requests in one. Nobody is asked who they are before the bytes are understood. */
const framing: Row[] = (
  [
    ['a length and a transfer coding', [head(LENGTH, 'Transfer-Encoding: chunked'), `${chunk(GOOD_BODY)}0\r\n\r\n`]],
    [
      'a transfer coding and a length',
      [head('Transfer-Encoding: chunked', 'Content-Length: 4'), `${chunk(GOOD_BODY)}0\r\n\r\n`],
    ],
    ['two lengths', [head('Content-Length: 0', LENGTH), GOOD_BODY]],
    ['the same length twice', [head(LENGTH, LENGTH), GOOD_BODY]],
    ['two lengths in one header', [head(`${LENGTH}, ${GOOD_BODY.length}`), GOOD_BODY]],
    ['a negative length', [head('Content-Length: -1'), GOOD_BODY]],
    ['a length with a sign', [head(`Content-Length: +${GOOD_BODY.length}`), GOOD_BODY]],
    ['a hexadecimal length', [head('Content-Length: 0x10'), GOOD_BODY]],
    ['a length beyond all numbers', [head(`Content-Length: ${'9'.repeat(40)}`), GOOD_BODY]],
    ['a length that is text', [head('Content-Length: ten'), GOOD_BODY]],
    ['an unknown transfer coding', [head('Transfer-Encoding: xchunked'), GOOD_BODY]],
    ['a transfer coding after chunked', [head('Transfer-Encoding: chunked, identity'), `${chunk(GOOD_BODY)}0\r\n\r\n`]],
    [
      'two transfer codings in two headers',
      [head('Transfer-Encoding: chunked', 'Transfer-Encoding: identity'), `${chunk(GOOD_BODY)}0\r\n\r\n`],
    ],
    ['a chunk size that is no number', [head('Transfer-Encoding: chunked'), `zz\r\n${GOOD_BODY}\r\n0\r\n\r\n`]],
    ['a chunk size beyond all numbers', [head('Transfer-Encoding: chunked'), `FFFFFFFFFFFFFFFFF\r\n${GOOD_BODY}`]],
    ['a chunk that is longer than it says', [head('Transfer-Encoding: chunked'), `2\r\n${GOOD_BODY}\r\n0\r\n\r\n`]],
    [
      'a header that goes on in the next line',
      [head('X-Folded: one\r\n Authorization: Bearer x', 'Content-Length: 0')],
    ],
    ['white space before the colon', [head('Content-Length : 0')]],
    ['a header without a name', [head(': nothing', 'Content-Length: 0')]],
    ['a header without a colon', [head('nothing', 'Content-Length: 0')]],
    ['a NUL in a header', [head('X-Nul: a\0b', 'Content-Length: 0')]],
    ['a carriage return in a header', [head('X-Return: a\rb', 'Content-Length: 0')]],
    ['lines that end in LF alone', [`POST /graphql HTTP/1.1\nHost: gateway.test\nContent-Length: 0\n\n`]],
    ['a method in small letters', ['post /graphql HTTP/1.1\r\nHost: gateway.test\r\n\r\n']],
    ['an unknown method', ['FETCH /graphql HTTP/1.1\r\nHost: gateway.test\r\n\r\n']],
    ['a version that does not exist', ['GET /graphql HTTP/9.9\r\nHost: gateway.test\r\n\r\n']],
    ['HTTP/0.9', ['GET /graphql\r\n\r\n']],
    ['the preface of HTTP/2', ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n']],
    ['a TLS handshake', [Buffer.from('160301020001000001fc0303', 'hex'), Buffer.alloc(64)]],
    ['white space in the target', ['GET /graph ql HTTP/1.1\r\nHost: gateway.test\r\n\r\n']],
    ['no Host', ['GET /graphql HTTP/1.1\r\n\r\n']],
    ['no Host and a body', [`POST /graphql HTTP/1.1\r\n${JSON_TYPE}\r\nContent-Length: 0\r\n\r\n`]],
  ] as [string, (string | Buffer)[]][]
).map(([name, send]) => ({ name, send, status: [400, 401, 505] }));

const targets: Row[] = [
  ['a slash more at the end', '/graphql/'],
  ['a slash more at the start', '//graphql'],
  ['another case', '/GraphQL'],
  ['a NUL, escaped', '/graphql%00'],
  ['a parameter in the path', '/graphql;a=b'],
  ['steps up', '/graphql/../metrics'],
  ['steps up, escaped', '/graphql/%2e%2e/metrics'],
  ['a broken escape', '/%zz'],
  ['a health check on the public port', '/healthz'],
  ['metrics on the public port', '/metrics'],
  ['the file system', '/../../etc/passwd'],
].map(([name = '', target = '']) => ({
  name: `a target with ${name}`,
  send: { target, ...text(GOOD_BODY) },
  status: [400, 404],
  code: 'BAD_REQUEST',
}));

const methods: Row[] = ['PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND'].map((method) => ({
  name: `the method ${method}`,
  send: { method, headers: [JSON_TYPE], ...(method === 'TRACE' ? {} : { body: GOOD_BODY }) },
  status: [400, 404, 405],
  hasNot: /gateway\.test/,
}));

const repeated: Row[] = ['Host: other.test', 'Content-Type: application/json', 'Content-Encoding: identity'].map(
  (line) => ({
    name: `the header ${line.split(':')[0]} twice`,
    send: { headers: ['Host: gateway.test', JSON_TYPE, 'Content-Encoding: identity', line], body: GOOD_BODY },
    status: line.startsWith('Host') ? 400 : 415,
    code: 'BAD_REQUEST',
  }),
);

const query = encodeURIComponent(GOOD);
const PREFLIGHT = 'Apollo-Require-Preflight: yes';

const gets: Row[] = [
  {
    name: 'GET with nothing but a token, which forces a preflight',
    send: { method: 'GET', target: `/graphql?query=${query}` },
    status: 200,
    data: GOOD_DATA,
    upstream: [PLAYER],
  },
  {
    name: 'GET with a simple content type',
    send: { method: 'GET', target: `/graphql?query=${query}`, headers: ['Content-Type: text/plain'] },
    status: 415,
    code: 'BAD_REQUEST',
  },
  {
    name: 'a mutation by GET',
    send: {
      method: 'GET',
      target: `/graphql?query=${encodeURIComponent('mutation { deletePlayer(input: { playerUniqueId: "p1" }) { userErrors { code } } }')}`,
      headers: [PREFLIGHT],
    },
    as: 'server',
    status: 405,
  },
  {
    name: 'a mutation by GET beside a query',
    send: {
      method: 'GET',
      target: `/graphql?operationName=M&query=${encodeURIComponent('query Q { __typename } mutation M { deletePlayer(input: { playerUniqueId: "p1" }) { userErrors { code } } }')}`,
      headers: [PREFLIGHT],
    },
    as: 'server',
    status: 405,
  },
  {
    name: 'a mutation by GET that calls itself POST',
    send: {
      method: 'GET',
      target: `/graphql?_method=POST&query=${encodeURIComponent('mutation { deletePlayer(input: { playerUniqueId: "p1" }) { userErrors { code } } }')}`,
      headers: [PREFLIGHT, 'X-HTTP-Method-Override: POST'],
    },
    as: 'server',
    status: 405,
  },
  {
    name: 'GET with the query twice',
    send: { method: 'GET', target: `/graphql?query=${query}&query=${query}`, headers: [PREFLIGHT] },
    status: 400,
    code: 'BAD_REQUEST',
  },
  {
    name: 'GET with variables that are no JSON',
    send: { method: 'GET', target: `/graphql?query=${query}&variables={`, headers: [PREFLIGHT] },
    status: 400,
    code: 'BAD_REQUEST',
  },
  {
    name: 'GET with variables twice',
    send: { method: 'GET', target: `/graphql?query=${query}&variables={}&variables={}`, headers: [PREFLIGHT] },
    status: 400,
    code: 'BAD_REQUEST',
  },
  {
    name: 'GET with an operation in a body',
    send: { method: 'GET', headers: [PREFLIGHT, JSON_TYPE], body: GOOD_BODY },
    status: 400,
    has: /must not have a body/,
  },
  {
    name: 'HEAD',
    send: { method: 'HEAD', target: `/graphql?query=${query}`, headers: [PREFLIGHT] },
    status: [400, 404, 405],
  },
  {
    name: 'POST with the operation in the query',
    send: { target: `/graphql?query=${query}`, headers: [JSON_TYPE], body: '{}' },
    status: 400,
  },
  {
    name: 'an honest GET',
    send: { method: 'GET', target: `/graphql?query=${query}`, headers: [PREFLIGHT] },
    status: 200,
    data: GOOD_DATA,
    upstream: [PLAYER],
  },
];

const other: Row[] = [
  {
    name: 'an absolute target, as a proxy is asked',
    send: { target: 'http://evil.example/graphql', ...text(GOOD_BODY) },
    status: 200,
    data: GOOD_DATA,
    upstream: [PLAYER],
  },
  {
    name: 'headers of 17 KB',
    send: { headers: [JSON_TYPE, `X-Large: ${'x'.repeat(17_000)}`], body: GOOD_BODY },
    status: 431,
  },
  {
    name: 'a target of 17 KB',
    send: { method: 'GET', target: `/graphql?query=${'x'.repeat(17_000)}`, headers: [PREFLIGHT] },
    status: 431,
  },
  {
    name: 'a token of 17 KB',
    send: { headers: [JSON_TYPE, `Authorization: Bearer ${'x'.repeat(17_000)}`], body: GOOD_BODY },
    as: 'nobody',
    status: 431,
  },
  {
    name: 'three thousand headers',
    send: { headers: [JSON_TYPE, ...Array(3_000).fill('a: b')], body: GOOD_BODY },
    status: 431,
    code: 'BAD_REQUEST',
  },
  { name: 'a request inside the body of another', send: text(SMUGGLED), status: 400, answers: 1 },
  {
    name: 'a request after the body of another that ends the connection',
    send: [requestBytes(text(GOOD_BODY)), SMUGGLED],
    status: [400, 401],
    answers: 1,
  },
  { name: 'an expectation nobody has', send: { headers: [JSON_TYPE, 'Expect: 200-ok'], body: GOOD_BODY }, status: 417 },
  {
    name: 'an upgrade to a web socket',
    send: {
      method: 'GET',
      headers: [
        'Connection: close, Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Protocol: graphql-transport-ws',
      ],
    },
    status: 400,
    hasNot: /101 Switching/,
  },
  {
    name: 'an upgrade to HTTP/2',
    send: {
      headers: [
        JSON_TYPE,
        'Connection: close, Upgrade, HTTP2-Settings',
        'Upgrade: h2c',
        'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA',
      ],
      body: GOOD_BODY,
    },
    status: 200,
    data: GOOD_DATA,
    upstream: [PLAYER],
    hasNot: /101 Switching/,
  },
  {
    name: 'CONNECT',
    send: ['CONNECT upstream.test:443 HTTP/1.1\r\nHost: upstream.test:443\r\n\r\n'],
    status: [0, 400, 404, 405],
  },
  {
    name: 'a trailer with a token',
    send: [
      'POST /graphql HTTP/1.1\r\nHost: gateway.test\r\nConnection: close\r\nTransfer-Encoding: chunked\r\nTrailer: Authorization\r\nContent-Type: application/json\r\n\r\n',
      `${chunk(GOOD_BODY)}0\r\nAuthorization: Bearer x\r\n\r\n`,
    ],
    status: 401,
  },
  {
    name: "the REST service's headers, sent by a client",
    send: text(GOOD_BODY, 'APIKey: stolen', 'secretKey: stolen', 'Lang: fr', 'X-Api-Key: stolen'),
    status: 200,
    data: GOOD_DATA,
    upstream: [PLAYER],
  },
  {
    name: 'a request id that is none',
    send: text(GOOD_BODY, 'X-Request-Id: <script>alert(1)</script>'),
    status: 200,
    data: GOOD_DATA,
    upstream: [PLAYER],
    hasNot: /script/,
  },
  {
    name: 'an origin that is not ours',
    send: text(GOOD_BODY, 'Origin: https://evil.example'),
    status: 200,
    data: GOOD_DATA,
    upstream: [PLAYER],
    hasNot: /access-control-allow-origin/i,
  },
  {
    name: 'a preflight from an origin that is not ours',
    send: {
      method: 'OPTIONS',
      headers: [
        'Origin: https://evil.example',
        'Access-Control-Request-Method: POST',
        'Access-Control-Request-Headers: authorization',
      ],
    },
    as: 'nobody',
    status: [204, 400, 404, 405],
    hasNot: /access-control-allow-origin/i,
  },
  {
    name: 'an origin of null',
    send: text(GOOD_BODY, 'Origin: null'),
    status: 200,
    data: GOOD_DATA,
    upstream: [PLAYER],
    hasNot: /access-control-allow-origin/i,
  },
  {
    name: 'a connection header that takes the token away',
    send: text(GOOD_BODY, 'Connection: close, Authorization'),
    status: 200,
    data: GOOD_DATA,
    upstream: [PLAYER],
  },
  {
    name: 'a browser that asks for a page in production',
    send: { method: 'GET', headers: ['Accept: text/html'] },
    as: 'nobody',
    status: [400, 401],
    hasNot: /<html|sandbox/i,
  },
  { name: 'nobody', send: operation(GOOD), as: 'nobody', status: 401, code: 'UNAUTHENTICATED' },
  {
    name: 'nobody, for __typename',
    send: operation('{ __typename }'),
    as: 'nobody',
    status: 401,
    code: 'UNAUTHENTICATED',
  },
  {
    name: 'nobody, with a document that cannot be parsed',
    send: operation('{'),
    as: 'nobody',
    status: 401,
    code: 'UNAUTHENTICATED',
  },
  {
    name: 'nobody, with a persisted query',
    send: operation(undefined, {}, { extensions: { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } } }),
    as: 'nobody',
    status: 401,
    code: 'UNAUTHENTICATED',
  },
];

export const transport: Row[] = [...framing, ...targets, ...methods, ...repeated, ...gets, ...other];
