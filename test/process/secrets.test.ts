import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { post } from '../kit/gateway.ts';
import { assertNoLeak } from '../kit/leaks.ts';
import { type GatewayProcess, spawnProcess, startProcess } from '../kit/process.ts';
import { raw, requestBytes } from '../kit/raw.ts';
import { secretSigner, signed, token, UNLIMITED } from '../kit/tokens.ts';
import { API_KEY, SECRET_KEY, startUpstream, type Upstream } from '../kit/upstream.ts';

/*
 * Runs the built gateway as a deployment would, through operations that succeed and fail in every way, and then looks for
 * secrets and contacts in everything it ever wrote.
 */

const signer = secretSigner();
const stranger = secretSigner();
const own = token(signer, { sub: 'p1' });
const support = token(signer, { sub: 'p2' });
const forged = signed(stranger, { alg: 'HS256' }, { sub: 'p1', exp: 9_999_999_999 });
const EMAIL = 'very.private@example.org';
const MOBILE = '+15550001234';
const DEVICE = 'device-token-of-a-phone';
const TALKATIVE = JSON.stringify({
  message: `${API_KEY} ${SECRET_KEY} ${EMAIL} ${MOBILE}`,
  email: EMAIL,
  mobile: MOBILE,
});

let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startProcess({
    ...{ NODE_ENV: 'production', LOG_LEVEL: 'trace', REST_BASE_URL: upstream.url, REST_TIMEOUT_MS: '500' },
    ...{ REST_API_KEY: API_KEY, REST_SECRET_KEY: SECRET_KEY, ...signer.env, ...UNLIMITED },
  });
}, 30_000);
afterAll(async () => {
  await gateway.kill();
  await upstream.close();
});

const contacts =
  'attributes { displayName email mobile } referredFriends(limit: 3) { nodes { displayName email mobileNumber } }';
const upsert =
  'mutation ($input: UpsertPlayerInput!) { upsertPlayer(input: $input) { serviceId userErrors { code message } } }';
const input = {
  playerUniqueId: 'p1',
  attributes: { email: EMAIL, mobile: MOBILE },
  device: { token: DEVICE, osType: 'ios' },
};

/** Operations that do not ask for contacts; whatever contacts there are in an answer got there by mistake. */
const silent: [query: string, variables?: unknown, jwt?: string][] = [
  ['{ me { id coupons { code } referralLink } }'],
  [upsert, { input }],
  [upsert, { input: { ...input, attributes: { ...input.attributes, city: '\0' } } }],
  [upsert, { input: { ...input, playerUniqueId: '..' } }],
  ['mutation { trackEvents(input: { playerUniqueId: "p1", events: [{ name: "visit" }] }) { eventNames } }'],
  ['mutation { deletePlayer(input: { playerUniqueId: "p9" }) { deletedPlayerUniqueId } }'],
  ['{ me { id '],
  ['{ nothing }'],
  ['{ me { id } }', {}, forged],
  ['{ player(playerUniqueId: "p2") { id } }'],
];

const faults = [
  { status: 500, raw: TALKATIVE },
  { status: 400, raw: TALKATIVE },
  { status: 401, raw: TALKATIVE },
  { status: 404, raw: TALKATIVE },
  { status: 429, raw: TALKATIVE },
  { status: 302, raw: TALKATIVE, headers: { location: `http://127.0.0.1/?key=${SECRET_KEY}` } },
  { raw: TALKATIVE.slice(0, -3) },
  { raw: TALKATIVE, headers: { 'content-type': 'text/html' } },
  { json: { playerUniqueId: 'p7', playerAttributes: { email: EMAIL, mobile: { number: MOBILE }, joinDate: EMAIL } } },
  { json: { coupons: [{ code: 1, couponType: EMAIL, creationDate: SECRET_KEY }] } },
  { fault: 'reset' as const },
  { fault: 'cut' as const, raw: TALKATIVE },
];

