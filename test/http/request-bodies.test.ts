import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { startBoth } from '../kit/gateway.ts';
import { get, post } from '../kit/post.ts';
import { raw, requestBytes } from '../kit/raw.ts';

/* Bodies that routers and some clients compress, those that begin with a byte order mark, and those that are none. */

const LIMIT = 4_096;
const { gateway, upstream } = await startBoth({ MAX_BODY_BYTES: `${LIMIT}` });

async function send(body: string | Buffer, headers: Record<string, string> = {}) {
  const given = { 'content-type': 'application/json', ...headers };
  const response = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: given,
    body: new Blob([new Uint8Array(Buffer.from(body))]),
  });
  const { data, errors } = await response.json();
  return [response.status, data?.player?.id ?? errors[0].message];
}

const BODY = JSON.stringify({ query: '{ player(playerUniqueId: "p1") { id } }' });

test.each([
  ['gzip', gzipSync(BODY)],
  ['gzip', gzipSync(BODY).subarray(0, -8)],
  ['br', brotliCompressSync(BODY)],
  ['deflate', deflateSync(BODY)],
  ['gzip, br', brotliCompressSync(gzipSync(BODY))],
])('a request compressed with %s', async (encoding, body) => {
  expect(await send(body, { 'content-encoding': encoding })).toEqual([200, 'p1']);
});

test('texts that are empty are absent, in a body and in an address', async () => {
  const query = 'query Own { player(playerUniqueId: "p1") { id } }';
  const empty = { operationName: '', variables: '', extensions: '' };
  expect((await post(gateway.url, { ...empty, documentId: '', query })).data).toEqual({ player: { id: 'p1' } });
  expect((await get(gateway.url, { ...empty, query })).data).toEqual({ player: { id: 'p1' } });
  expect((await get(gateway.url, { query, ...empty })).data).toEqual({ player: { id: 'p1' } });
  const extensions = { persistedQuery: { version: 1, sha256Hash: 'ab'.repeat(32) } };
  expect((await post(gateway.url, { query: '', extensions })).codes).toEqual(['PERSISTED_QUERY_NOT_FOUND']);
  expect((await post(gateway.url, { query: '' })).status).toBe(400);
});

test('PHP writes an object without properties as []: as variables, extensions and metadata', async () => {
  const query = 'query Own { player(playerUniqueId: "p1") { id } }';
  expect((await post(gateway.url, { query, variables: [], extensions: [] })).data).toEqual({ player: { id: 'p1' } });
  expect((await post(gateway.url, { query, variables: [1] })).status).toBe(400);
  const track = 'mutation ($input: TrackEventsInput!) { trackEvents(input: $input) { userErrors { code } } }';
  const event = { name: 'visit', metadata: [] };
  const { data } = await post(gateway.url, {
    query: track,
    variables: { input: { playerUniqueId: 'p1', events: [event] } },
  });
  expect(data).toEqual({ trackEvents: { userErrors: [] } });
  expect(upstream.requests.at(-1)?.body).toMatchObject({ events: { visit: {} } });
});

test('null in an address is absent, as in a body', async () => {
  const query = 'query Own { player(playerUniqueId: "p1") { id } }';
  const none = { operationName: 'null', variables: 'null', extensions: 'null' };
  expect((await get(gateway.url, { ...none, query })).data).toEqual({ player: { id: 'p1' } });
  expect((await get(gateway.url, { query, ...none })).data).toEqual({ player: { id: 'p1' } });
  const nulls = { query, operationName: null, variables: null, extensions: null };
  expect((await post(gateway.url, nulls)).data).toEqual({ player: { id: 'p1' } });
});

test.each(['null', '7', '"{ me { id } }"', '{}', '{"query": ""}', '{"querry": "{ me { id } }"}', '{"variables": {}}'])(
  'the JSON %s has no operation, and the message says what to send',
  async (body) => {
    const message = expect.stringMatching(/^The request has no operation\. Send its text as "query": in the body, /);
    expect(await send(body)).toEqual([400, message]);
  },
);

/** Envoy and others send a request of HTTP/2 whose end they have not seen yet so. */
test('a GET in chunks that has no body but the last chunk, early or late', async () => {
  const query = encodeURIComponent('{ player(playerUniqueId: "p1") { id } }');
  const headers = ['Host: localhost', 'Apollo-Require-Preflight: yes', 'Transfer-Encoding: chunked'];
  const head = requestBytes({ method: 'GET', target: `/graphql?query=${query}`, headers });
  const end = '0\r\n\r\n';
  for (const parts of [[Buffer.concat([head, Buffer.from(end)])], [head, end]]) {
    const { status, body } = await raw(gateway.url, ...parts);
    expect([status, JSON.parse(body).data]).toEqual([200, { player: { id: 'p1' } }]);
  }
});

test('a byte order mark before the JSON', async () => {
  expect(await send(`\ufeff${BODY}`)).toEqual([200, 'p1']);
  expect(await send(gzipSync(`\ufeff${BODY}`), { 'content-encoding': 'gzip' })).toEqual([200, 'p1']);
});

test.each([
  ['larger than the limit when it is decoded', 'gzip', gzipSync(BODY.padEnd(LIMIT + 1)), 413, /larger than 4096 bytes/],
  ['a thousand times its size', 'br', brotliCompressSync(Buffer.alloc(LIMIT * 1_000)), 413, /larger than 4096 bytes/],
  ['larger between two codings', 'gzip, gzip', gzipSync(gzipSync(Buffer.alloc(LIMIT * 99))), 413, /larger/],
  ['no gzip', 'gzip', Buffer.from(BODY), 400, /corrupt: its content-encoding is "gzip"/],
  ['cut', 'gzip', gzipSync(BODY).subarray(0, 30), 400, /corrupt/],
  ['cut by the last byte of its content', 'gzip', gzipSync(BODY).subarray(0, -9), 400, /corrupt/],
  ['larger, and has no checksum', 'gzip', gzipSync(BODY.padEnd(LIMIT + 1)).subarray(0, -8), 413, /larger/],
  ['in a coding that is not known', 'zstd', Buffer.from(BODY), 415, /gzip, deflate or br only/],
  ['in three codings', 'gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(BODY))), 415, /gzip, deflate or br only/],
])('a body that is %s is refused, and nothing is read', async (_problem, encoding, body, status, message) => {
  upstream.forget();
  expect(await send(body, { 'content-encoding': encoding })).toEqual([status, expect.stringMatching(message)]);
  expect(upstream.requests).toEqual([]);
  expect(await send(BODY)).toEqual([200, 'p1']);
});
