import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from '@jest/globals';
import { atEnd } from '../kit/at-end.ts';
import { assertNoLeak } from '../kit/leaks.ts';
import { post } from '../kit/post.ts';
import { raw, requestBytes } from '../kit/raw.ts';
import { secretSigner, token, UNLIMITED } from '../kit/tokens.ts';
import { type Answer, API_KEY, SECRET_KEY } from '../kit/upstream.ts';
import { start, upstream } from './setup.ts';

/* The built gateway goes through operations that succeed and fail in every way; nothing it wrote has a secret or a contact. */

const signer = secretSigner();
const own = token(signer);
const forged = token(secretSigner());
const [EMAIL, MOBILE, DEVICE] = ['very.private@example.org', '+15550001234', 'device-token-of-a-phone'];
const TALKATIVE = JSON.stringify({ message: `${API_KEY} ${SECRET_KEY} ${EMAIL} ${MOBILE}`, email: EMAIL });

const READ = '{ me { id coupons { code } referredFriends { total } } }';
const UPSERT =
  'mutation ($input: UpsertPlayerInput!) { upsertPlayer(input: $input) { serviceId userErrors { code message } } }';
const contacts = { email: EMAIL, mobile: MOBILE };
const input = { playerUniqueId: 'p1', attributes: contacts, device: { token: DEVICE, osType: 'ios' } };

/** None asks for contacts; whatever contacts there are in an answer got there by mistake. */
const OPERATIONS: [query: string, variables?: unknown, jwt?: string][] = [
  ['{ me { id coupons { code } referralLink } }'],
  [UPSERT, { input }],
  [UPSERT, { input: { ...input, attributes: { ...contacts, city: '\0' } } }],
  ['mutation { trackEvents(input: { playerUniqueId: "p1", events: [{ name: "visit" }] }) { eventNames } }'],
  ['mutation { deletePlayer(input: { playerUniqueId: "p9" }) { deletedPlayerUniqueId } }'],
  ['{ me { id '],
  ['{ nothing }'],
  ['{ me { id } }', {}, forged],
];

const FAULTS: Answer[] = [
  ...[500, 400, 401, 404, 429].map((status) => ({ status, raw: TALKATIVE })),
  { status: 302, raw: TALKATIVE, headers: { location: `http://127.0.0.1/?key=${SECRET_KEY}` } },
  { raw: TALKATIVE.slice(0, -3) },
  { raw: TALKATIVE, headers: { 'content-type': 'text/html' } },
  { json: { playerUniqueId: 'p7', playerAttributes: { email: EMAIL, mobile: { number: MOBILE }, joinDate: EMAIL } } },
  { json: { coupons: [{ code: 1, couponType: EMAIL, creationDate: SECRET_KEY }] } },
  { fault: 'reset' },
  { fault: 'cut', raw: TALKATIVE },
];

test('nothing that was ever written or answered holds a key, a token or a contact', async () => {
  const env = { NODE_ENV: 'production', LOG_LEVEL: 'trace', ...signer.env, ...UNLIMITED };
  const gateway = await start(env);
  const answers: string[] = [];
  const ask = async (query: string, variables?: unknown, jwt = own) => {
    const headers = { authorization: `Bearer ${jwt}`, cookie: `token=${jwt}` };
    const answer = await post(gateway.url, { query, variables }, headers);
    answers.push(`${answer.text}${JSON.stringify([...answer.headers])}`);
  };
  for (const operation of OPERATIONS) await ask(...operation);
  const query = '{ me { attributes { email mobile } referredFriends(limit: 3) { nodes { email mobileNumber } } } }';
  const withContacts = await post(gateway.url, { query }, { authorization: `Bearer ${own}` });
  expect(withContacts.data.me.attributes.email).toBe(EMAIL);
  for (const fault of FAULTS) {
    for (const endpoint of ['GET /player', 'GET /coupon', 'GET /referrals', 'POST /player'] as const) {
      upstream.on(endpoint, fault);
    }
    await ask(READ);
    await ask(UPSERT, { input });
  }
  for (const line of [`Authorization: Bearer ${own}\r\nAuthorization: x`, `X-Bad: \0${own}`, `X: ${own.repeat(60)}`]) {
    const headers = ['Content-Type: application/json', line];
    answers.push((await raw(gateway.url, requestBytes({ headers, body: '{}' }))).text);
  }
  answers.push((await gateway.page('/metrics')).text);
  gateway.child.kill('SIGTERM');
  await gateway.ended;

  expect(gateway.output()).toMatch(/"requestId"|"reqId"/);
  const all = gateway.output() + answers.join('');
  assertNoLeak(all);
  for (const secret of [signer.verifying, DEVICE]) expect(all).not.toContain(secret);
});

test('with DEBUG=* nothing tells the password of Redis; no option in its URL replaces one of ours', async () => {
  const sent: string[] = [];
  const redis = createServer((socket) => {
    socket.on('data', (bytes) => sent.push(bytes.toString())).on('error', () => socket.destroy());
  });
  await once(redis.listen(0, '127.0.0.1'), 'listening');
  atEnd(() => redis.close());
  const { port } = Object(redis.address());
  // Options for other programs, which replace none of the gateway's own: with them it would not connect, or would end.
  const options = 'lazyConnect=true&connectTimeout=abc&showFriendlyErrorStack=true&path=/none&ssl_cert_reqs=none';
  const REDIS_URL = `redis://:a-password-of-redis@127.0.0.1:${port}?${options}`;
  const gateway = await start({ DEBUG: '*', REDIS_URL });
  gateway.child.kill('SIGTERM');
  await gateway.ended;
  expect(sent.join('')).toContain('a-password-of-redis');
  expect(gateway.output()).not.toMatch(/a-password-of-redis|ioredis:/);
});

test('NODE_OPTIONS=--insecure-http-parser does not let a request have two lengths', async () => {
  const gateway = await start({ NODE_OPTIONS: '--insecure-http-parser' });
  for (const more of ['Content-Length: 4\r\nTransfer-Encoding: chunked', 'Transfer-Encoding : chunked']) {
    const headers = ['Content-Type: application/json', more];
    const body = '1a\r\n{"query":"{ __typename }"}\r\n0\r\n\r\n';
    expect((await raw(gateway.url, requestBytes({ headers, body }))).status).toBe(400);
  }
});

test('the watch that every test gateway is under sees a key, a token, an address and a number', () => {
  for (const secret of [API_KEY, own, EMAIL, MOBILE]) {
    expect(() => assertNoLeak(`{"level":30}\n{"caller":"${secret}"}\n`)).toThrow(/must not hold/);
  }
});