test('nothing that was ever written or answered holds a key, a token or a contact', async () => {
  const answers: string[] = [];
  const ask = async (query: string, variables?: unknown, jwt = own) => {
    const answer = await post(
      gateway.url,
      { query, variables },
      { authorization: `Bearer ${jwt}`, cookie: `token=${jwt}` },
    );
    answers.push(`${answer.text}${JSON.stringify([...answer.headers])}`);
    return answer;
  };
  for (const operation of silent) await ask(...operation);
  const withContacts = await post(
    gateway.url,
    { query: `{ me { ${contacts} } }` },
    { authorization: `Bearer ${support}` },
  );
  expect(withContacts.data.me.attributes.email).toBe('p2@example.com');

  const endpoints = ['GET /player', 'GET /coupon', 'GET /referrals', 'POST /player', 'POST /event'] as const;
  for (const fault of faults) {
    for (const endpoint of endpoints) upstream.on(endpoint, fault);
    await ask('{ me { id coupons { code } referredFriends { total } } }');
    await ask(upsert, { input });
  }
  for (const endpoint of endpoints) upstream.on(endpoint, 'usual');
  for (const line of [
    `Authorization: Bearer ${own}\r\nAuthorization: Bearer ${forged}`,
    `X-Bad: \0${own}`,
    `X-Large: ${own.repeat(60)}`,
  ]) {
    answers.push(
      (await raw(gateway.url, requestBytes({ headers: ['Content-Type: application/json', line], body: '{}' }))).text,
    );
  }
  answers.push((await gateway.page('/metrics')).text);
  gateway.child.kill('SIGTERM');
  await gateway.ended;

  const written = gateway.output();
  expect(written).toMatch(/"requestId"|"reqId"/);
  const tokens = [own, support, forged];
  const secrets = [API_KEY, SECRET_KEY, signer.verifying, ...tokens, ...tokens.map((jwt) => jwt.split('.')[2] ?? '')];
  const addresses = ['p1@example.com', 'p2@example.com', 'f1@example.com', '+15550000001', '+441234567890'];
  const personal = [EMAIL, MOBILE, DEVICE, ...addresses];
  for (const secret of [...secrets, ...personal]) {
    expect({ secret, where: around(written, secret) }).toEqual({ secret, where: undefined });
    expect({ secret, where: around(answers.join('\n'), secret) }).toEqual({ secret, where: undefined });
  }
}, 60_000);

/** The text around a secret, or undefined where it does not occur. */
function around(text: string, secret: string): string | undefined {
  const at = text.indexOf(secret);
  return at < 0 ? undefined : text.slice(Math.max(0, at - 200), at + 100);
}

test('a configuration that is refused is reported without its secrets', async () => {
  const { ended, output } = spawnProcess({
    ...{ NODE_ENV: 'production', JWT_SECRET: 'hunter2', REST_API_KEY: 'hunter3' },
    ...{ REST_SECRET_KEY: '', REST_BASE_URL: 'http://hunter4:hunter5@rewards.example' },
  });
  expect((await ended).code).toBe(1);
  const written = output();
  for (const name of ['JWT_SECRET', 'JWT_ISSUER', 'JWT_AUDIENCE', 'REST_BASE_URL', 'REST_SECRET_KEY']) {
    expect(written).toContain(`  ${name}: `);
  }
  expect(written).not.toMatch(/hunter\d/);
}, 30_000);

test.each([
  ['a key', `{"apikey":"${API_KEY}"}`],
  ['a token', `{"token":"${own}"}`],
  ['an e-mail address', `{"caller":"${EMAIL}"}`],
  ['a telephone number', `{"caller":"${MOBILE}"}`],
])('the watch that every test gateway is under sees %s', (_what, line) => {
  expect(() => assertNoLeak(`{"level":30}\n${line}\n`)).toThrow(/must not hold/);
});
