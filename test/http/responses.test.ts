import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from '@jest/globals';
import { player, startWithCallers, WHAT } from '../kit/callers.ts';
import { startBoth, startGateway } from '../kit/gateway.ts';
import { raw } from '../kit/raw.ts';
import { secretSigner, token } from '../kit/tokens.ts';

/* The media type and the compression that a client asks for. */

const rate = { MAX_OPERATIONS_PER_SECOND: '1', MAX_OPERATIONS_BURST: '9' };
const all = await startWithCallers({ ...rate, MAX_CONCURRENT_OPERATIONS: '8' });

const QUERY = '{ me { id } }';

/** What Apollo Client 4 and urql 5 send. */
test.each([
  ['a', 'application/graphql-response+json,application/json;q=0.9'],
  [
    'b',
    'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed',
  ],
])('%s: responses of 200, 400, 401, 429 and 503 have the type that %s asks for', async (sub, accept) => {
  const authorization = String(player(sub, 'players:read').authorization);
  const ask = async (query: string, headers: Record<string, string> = { authorization }) => {
    const { status, headers: sent } = await all.gateway.query(query, {}, { accept, ...headers });
    return [status, sent.get('content-type')];
  };
  const type = 'application/graphql-response+json; charset=utf-8';
  const held = all.upstream.hold('GET /player');
  const first = ask('{ me { attributes { firstName } } }');
  await held.arrived;
  expect(await ask(QUERY)).toEqual([503, type]);
  held.release();
  expect(await first).toEqual([200, type]);
  expect(await ask('{ unknown }')).toEqual([400, type]);
  expect(await ask(QUERY, {})).toEqual([401, type]);
  const statuses: unknown[] = [];
  while (statuses.length < 20) statuses.push(await ask(QUERY));
  expect(statuses).toContainEqual([429, type]);
});

test('a write and an error are answered with JSON, whatever else is asked for', async () => {
  const query = 'mutation { upsertPlayer(input: { playerUniqueId: "p1" }) { userErrors { code } } }';
  const headers = { authorization: String(player('p1', 'players:write').authorization), accept: 'image/png' };
  const { status, data, headers: sent } = await all.gateway.query(query, {}, headers);
  expect([status, data.upsertPlayer.userErrors]).toEqual([200, []]);
  expect(sent.get('content-type')).toBe('application/json; charset=utf-8');
  const unknown = await all.gateway.query('{ unknown }', {}, headers);
  expect([unknown.status, unknown.codes]).toEqual([400, ['GRAPHQL_VALIDATION_FAILED']]);
});

test('an idle connection is kept for longer than the proxies of most platforms keep theirs, two minutes', async () => {
  const authorization = String(player('idle', 'players:read').authorization);
  const { headers } = await all.gateway.query('{ __typename }', {}, { authorization });
  expect(Number(/timeout=(\d+)/.exec(headers.get('keep-alive') ?? '')?.[1])).toBeGreaterThan(120);
});

const SCREEN = '{ me { coupons { code group { title } } referredFriends(limit: 50) { nodes { displayName } } } }';

test.each([
  ['p1', 'a large response is compressed for a client that takes gzip', SCREEN, 'gzip', 'gzip'],
  ['p2', 'a large response is not compressed for another client', SCREEN, 'br', null],
  ['p3', 'a small response is not compressed', '{ __typename }', 'gzip', null],
])('%s: %s', async (sub, _name, query, accepted, encoding) => {
  const authorization = String(player(sub, ...WHAT).authorization);
  const ask = (encodings: string) => all.gateway.query(query, {}, { authorization, 'accept-encoding': encodings });
  const { headers, data, text } = await ask(accepted);
  expect(headers.get('content-encoding')).toBe(encoding);
  expect(headers.get('vary')).toContain(encoding ? 'accept-encoding' : '');
  expect(text.length > 2_048).toBe(query === SCREEN);
  // The log has the bytes before compression.
  expect(all.gateway.logged()).toContain(`"bytes":${Buffer.byteLength(text)},`);
  expect(data).toEqual((await ask('identity')).data);
});

