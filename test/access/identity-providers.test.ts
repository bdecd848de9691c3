import { createServer } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Answer, post } from '../kit/gateway.ts';
import { type GatewayProcess, spawnProcess, startProcess } from '../kit/process.ts';
import { type Json, keySigner, now, part, type Signer, signed, UNLIMITED } from '../kit/tokens.ts';
import { startUpstream, type Upstream } from '../kit/upstream.ts';

/*
 * Tokens of six identity providers, in the shapes that they document, at the program as it is shipped: what
 * docs/identity-providers.md tells to set lets a player see the own screen, and nobody anything of others.
 */

const SCREEN = 'query ($id: ID!) { player(playerUniqueId: $id) { id coupons { code } referredFriends { total } } }';
const OWN = ['players:read', 'coupons:read', 'referrals:read'];

interface Provider {
  name: string;
  env: Record<string, string>;
  /** Beside the algorithm and the type JWT. */
  header?: Json;
  /** The claims of a token of the player p1 with the scopes of a phone app. */
  claims(scopes?: readonly string[], player?: unknown): Json;
  /** A token of the same application that is not meant for APIs. */
  idToken?: Json;
  /** A token of a machine: no player, and any-player. Undefined where there is none. */
  machine?: Json;
}

const MACHINE = ['players:read', 'any-player'];
const times = () => ({ iat: now(), exp: now() + 3_600 });
/** A claim of scopes; absent without scopes. */
const some = (scopes: readonly string[], claim: unknown = scopes) => (scopes.length > 0 ? claim : undefined);

