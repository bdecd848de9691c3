import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from '@jest/globals';
import { startBoth } from '../kit/gateway.ts';
import { post } from '../kit/post.ts';
import { bearer, secretSigner } from '../kit/tokens.ts';

const signer = secretSigner();

test('failures from 50,100 addresses refuse no valid token of a new user', async () => {
  const { gateway } = await startBoth({
    ...signer.env,
    MAX_FAILED_AUTHENTICATIONS_PER_SECOND: '1',
    MAX_FAILED_AUTHENTICATIONS_BURST: '60',
    TRUST_PROXY: 'true',
  });
  const addressOf = (i: number) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`;
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.setEncoding('latin1').on('data', (part: string) => {
    text += part;
  });
  const requests = Array.from(
    { length: 50_100 },
    (_, i) => `GET /graphql HTTP/1.1\r\nHost: g\r\nX-Forwarded-For: ${addressOf(i)}\r\n\r\n`,
  );
  socket.end(requests.join(''));
  await once(socket, 'close');
  expect(new Set(text.match(/HTTP\/1\.1 \d+/g))).toEqual(new Set(['HTTP/1.1 401', 'HTTP/1.1 429']));
  const from = (address: string, token: object) => ({ ...token, 'x-forwarded-for': address });
  const send = (i: number, token: object) =>
    post(gateway.url, { query: '{ __typename }' }, from(addressOf(50_100 + i), token));
  for (let i = 0; i < 20; i += 1)
    expect((await send(i, bearer(signer, { sub: `new-${i}`, scope: 'players:read' }))).status).toBe(200);
  expect((await send(0, bearer('guess'))).status).toBe(429);
});