test('a slash at the end of the path is the same path, with the same access', async () => {
  const signer = secretSigner();
  const { gateway } = await startBoth(signer.env);
  const ask = (path: string, authorization?: string) =>
    fetch(`${new URL(gateway.url).origin}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
      body: JSON.stringify({ query: '{ me { id } }' }),
    });
  const statuses = async (path: string) => [
    (await ask(path)).status,
    (await ask(path, `Bearer ${token(signer)}`)).status,
    (await fetch(`${new URL(gateway.url).origin}${path}`, { method: 'PUT' })).status,
  ];
  expect(await statuses('/graphql/')).toEqual(await statuses('/graphql'));
  expect((await ask('/graphql//')).status).toBe(404);
});

test.each([
  ['the default', {}, 431],
  ['MAX_HEAD_BYTES=65536', { MAX_HEAD_BYTES: '65536' }, 200],
])('%s: a head of 50 KB has the status %d', async (_, env, status) => {
  const gateway = await startGateway(all.upstream.url, { ...env });
  const headers = { 'apollo-require-preflight': '1', cookie: 'a'.repeat(50_000) };
  expect((await fetch(`${gateway.url}?query={__typename}`, { headers })).status).toBe(status);
});

const NAME = '{"query":"{ player(playerUniqueId: \\"p1\\") { attributes { city } } }"}';
const TYPED = 'POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
const READ = `${TYPED}Content-Length: ${NAME.length}\r\n\r\n${NAME}`;

/** Proxies take a connection that is closed without a response for a broken server, and stop using it for everybody. */
test.each([
  ['a space in its target', 'GET /graphql?query={ me } HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ['a header line without a colon', 'GET /graphql HTTP/1.1\r\nHost: localhost\r\nNo header: a\r\n\r\n'],
  [
    'a target that cannot be decoded, and a broken body',
    `${TYPED.replace('/graphql', '/%zz')}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
  ],
  ['a broken body', `${TYPED}Transfer-Encoding: chunked\r\n\r\nzz\r\n`],
])('a request with %s gets 400 on a connection that had a response, too', async (_what, request) => {
  const { gateway } = await startBoth();
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  const closed = once(socket, 'close');
  socket.once('data', () => socket.write(request)).write(READ);
  await closed;
  expect([...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['200', '400']);
});

/** A reset in place of the response makes a proxy give the gateway up, for all its clients. */
test.each([
  ['of an unknown path', 404, 'POST /nope HTTP/1.1\r\nHost: localhost\r\n'],
  ['that is too large', 413, TYPED],
  ['of a path that cannot be decoded', 400, 'POST /%ff HTTP/1.1\r\nHost: localhost\r\n'],
  ['of another type', 415, TYPED.replace('/json', '/xml')],
  ['after a header line without a colon', 400, 'POST /graphql HTTP/1.1\r\nNo header: a\r\n'],
  ['after a head that is too long', 431, `${TYPED}Cookie: ${'a'.repeat(20_000)}\r\n`],
])('a megabyte %s is read to its end, so that the response %d arrives', async (_what, status, head) => {
  const { gateway } = await startBoth();
  const { hostname, port } = new URL(gateway.url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  const body = Buffer.alloc(1_000_000, 'x');
  socket.write(`${head}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n`);
  // The gateway has read the head.
  await gateway.query('{ __typename }');
  socket.end(body);
  // Rejects after a reset.
  await once(socket, 'close');
  const statuses = [...String(Buffer.concat(chunks)).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, seen]) => Number(seen));
  expect(statuses).toEqual([status]);
});

test('a response to a broken request never comes before that of an earlier one', async () => {
  const { gateway, upstream } = await startBoth();
  const held = upstream.hold('GET /player');
  const answer = raw(gateway.url, `${READ}${TYPED}Transfer-Encoding: chunked\r\n\r\nzz\r\n`);
  expect((await answer).statuses).toEqual([]);
  held.release();
});
