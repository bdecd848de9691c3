import { type RawRequest, requestBytes } from '../kit/raw.ts';
import { AUTHORIZED, GOOD, GOOD_BODY, GOOD_DATA, JSON_TYPE, operation, PLAYER, type Row, rows, text } from './row.ts';

const head = (...lines: string[]) =>
  `POST /graphql HTTP/1.1\r\nHost: gateway.test\r\n${AUTHORIZED}\r\n${JSON_TYPE}\r\n${lines.join('\r\n')}\r\n\r\n`;
const chunk = (body: string) => `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n`;
const SMUGGLED = 'GET /graphql?query=%7Bme%7Bid%7D%7D HTTP/1.1\r\nHost: gateway.test\r\n\r\n';
const LENGTH = `Content-Length: ${GOOD_BODY.length}`;
const CHUNKED = 'Transfer-Encoding: chunked';
const last = `${chunk(GOOD_BODY)}0\r\n\r\n`;

const coded = (coding: string, ...more: string[]) => [head(`Transfer-Encoding: ${coding}`, ...more), last];

/** Bytes that are no request, or two requests in one, with a valid token: no proxy may understand them differently. */
const framing: Row[] = rows(
  { status: 400 },
  ['a length and a transfer coding', [head(LENGTH, CHUNKED), last]],
  ['two lengths', [head('Content-Length: 0', LENGTH), GOOD_BODY]],
  ['an unknown transfer coding', coded('xchunked')],
  ['the transfer coding identity', [head('Transfer-Encoding: identity'), GOOD_BODY]],
  ['the transfer coding identity and a length', [head('Transfer-Encoding: identity', LENGTH), GOOD_BODY]],
  ['identity before chunked', coded('identity, chunked')],
  ['identity and chunked in two headers', coded('identity', CHUNKED)],
  ['gzip before chunked', coded('gzip, chunked')],
  ['an empty transfer coding', [head('Transfer-Encoding: ', LENGTH), GOOD_BODY]],
  ['chunked twice', coded('chunked, chunked')],
  ['a transfer coding after chunked', coded('chunked, identity')],
  ['a chunk that is longer than it says', [head(CHUNKED), `2\r\n${GOOD_BODY}\r\n0\r\n\r\n`]],
  ['a header that goes on in the next line', [head('X-Folded: one\r\n Authorization: Bearer x', 'Content-Length: 0')]],
  ['white space before the colon', [head('Content-Length : 0')]],
  ['lines that end in LF alone', ['POST /graphql HTTP/1.1\nHost: gateway.test\nContent-Length: 0\n\n']],
  ['the preface of HTTP/2', ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n']],
  ['a TLS handshake', [Buffer.from('160301020001000001fc0303', 'hex'), Buffer.alloc(64)]],
  ['no Host', ['GET /graphql HTTP/1.1\r\n\r\n']],
);

/** One request never gets two responses: the second would be taken for that of the next request. */
const broken = (path: string, line: string) => [
  `POST ${path} HTTP/1.1\r\nHost: gateway.test\r\n${line}\r\n${CHUNKED}\r\n\r\nzz\r\n`,
];
const refusedBeforeTheBody: Row[] = rows(
  { status: 400 },
  ['an unknown path, and a body that is no HTTP', broken('/nothing', AUTHORIZED), { status: 404 }],
  ['no token, and a body that is no HTTP', broken('/graphql', 'X-Nothing: 1')],
);

const target = (path: string): RawRequest => ({ target: path, ...text(GOOD_BODY) });
const targets: Row[] = rows(
  { status: [400, 404], code: 'BAD_REQUEST' },
  ['a target with a slash more at the end', target('/graphql/')],
  ['a target with a slash more at the start', target('//graphql')],
  ['a target in another case', target('/GraphQL')],
  ['a target with a NUL, escaped', target('/graphql%00')],
  ['a target with a parameter in the path', target('/graphql;a=b')],
  ['a target that steps up', target('/graphql/../metrics')],
  ['a target that steps up, escaped', target('/graphql/%2e%2e/metrics')],
  ['a target with a broken escape', target('/%zz')],
  ['a health check on the public port', target('/healthz')],
  ['metrics on the public port', target('/metrics')],
  ['a target in the file system', target('/../../etc/passwd')],
);

const methods: Row[] = ['PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND'].map((method) => ({
  name: `the method ${method}`,
  send: { method, headers: [JSON_TYPE], ...(method === 'TRACE' ? {} : { body: GOOD_BODY }) },
  status: [400, 404, 405],
  hasNot: /gateway\.test/,
}));

const bad = { status: 400, code: 'BAD_REQUEST' };
const good = { status: 200, data: GOOD_DATA, upstream: [PLAYER] };
const header = (...lines: string[]): RawRequest => ({ headers: [JSON_TYPE, ...lines], body: GOOD_BODY });

const repeated: Row[] = rows(
  { status: 415, code: 'BAD_REQUEST' },
  ['the header Host twice', header('Host: gateway.test', 'Host: other.test'), bad],
  ['the header Content-Type twice', header('Content-Type: application/json')],
  ['the header Content-Encoding twice', header('Content-Encoding: identity', 'Content-Encoding: identity')],
);

const PREFLIGHT = 'Apollo-Require-Preflight: yes';
const query = encodeURIComponent(GOOD);
const remove = encodeURIComponent(
  'mutation M { deletePlayer(input: { playerUniqueId: "p1" }) { userErrors { code } } }',
);
const get = (search: string, ...headers: string[]): RawRequest => ({
  method: 'GET',
  target: `/graphql?${search}`,
  headers: [PREFLIGHT, ...headers],
});

const gets: Row[] = [
  ...rows(
    good,
    ['GET', get(`query=${query}`)],
    ['GET with nothing but a token, which forces a preflight', { ...get(`query=${query}`), headers: [] }],
  ),
  ...rows(
    { status: 405, as: 'server' },
    ['a mutation by GET', get(`query=${remove}`)],
    [
      'a mutation by GET beside a query',
      get(`operationName=M&query=${encodeURIComponent('query Q { me { id } } ')}${remove}`),
    ],
    ['a mutation by GET that calls itself POST', get(`_method=POST&query=${remove}`, 'X-HTTP-Method-Override: POST')],
  ),
  ...rows(
    bad,
    ['GET with the query twice', get(`query=${query}&query=${query}`)],
    ['GET with variables that are no JSON', get(`query=${query}&variables={`)],
    ['GET with a number that loses digits', get(`query=${query}&variables={"id":9007199254740993}`)],
    ['GET with variables twice', get(`query=${query}&variables={}&variables={}`)],
    [
      'GET with a simple content type',
      { ...get(`query=${query}`), headers: ['Content-Type: text/plain'] },
      { status: 415 },
    ],
  ),
  ...rows(
    { status: 400 },
    ['GET with an operation in a body', { ...get(''), ...header(PREFLIGHT) }, { has: /must not have a body/ }],
    ['HEAD', { ...get(`query=${query}`), method: 'HEAD' }, { status: [400, 404, 405] }],
    ['POST with the operation in the query', { ...text('{}'), target: `/graphql?query=${query}` }],
  ),
];

const UPGRADE = 'Connection: close, Upgrade';
const long = 'x'.repeat(17_000);
const notAllowed = { hasNot: /access-control-allow-origin/i };
const preflight = ['Access-Control-Request-Method: POST', 'Access-Control-Request-Headers: authorization'];
const persisted = { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } };

const other: Row[] = [
  ...rows(
    good,
    ['an absolute target, as a proxy is asked', target('http://evil.example/graphql')],
    [
      "the REST service's headers, sent by a client",
      header('APIKey: stolen', 'secretKey: stolen', 'Lang: fr', 'X-Api-Key: stolen'),
    ],
    ['a request id that is none', header('X-Request-Id: <script>alert(1)</script>'), { hasNot: /script/ }],
    ['an origin that is not ours', header('Origin: https://evil.example'), notAllowed],
    ['an origin of null', header('Origin: null'), notAllowed],
    ['a connection header that takes the token away', header('Connection: close, Authorization')],
    [
      'an upgrade to HTTP/2',
      header(UPGRADE, 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA'),
      { hasNot: /101 Switching/ },
    ],
  ),
  ...rows(
    { status: 431 },
    ['headers of 17 KB', header(`X-Large: ${long}`)],
    ['a target of 17 KB', get(`query=${long}`)],
    ['a token of 17 KB', header(`Authorization: Bearer ${long}`), { as: 'nobody' }],
    ['three thousand headers', header(...Array(3_000).fill('a: b')), { code: 'BAD_REQUEST' }],
  ),
  ...rows(
    { status: [400, 401], answers: 1 },
    ['a request inside the body of another', text(SMUGGLED)],
    ['a request after one that ends the connection', [requestBytes(text(GOOD_BODY)), SMUGGLED]],
    [
      'an upgrade to a web socket',
      { method: 'GET', headers: [UPGRADE, 'Upgrade: websocket', 'Sec-WebSocket-Protocol: graphql-transport-ws'] },
      { hasNot: /101 Switching/ },
    ],
    [
      'a trailer with a token',
      [
        `POST /graphql HTTP/1.1\r\nHost: gateway.test\r\nConnection: close\r\n${CHUNKED}\r\nTrailer: Authorization\r\n${JSON_TYPE}\r\n\r\n`,
        `${chunk(GOOD_BODY)}0\r\nAuthorization: Bearer x\r\n\r\n`,
      ],
    ],
    [
      'a browser that asks for a page in production',
      { method: 'GET', headers: ['Accept: text/html'] },
      { as: 'nobody', hasNot: /<html|sandbox/i },
    ],
  ),
  ...rows(
    { status: [0, 204, 400, 404, 405] },
    ['CONNECT', ['CONNECT upstream.test:443 HTTP/1.1\r\nHost: upstream.test:443\r\n\r\n']],
    [
      'a preflight from an origin that is not ours',
      { method: 'OPTIONS', headers: ['Origin: https://evil.example', ...preflight] },
      { as: 'nobody', ...notAllowed },
    ],
    ['an expectation nobody has', header('Expect: 200-ok'), { status: 417 }],
  ),
  ...rows(
    { as: 'nobody', status: 401, code: 'UNAUTHENTICATED' },
    ['HTTP/0.9, which has no headers', ['GET /graphql\r\n\r\n']],
    ['nobody', GOOD],
    ['nobody, for __typename', '{ __typename }'],
    ['nobody, with a document that cannot be parsed', '{'],
    ['nobody, with a persisted query', operation(undefined, {}, { extensions: persisted })],
  ),
];

export const transport: Row[] = [
  ...framing,
  ...refusedBeforeTheBody,
  ...targets,
  ...methods,
  ...repeated,
  ...gets,
  ...other,
];
