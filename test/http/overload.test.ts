import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { startBoth, type TestGateway } from '../kit/gateway.ts';
import { keySigner, token } from '../kit/tokens.ts';

let both: Awaited<ReturnType<typeof startBoth>> | undefined;
beforeEach(() => {
  both = undefined;
});
afterEach(() => both?.close());

async function start(env: Record<string, string>) {
  both = await startBoth(env);
  return both;
}

test('a caller with an eighth of MAX_CONCURRENT_OPERATIONS in flight gets 503, until one of them ends', async () => {
  const { gateway, upstream } = await start({ MAX_CONCURRENT_OPERATIONS: '16' });
  const held = [upstream.hold('GET /player'), upstream.hold('GET /player')];
  const ask = (id: string) => gateway.query(`{ player(playerUniqueId: "${id}") { id } }`);
  const first = [ask('p1'), ask('p2')];
  await upstream.received(2);

  const { status, headers, data, errors, extensions } = await gateway.query(
    '{ player(playerUniqueId: "p3") { id } }',
    {},
    { origin: 'http://localhost:3000' },
  );
  expect(status).toBe(503);
  expect(headers.get('retry-after')).toBe('1');
  expect(headers.get('access-control-allow-origin')).toBe('http://localhost:3000');
  expect(headers.get('content-type')).toContain('application/json');
  expect({ data, errors }).toEqual({
    data: undefined,
    errors: [
      {
        message: expect.stringContaining('try again'),
        extensions: { code: 'OVERLOADED', retryable: true, retryAfterMs: 1_000 },
      },
    ],
  });
  expect(extensions['requestId']).toBe(headers.get('x-request-id'));
  expect(upstream.requests).toHaveLength(2);
  expect(await gateway.metrics()).toContain('outcome="OVERLOADED"} 1');

  for (const { release } of held) release();
  expect((await Promise.all(first)).map((answer) => answer.status)).toEqual([200, 200]);
  expect((await ask('p3')).data).toEqual({ player: { id: 'p3' } });
});

/** As a request of its own, or one of several that are sent without waiting for an answer. */
const getPlayer = (id: string) =>
  `GET /graphql?query={player(playerUniqueId:"${id}"){id}} HTTP/1.1\r\nHost: localhost\r\nApollo-Require-Preflight: 1\r\n\r\n`;

test('a client that asked several times at once and goes away takes all of it along', async () => {
  const { gateway, upstream } = await start({
    MAX_CONCURRENT_OPERATIONS: '24',
    REST_TIMEOUT_MS: '60000',
    OPERATION_TIMEOUT_MS: '60000',
  });
  upstream.on('GET /player', { fault: 'hang' }, { fault: 'hang' }, { fault: 'hang' }, 'usual');
  const client = open(gateway);
  client.write(getPlayer('p1') + getPlayer('p2') + getPlayer('p3'));
  await upstream.received(3);
  client.resetAndDestroy();
  await Promise.all(upstream.requests.map(({ gone }) => gone));
  const again = await Promise.all([1, 2, 3].map((n) => gateway.query(`{ player(playerUniqueId: "q${n}") { id } }`)));
  expect(again.map(({ status }) => status)).toEqual([200, 200, 200]);
});

test('clients that are gone before their requests begin take no place', async () => {
  const { gateway } = await start({ MAX_CONCURRENT_OPERATIONS: '16' });
  const clients = Array.from({ length: 20 }, () => open(gateway));
  await Promise.all(
    clients.map(async (client) => {
      await once(client, 'connect');
      client.write(getPlayer('p1').repeat(3));
      client.resetAndDestroy();
      await once(client, 'close');
    }),
  );
  const answers = await Promise.all(
    ['q1', 'q2'].map((id) => gateway.query(`{ player(playerUniqueId: "${id}") { id } }`)),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
});

function open({ url }: TestGateway): Socket {
  const { hostname, port } = new URL(url);
  return connect(Number(port), hostname);
}

test('unfinished bodies of a caller take 16 MB at most; further ones get 503', async () => {
  const { gateway } = await start({});
  const body = Buffer.alloc(262_143, ' ');
  const head =
    'POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 262144\r\n\r\n';
  const clients = Array.from({ length: 70 }, () => open(gateway));
  const refused = new Promise<number>((resolve) => {
    let responses = 0;
    for (const client of clients) {
      client.once('data', (data) => {
        expect(String(data)).toMatch(/^HTTP\/1\.1 503 .*\r\nconnection: close\r\n/is);
        responses += 1;
        if (responses === 6) resolve(responses);
      });
    }
  });
  for (const client of clients) client.write(Buffer.concat([Buffer.from(head), body]));
  expect(await refused).toBe(6);
  for (const client of clients) client.destroy();
});

test('clients that go away while their tokens are verified take no slot', async () => {
  const signer = keySigner('RS256', 'k1');
  const keys = createServer((_request, response) => {
    asked();
    void released.then(() => response.end(JSON.stringify({ keys: [signer.jwk] })));
  });
  let asked = () => {};
  const wasAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await once(keys.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(keys.address() as AddressInfo).port}/keys`;
  const { JWT_PUBLIC_KEY: _, ...env } = signer.env;
  const { gateway } = await start({ ...env, JWT_JWKS_URL: url, MAX_CONCURRENT_OPERATIONS: '8' });
  const authorization = `Bearer ${token(signer)}`;
  const request = `GET /graphql?query={__typename} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n\r\n`;
  const clients = Array.from({ length: 5 }, () => open(gateway));
  for (const client of clients) client.write(request);
  await wasAsked;
  await Promise.all(
    clients.map(async (client) => {
      client.resetAndDestroy();
      await once(client, 'close');
    }),
  );
  release();
  const { status } = await gateway.query('{ __typename }', {}, { authorization });
  expect(status).toBe(200);
  expect(await gateway.metrics()).toContain('gateway_operations_active 0');
  keys.close();
});
