import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../src/config/config.ts';
import { startGateway, type TestGateway } from '../kit/gateway.ts';
import { type Json, keySigner, now, type Signer, signed, UNLIMITED } from '../kit/tokens.ts';
import { startUpstream, type Upstream } from '../kit/upstream.ts';

/*
 * Tokens of six identity providers, in the shapes that they document: what docs/identity-providers.md tells to set lets a
 * player see the own screen, and nobody anything of others.
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

const signer = keySigner('RS256');
const stranger = keySigner('RS256');
const KEY = { JWT_PUBLIC_KEY: signer.verifying };
let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
});
beforeEach(() => upstream.forget());
afterAll(() => upstream.close());

const start = (env: Record<string, string>) => startGateway(upstream.url, { ...UNLIMITED, ...KEY, ...env });
/** A token without the player's claim. */
const withoutPlayer = (payload: Json): Json =>
  Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== 'p1'));
const bearer = (payload: Json, head: Json = {}, by: Signer = signer) => ({
  authorization: `Bearer ${signed(by, { alg: 'RS256', ...head }, payload)}`,
});
const DELETE = 'mutation ($id: ID!) { deletePlayer(input: { playerUniqueId: $id }) { __typename } }';

describe.each(PROVIDERS)('$name', ({ env, header, claims, idToken, machine }) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await start(env);
  });
  afterAll(() => gateway.close());

  const ask = (payload: Json, query = SCREEN, id = 'p1', by = signer) =>
    gateway.query(query, { id }, bearer({ ...times(), ...payload }, { typ: 'JWT', ...header }, by));
  async function expectNothing(reason: string | undefined, ...asked: Parameters<typeof ask>): Promise<void> {
    const { data, errors, status } = await ask(...asked);
    expect(Object.values(data ?? {}).filter((value) => value !== null)).toEqual([]);
    expect(upstream.calls()).toEqual([]);
    expect(errors[0]?.extensions).toMatchObject(reason ? { code: 'UNAUTHENTICATED', reason } : { code: 'FORBIDDEN' });
    expect(status).toBe(reason ? 401 : 200);
  }

  test("the own player's screen arrives, nothing else", async () => {
    const { data, errors } = await ask(claims());
    expect(errors).toEqual([]);
    expect(data).toMatchObject({ player: { id: 'p1', coupons: expect.anything() } });
    upstream.forget();
    await expectNothing(undefined, claims(), SCREEN, 'p2');
    await expectNothing(undefined, claims(), DELETE);
  });

  test('a token without scopes allows nothing', async () => {
    if (env['JWT_DEFAULT_SCOPES']) return;
    await expectNothing(undefined, claims([]));
    // With a map, only mapped names count.
    if (env['JWT_SCOPE_MAP']) await expectNothing(undefined, { ...claims(), scope: OWN.join(' ') });
    const { errors } = await ask(claims([]));
    expect(errors[0]?.message).toMatch(/^This needs the scope "players:read"(?:: the token has no claim `.+`; .+|\.)/);
  });

  test.each<[string, string, Json]>([
    ['another issuer', 'issuer', { iss: 'https://evil.example/' }],
    ['another audience', 'audience', { aud: 'other', azp: 'other', client_id: 'other' }],
    ['that has expired', 'expired', { exp: now() - 120, iat: now() - 3_000 }],
    ['that lasts too long', 'lifetime', { exp: now() + 100 * 86_400 }],
  ])('a token of %s is 401', async (_name, reason, more) => expectNothing(reason, { ...claims(), ...more }));

  test('a token of another signer and an ID token are 401', async () => {
    await expectNothing('signature', claims(), SCREEN, 'p1', stranger);
    if (idToken) await expectNothing(idToken['typ'] ? 'require' : 'audience', { ...claims(), ...idToken });
  });

  test('a player claim that is null, empty, a list, an object or a boolean is 401', async () => {
    for (const player of [null, '', ['p1'], { id: 'p1' }, true]) await expectNothing('player', claims(OWN, player));
  });

  test('without the player claim there is no player, never `sub`', async () => {
    await expectNothing(undefined, withoutPlayer(claims()));
    await expectNothing(undefined, { ...withoutPlayer(claims()), sub: 'p1' });
    expect((await ask({ ...withoutPlayer(claims()), sub: 'p1' }, '{ me { id } }')).data).toEqual({ me: null });
  });

  test('a machine reads players and has no `me`', async () => {
    if (!machine) return;
    const query = '{ me { id } player(playerUniqueId: "p2") { id } }';
    const { data } = await ask({ ...withoutPlayer(claims()), ...machine }, query);
    expect(data).toEqual({ me: null, player: { id: 'p2' } });
  });

  test('the log has a reason and no identity', async () => {
    await expectNothing('issuer', { ...claims(), iss: 'https://acme.example/wrong' });
    const line = gateway
      .logged()
      .split('\n')
      .find((one) => one.includes('https://acme.example/wrong'));
    const expected = env['JWT_ISSUER']?.replace(',', ', ');
    expect(JSON.parse(line ?? '')).toMatchObject({ reason: 'issuer', claim: 'iss', expected });
    expect(gateway.logged()).not.toMatch(/@shop\.example|p1|eyJ/);
  });
});