const PROVIDERS: Provider[] = [
  {
    name: 'Auth0',
    env: {
      ...{ JWT_ISSUER: 'https://acme.eu.auth0.com/', JWT_AUDIENCE: 'https://rewards.acme.example' },
      ...{ JWT_PLAYER_CLAIM: 'https://acme.example/player_id', JWT_SCOPE_CLAIM: 'permissions,scope' },
    },
    claims: (scopes = OWN, player = 'p1') => ({
      ...{ iss: 'https://acme.eu.auth0.com/', sub: 'auth0|65a1b2c3d4e5f60718293a4b', azp: 'AbCdEf' },
      aud: ['https://rewards.acme.example', 'https://acme.eu.auth0.com/userinfo'],
      ...{ scope: 'openid profile', permissions: some(scopes), 'https://acme.example/player_id': player },
    }),
    idToken: { aud: 'AbCdEf' },
    machine: { sub: 'AbC@clients', gty: 'client-credentials', permissions: MACHINE },
  },
  {
    name: 'Okta',
    env: {
      ...{ JWT_ISSUER: 'https://acme.okta.com/oauth2/default', JWT_AUDIENCE: 'api://rewards' },
      ...{ JWT_SCOPE_CLAIM: 'scp', JWT_PLAYER_CLAIM: 'playerId' },
    },
    header: { typ: undefined },
    claims: (scopes = OWN, player = 'p1') => ({
      ...{ ver: 1, iss: 'https://acme.okta.com/oauth2/default', aud: 'api://rewards', sub: 'ada@shop.example' },
      ...{ cid: '0oa1gjh63g214q0Hq0g4', uid: '00uid4BxXw6I6TV4m0g3' },
      ...{ scp: some(scopes, ['openid', ...scopes]), playerId: player },
    }),
    idToken: { aud: '0oa1gjh63g214q0Hq0g4' },
    machine: { sub: '0oa1gjh63g214q0Hq0g4', scp: MACHINE },
  },
  {
    name: 'Entra',
    env: {
      JWT_ISSUER: 'https://login.microsoftonline.com/72f988bf/v2.0,https://sts.windows.net/72f988bf/',
      ...{ JWT_AUDIENCE: '6e74172b,api://6e74172b', JWT_REQUIRE: 'tid=72f988bf' },
      ...{ JWT_SCOPE_CLAIM: 'scp,roles', JWT_PLAYER_CLAIM: 'extn.playerId' },
    },
    claims: (scopes = OWN, player = 'p1') => ({
      ...{ aud: '6e74172b', iss: 'https://login.microsoftonline.com/72f988bf/v2.0', azp: 'f2d19332', oid: '690222be' },
      ...{ sub: 'HKZpfaHyWadeOouYlitjrI-KffTm222X5rrV3xDqfKQ', tid: '72f988bf', ver: '2.0' },
      ...{ scp: some(scopes, scopes.join(' ')), 'extn.playerId': player },
    }),
    idToken: { aud: 'f2d19332' },
    machine: { sub: 'f2d19332', scp: undefined, roles: MACHINE },
  },
  {
    name: 'Keycloak',
    env: {
      ...{ JWT_ISSUER: 'https://id.acme.example/realms/shop', JWT_AUDIENCE: 'phone-app', JWT_AUDIENCE_CLAIM: 'azp' },
      ...{ JWT_REQUIRE: 'typ=Bearer', JWT_PLAYER_CLAIM: 'player_id' },
      JWT_SCOPE_CLAIM: '/resource_access/gateway/roles',
    },
    claims: (scopes = OWN, player = 'p1') => ({
      ...{ iss: 'https://id.acme.example/realms/shop', aud: 'account', typ: 'Bearer', azp: 'phone-app' },
      ...{ sub: 'f9e2c1b0-0000-4000-8000-000000000001', scope: 'openid profile email', preferred_username: 'ada' },
      resource_access: { account: { roles: ['view-profile'] }, gateway: some(scopes, { roles: scopes }) },
      player_id: player,
    }),
    idToken: { typ: 'ID', aud: 'phone-app' },
    machine: { sub: 'service-account', resource_access: { gateway: { roles: MACHINE } } },
  },
  {
    name: 'Cognito',
    env: {
      ...{ JWT_ISSUER: 'https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_abc', JWT_AUDIENCE: '7abc' },
      ...{ JWT_AUDIENCE_CLAIM: 'client_id', JWT_REQUIRE: 'token_use=access', JWT_PLAYER_CLAIM: 'player_id' },
      JWT_SCOPE_MAP: JSON.stringify(Object.fromEntries([...OWN, ...MACHINE].map((one) => [`gateway/${one}`, [one]]))),
    },
    header: { typ: undefined },
    claims: (scopes = OWN, player = 'p1') => ({
      ...{ sub: 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee', username: 'ada', version: 2, auth_time: now() },
      ...{ iss: 'https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_abc', client_id: '7abc', token_use: 'access' },
      scope: some(scopes, ['openid', ...scopes.map((scope) => `gateway/${scope}`)].join(' ')),
      player_id: player,
    }),
    idToken: { client_id: undefined, aud: '7abc', token_use: 'id' },
    machine: { sub: '7abc', scope: 'gateway/players:read gateway/any-player' },
  },
  {
    name: 'Firebase',
    env: {
      ...{ JWT_ISSUER: 'https://securetoken.google.com/acme-rewards', JWT_AUDIENCE: 'acme-rewards' },
      ...{ JWT_DEFAULT_SCOPES: OWN.join(','), JWT_PLAYER_CLAIM: 'playerId' },
    },
    claims: (_scopes, player = 'p1') => ({
      ...{ iss: 'https://securetoken.google.com/acme-rewards', aud: 'acme-rewards', auth_time: now() },
      ...{ user_id: 'yTfXq0', sub: 'yTfXq0', email: 'ada@shop.example', playerId: player },
      firebase: { identities: { email: ['ada@shop.example'] }, sign_in_provider: 'password' },
    }),
  },
];

const signer = keySigner('RS256', 'first');
const stranger = keySigner('RS256', 'first');
let upstream: Upstream;
let keys: ReturnType<typeof createServer>;
let keysUrl: string;
beforeAll(async () => {
  upstream = await startUpstream();
  keys = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ keys: [signer.jwk] }));
  });
  await new Promise<void>((resolve) => keys.listen(0, '127.0.0.1', resolve));
  const address = keys.address();
  keysUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/keys`;
});
beforeEach(() => upstream.forget());
afterAll(async () => {
  keys.closeAllConnections();
  await new Promise((resolve) => keys.close(resolve));
  await upstream.close();
});

const start = (env: Record<string, string>) =>
  startProcess({ ...UNLIMITED, REST_BASE_URL: upstream.url, JWT_JWKS_URL: keysUrl, ...env });
const DELETE = 'mutation ($id: ID!) { deletePlayer(input: { playerUniqueId: $id }) { __typename } }';

describe.each(PROVIDERS)('$name', ({ env, header, claims, idToken, machine }) => {
  let gateway: GatewayProcess;
  beforeAll(async () => {
    gateway = await start(env);
  });
  afterAll(() => gateway.kill());

  const mint = (payload: Json, by: Signer = signer) =>
    signed(by, { alg: 'RS256', typ: 'JWT', kid: 'first', ...header }, { ...times(), ...payload });
  const ask = (jwt: string, query = SCREEN, id = 'p1'): Promise<Answer> =>
    post(gateway.url, { query, variables: { id } }, { authorization: `Bearer ${jwt}` });
  async function expectNothing(jwt: string, reason?: string, query?: string, id?: string): Promise<void> {
    upstream.forget();
    const { data, errors, status } = await ask(jwt, query, id);
    expect(Object.values(data ?? {}).filter((value) => value !== null)).toEqual([]);
    expect(upstream.calls()).toEqual([]);
    expect(errors[0]?.extensions).toMatchObject(reason ? { code: 'UNAUTHENTICATED', reason } : { code: 'FORBIDDEN' });
    expect(status).toBe(reason ? 401 : 200);
  }

  test("the own player's screen arrives, nothing else", async () => {
    const { data, errors } = await ask(mint(claims()));
    expect(errors).toEqual([]);
    expect(data).toMatchObject({ player: { id: 'p1', coupons: expect.anything() } });
    await expectNothing(mint(claims()), undefined, SCREEN, 'p2');
    await expectNothing(mint(claims()), undefined, DELETE, 'p1');
  });

  test('a token without scopes allows nothing', async () => {
    if (claims([])['aud'] === 'acme-rewards') return;
    await expectNothing(mint(claims([])));
    const { errors } = await ask(mint(claims([])));
    expect(errors[0]?.message).toMatch(/^This needs the scope "players:read"(?:: the token has no claim `.+`|\.)/);
  });

  test.each<[string, string, Json]>([
    ['another issuer', 'issuer', { iss: 'https://evil.example/' }],
    ['another audience', 'audience', { aud: 'other', azp: 'other', client_id: 'other' }],
    ['that has expired', 'expired', { exp: now() - 120, iat: now() - 3_000 }],
    ['that lasts too long', 'lifetime', { exp: now() + 100 * 86_400 }],
  ])('a token of %s is 401', async (_name, reason, more) => {
    await expectNothing(mint({ ...claims(), ...more }), reason);
  });

  test('an unsigned token, another signer, an ID token are 401', async () => {
    await expectNothing(`${part({ alg: 'none' })}.${part(claims())}.`, 'signature');
    await expectNothing(mint(claims(), stranger), 'signature');
    if (idToken) await expectNothing(mint({ ...claims(), ...idToken }), idToken['typ'] ? 'require' : 'audience');
  });

  test.each<[string, unknown]>([
    ['null', null],
    ['empty', ''],
    ['a list', ['p1']],
    ['an object', { id: 'p1' }],
    ['a boolean', true],
  ])('a player claim that is %s is 401', async (_name, player) => {
    await expectNothing(mint(claims(OWN, player)), 'player');
  });

  test('without the player claim there is no player, never `sub`', async () => {
    const payload = { ...claims() };
    for (const [name, value] of Object.entries(payload)) if (value === 'p1') delete payload[name];
    await expectNothing(mint(payload));
    await expectNothing(mint({ ...payload, sub: 'p1' }));
    const { data } = await ask(mint({ ...payload, sub: 'p1' }), '{ me { id } }');
    expect(data).toEqual({ me: null });
  });

  test('a machine reads players and has no `me`', async () => {
    if (!machine) return;
    const payload: Json = { ...claims(), ...machine };
    for (const [name, value] of Object.entries(payload)) if (value === 'p1') delete payload[name];
    const jwt = mint(payload);
    const { data } = await ask(jwt, '{ me { id } player(playerUniqueId: "p2") { id } }');
    expect(data).toEqual({ me: null, player: { id: 'p2' } });
  });

  test('the log has a reason and no identity', async () => {
    await expectNothing(mint({ ...claims(), iss: 'https://acme.example/wrong' }), 'issuer');
    const line = await gateway.logged(({ found }) => found === 'https://acme.example/wrong');
    expect(line).toMatchObject({ reason: 'issuer', claim: 'iss', expected: env['JWT_ISSUER']?.replace(',', ', ') });
    expect(gateway.output()).not.toMatch(/@shop\.example|p1|eyJ/);
  });
});

describe('names and values', () => {
  const base = { JWT_ISSUER: 'https://a.example', JWT_AUDIENCE: 'gateway' };
  const usual = () => ({ iss: base.JWT_ISSUER, aud: base.JWT_AUDIENCE, ...times(), scope: OWN.join(' ') });
  const ask = (gateway: GatewayProcess, payload: Json, query = '{ me { id } }') =>
    post(
      gateway.url,
      { query },
      { authorization: `Bearer ${signed(signer, { alg: 'RS256', kid: 'first' }, payload)}` },
    );

  test('a whole number is its text; the first scope claim that is present decides alone', async () => {
    const gateway = await start({ ...base, JWT_PLAYER_CLAIM: '/a~1b/id', JWT_SCOPE_CLAIM: 'scp,scope' });
    const of = (id: unknown, more: Json = {}) => ({ ...usual(), 'a/b': { id }, ...more });
    await ask(gateway, of(42));
    expect(upstream.requests.at(-1)?.playerUniqueId).toBe('42');
    expect((await ask(gateway, of(4.2))).status).toBe(401);
    expect((await ask(gateway, of(2 ** 53))).status).toBe(401);
    expect((await ask(gateway, of(42, { scp: 'coupons:read' }))).errors[0]?.extensions['code']).toBe('FORBIDDEN');
    expect((await ask(gateway, of(42, { scp: null }))).errors[0]?.extensions).toMatchObject({ reason: 'scopes' });
    expect((await ask(gateway, { ...usual(), 'a/b': ['p1'], sub: 'p1' })).data).toEqual({ me: null });
    const noName = await ask(gateway, { ...usual(), scope: '' });
    expect(noName.errors[0]?.extensions).toMatchObject({ reason: 'player', found: 'absent' });
    expect(noName.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
    const { errors } = await ask(gateway, of(42, { scope: undefined, roles: OWN }));
    expect(errors[0]?.message).toBe(
      'This needs the scope "players:read": the token has no claim `scp` or `scope`; it has `roles`.',
    );
    await gateway.kill();
  });

  test('in production the response keeps the reason to itself', async () => {
    const gateway = await startProcess({
      ...base,
      NODE_ENV: 'production',
      REST_BASE_URL: upstream.url,
      JWT_PUBLIC_KEY: signer.verifying,
    });
    const { errors } = await ask(gateway, { ...usual(), sub: 'p1', aud: 'other' });
    expect(errors).toEqual([
      {
        message: 'A valid bearer token is needed in the Authorization header.',
        extensions: { code: 'UNAUTHENTICATED' },
      },
    ]);
    const line = await gateway.logged(({ reason }) => reason === 'audience');
    expect(line).toMatchObject({ claim: 'aud', expected: 'gateway', found: 'other' });
    expect((await ask(gateway, { ...usual(), sub: 'p1', scope: undefined })).errors[0]?.message).toBe(
      'This needs the scope "players:read".',
    );
    await gateway.kill();
  });

  test.each<[string, Record<string, string>, RegExp]>([
    ['an inherited name', { JWT_PLAYER_CLAIM: '__proto__' }, /JWT_PLAYER_CLAIM: .*__proto__/],
    ['an inherited name in a pointer', { JWT_SCOPE_CLAIM: 'scope,/a/constructor' }, /JWT_SCOPE_CLAIM: .*constructor/],
    ['an inherited name to require', { JWT_REQUIRE: 'prototype=x' }, /JWT_REQUIRE: .*prototype/],
    ['a broken pointer', { JWT_PLAYER_CLAIM: '/a~2' }, /JWT_PLAYER_CLAIM: .*JSON Pointer/],
    ['a map that is no JSON', { JWT_SCOPE_MAP: '{' }, /JWT_SCOPE_MAP: must be JSON/],
    [
      'a map to an unknown scope',
      { JWT_SCOPE_MAP: '{"a":["everything"]}' },
      /JWT_SCOPE_MAP: a\.0: "everything" is no scope/,
    ],
    ...['any-player', 'figures:write', 'players:delete', 'contacts:read', 'events:write'].map(
      (scope): [string, Record<string, string>, RegExp] => [
        `${scope} by default`,
        { JWT_DEFAULT_SCOPES: `players:read,${scope}` },
        /JWT_DEFAULT_SCOPES: /,
      ],
    ),
    ['an empty list of issuers', { JWT_ISSUER: ',' }, /JWT_ISSUER: is needed/],
    ['an empty list of audiences', { JWT_AUDIENCE: ' , ' }, /JWT_AUDIENCE: is needed/],
    ['another audience claim alone', { JWT_AUDIENCE_CLAIM: 'azp' }, /JWT_REQUIRE: is needed/],
    ['a requirement without a value', { JWT_REQUIRE: 'typ' }, /JWT_REQUIRE: "typ" must be/],
    ['any proxy in production', { NODE_ENV: 'production', TRUST_PROXY: 'true' }, /TRUST_PROXY: must be a number/],
    [
      'a URL with a query',
      { JWT_JWKS_URL: 'https://a.example/keys?token=hunter2' },
      /JWT_JWKS_URL: must have no user, query or fragment/,
    ],
  ])('%s refuses to start', async (_name, env, message) => {
    const { ended, output } = spawnProcess({ ...base, REST_BASE_URL: upstream.url, JWT_JWKS_URL: keysUrl, ...env });
    expect((await ended).code).not.toBe(0);
    expect(output()).toMatch(message);
    expect(output()).not.toContain('hunter2');
  });
});