describe('names and values', () => {
  const base = { JWT_ISSUER: 'https://a.example', JWT_AUDIENCE: 'gateway' };
  const usual = (more: Json = {}) => ({
    iss: base.JWT_ISSUER,
    aud: base.JWT_AUDIENCE,
    ...times(),
    scope: OWN.join(' '),
    ...more,
  });
  const ask = (gateway: TestGateway, payload: Json) => gateway.query('{ me { id } }', {}, bearer(payload));

  test('a whole number is its text; the first scope claim that is present decides alone', async () => {
    const gateway = await start({ ...base, JWT_PLAYER_CLAIM: '/a~1b/id', JWT_SCOPE_CLAIM: 'scp,scope' });
    const of = (id: unknown, more: Json = {}) => usual({ 'a/b': { id }, ...more });
    await ask(gateway, of(42));
    expect(upstream.requests.at(-1)?.playerUniqueId).toBe('42');
    expect((await ask(gateway, of(4.2))).status).toBe(401);
    expect((await ask(gateway, of(2 ** 53))).status).toBe(401);
    expect((await ask(gateway, of(42, { scp: 'coupons:read' }))).errors[0]?.extensions['code']).toBe('FORBIDDEN');
    expect((await ask(gateway, of(42, { scp: null }))).errors[0]?.extensions).toMatchObject({ reason: 'scopes' });
    expect((await ask(gateway, usual({ 'a/b': ['p1'], sub: 'p1' }))).data).toEqual({ me: null });
    const noName = await ask(gateway, usual({ scope: '' }));
    expect(noName.errors[0]?.extensions).toMatchObject({ reason: 'player', found: 'absent' });
    expect(noName.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
    const { errors } = await ask(gateway, of(42, { scope: undefined, roles: OWN }));
    expect(errors[0]?.message).toBe(
      'This needs the scope "players:read": the token has no claim `scp` or `scope`; it has iss, aud, iat, exp, a/b, roles.',
    );
    await gateway.close();
  });

  test('in production the response keeps the reason to itself', async () => {
    const gateway = await startGateway('https://rest.example', { ...KEY, ...base, NODE_ENV: 'production' });
    const { errors } = await ask(gateway, usual({ sub: 'p1', aud: 'other' }));
    expect(errors).toEqual([{ message: expect.any(String), extensions: { code: 'UNAUTHENTICATED' } }]);
    expect(gateway.logged()).toContain('"reason":"audience","claim":"aud","expected":"gateway","found":"other"');
    const { errors: forbidden } = await ask(gateway, usual({ sub: 'p1', scope: undefined }));
    expect(forbidden[0]?.message).toBe('This needs the scope "players:read".');
    await gateway.close();
  });

  test.each<[string, Record<string, string>, RegExp]>([
    ['an inherited name', { JWT_PLAYER_CLAIM: '__proto__' }, /JWT_PLAYER_CLAIM: .*__proto__/],
    ['an inherited name in a pointer', { JWT_SCOPE_CLAIM: 'scope,/a/constructor' }, /JWT_SCOPE_CLAIM: .*constructor/],
    ['an inherited name to require', { JWT_REQUIRE: 'prototype=x' }, /JWT_REQUIRE: .*prototype/],
    ['a broken pointer', { JWT_PLAYER_CLAIM: '/a~2' }, /JWT_PLAYER_CLAIM: .*JSON Pointer/],
    ['a map that is no JSON', { JWT_SCOPE_MAP: '{' }, /JWT_SCOPE_MAP: must be JSON/],
    ['a map to no scope', { JWT_SCOPE_MAP: '{"a":["b"]}' }, /JWT_SCOPE_MAP: a\.0: "b" is no scope/],
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
      { JWT_PUBLIC_KEY: '', JWT_JWKS_URL: 'https://a.example/keys?token=hunter2' },
      /JWT_JWKS_URL: must have no user, query or fragment(?!.*hunter2)/s,
    ],
  ])('%s refuses to start', (_name, env, message) => {
    expect(() => loadConfig({ ...base, ...KEY, ...env })).toThrow(message);
  });
});
