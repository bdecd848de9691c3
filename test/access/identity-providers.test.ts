import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../src/config/config.ts';
import type { Json } from '../../src/json.ts';
import { startGateway, type TestGateway } from '../kit/gateway.ts';
import { rows } from '../kit/rows.ts';
import { bearer, keySigner, now, signed, UNLIMITED } from '../kit/tokens.ts';
import { startUpstream } from '../kit/upstream.ts';

/*
 * Tokens of six identity providers, in the shapes that they document: what docs/identity-providers.md tells to set lets a
 * player see the own screen, and nobody anything of others.
 */

const SCREEN = 'query ($id: ID!) { player(playerUniqueId: $id) { id coupons { code } referredFriends { total } } }';
const OWN = ['players:read', 'coupons:read', 'referrals:read'];

const MACHINE = ['players:read', 'any-player'];

/**
 * Of each provider: the settings, separated by white space; no `typ` where its header has none; the claims beside issuer, times,
 * scopes and player; the claim with scopes (without it, each token has those of a phone app); the scopes of a machine, which is
 * no player, where another claim has them; what differs in a token of the same application that is not meant for APIs.
 */
const PROVIDERS = [
  {
    name: 'Auth0',
    settings: `JWT_ISSUER=https://acme.eu.auth0.com/ JWT_AUDIENCE=https://rewards.acme.example
      JWT_PLAYER_CLAIM=https://acme.example/player_id JWT_SCOPE_CLAIM=permissions,scope`,
    claims: {
      aud: ['https://rewards.acme.example', 'https://acme.eu.auth0.com/userinfo'],
      ...{ sub: 'auth0|65a1b2c3d4e5f60718293a4b', azp: 'AbCdEf', scope: 'openid profile' },
    },
    scopes: (permissions: string[]) => ({ permissions }),
    idToken: { aud: 'AbCdEf' },
  },
  {
    name: 'Okta',
    settings: `JWT_ISSUER=https://acme.okta.com/oauth2/default JWT_AUDIENCE=api://rewards
      JWT_PLAYER_CLAIM=playerId JWT_SCOPE_CLAIM=scp`,
    typ: undefined,
    claims: { ver: 1, aud: 'api://rewards', sub: 'ada@shop.example', cid: '0oa1gjh', uid: '00uid4BxX' },
    scopes: (names: string[]) => ({ scp: ['openid', ...names] }),
    idToken: { aud: '0oa1gjh' },
  },
  {
    name: 'Entra',
    settings: `JWT_ISSUER=https://login.microsoftonline.com/72f988bf/v2.0,https://sts.windows.net/72f988bf/
      JWT_AUDIENCE=6e74172b,api://6e74172b JWT_REQUIRE=tid=72f988bf
      JWT_PLAYER_CLAIM=extn.playerId JWT_SCOPE_CLAIM=scp,roles`,
    claims: { aud: '6e74172b', azp: 'f2d19332', oid: '690222be', sub: 'HKZpfaHyW', tid: '72f988bf', ver: '2.0' },
    scopes: (names: string[]) => ({ scp: names.join(' ') }),
    machine: { roles: MACHINE },
    idToken: { aud: 'f2d19332' },
  },
  {
    name: 'Keycloak',
    settings: `JWT_ISSUER=https://id.acme.example/realms/shop JWT_AUDIENCE=phone-app JWT_AUDIENCE_CLAIM=azp
      JWT_REQUIRE=typ=Bearer JWT_PLAYER_CLAIM=player_id JWT_SCOPE_CLAIM=/resource_access/gateway/roles`,
    claims: { aud: 'account', typ: 'Bearer', azp: 'phone-app', sub: 'f9e2c1b0', scope: 'openid profile email' },
    scopes: (roles: string[]) => ({ resource_access: { account: { roles: ['view-profile'] }, gateway: { roles } } }),
    idToken: { typ: 'ID', aud: 'phone-app' },
  },
  {
    name: 'Cognito',
    settings: `JWT_ISSUER=https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_abc JWT_AUDIENCE=7abc
      JWT_AUDIENCE_CLAIM=client_id JWT_REQUIRE=token_use=access JWT_PLAYER_CLAIM=player_id
      JWT_SCOPE_MAP=${JSON.stringify(Object.fromEntries([...OWN, ...MACHINE].map((one) => [`gateway/${one}`, [one]])))}`,
    typ: undefined,
    claims: { sub: 'aaaaaaaa', username: 'ada', version: 2, client_id: '7abc', token_use: 'access' },
    scopes: (names: string[]) => ({ scope: ['openid', ...names.map((one) => `gateway/${one}`)].join(' ') }),
    idToken: { client_id: undefined, aud: '7abc', token_use: 'id' },
  },
  {
    name: 'Firebase',
    settings: `JWT_ISSUER=https://securetoken.google.com/acme-rewards JWT_AUDIENCE=acme-rewards
      JWT_PLAYER_CLAIM=playerId JWT_DEFAULT_SCOPES=${OWN}`,
    claims: { aud: 'acme-rewards', user_id: 'yTfXq0', sub: 'yTfXq0', email: 'ada@shop.example' },
  },
];

const signer = keySigner('RS256');
const stranger = keySigner('RS256');
const KEY = { JWT_PUBLIC_KEY: signer.verifying };
const upstream = await startUpstream();
beforeEach(() => upstream.forget());

const start = (env: Record<string, string>) => startGateway(upstream.url, { ...UNLIMITED, ...KEY, ...env });
const times = () => ({ iat: now(), exp: now() + 3_600 });
const DELETE = 'mutation ($id: ID!) { deletePlayer(input: { playerUniqueId: $id }) { __typename } }';

describe.each(PROVIDERS)('$name', ({ settings, claims, scopes, machine, idToken, ...header }) => {
  const env = Object.fromEntries(settings.split(/\s+/).map((line) => line.split(/=(.*)/s).slice(0, 2)));
  const [iss = ''] = env['JWT_ISSUER'].split(',');
  const noScopes: Json = { iss, ...times(), ...claims };
  const noPlayer: Json = { ...noScopes, ...scopes?.(OWN) };
  const own: Json = { ...noPlayer, [env['JWT_PLAYER_CLAIM']]: 'p1' };
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await start(env);
  });

  const ask = (payload: Json, query = SCREEN, id = 'p1', by = signer) =>
    gateway.query(query, { id }, bearer(signed(by, { alg: 'RS256', typ: 'JWT', ...header }, payload)));
  async function expectNothing(reason: string | undefined, ...asked: Parameters<typeof ask>): Promise<void> {
    const { data, errors, status } = await ask(...asked);
    expect(Object.values(data ?? {}).filter((value) => value !== null)).toEqual([]);
    expect(upstream.calls()).toEqual([]);
    expect(errors[0]?.extensions).toMatchObject(reason ? { code: 'UNAUTHENTICATED', reason } : { code: 'FORBIDDEN' });
    expect(status).toBe(reason ? 401 : 200);
  }

  test("the own player's screen arrives, nothing else", async () => {
    const { data, errors } = await ask(own);
    expect(errors).toEqual([]);
    expect(data).toMatchObject({ player: { id: 'p1', coupons: expect.anything() } });
    upstream.forget();
    await expectNothing(undefined, own, SCREEN, 'p2');
    await expectNothing(undefined, own, DELETE);
  });

  test('a token without scopes allows nothing, a machine reads players and has no `me`', async () => {
    if (!scopes) return;
    await expectNothing(undefined, noScopes);
    // With a map, only mapped names count.
    if (env['JWT_SCOPE_MAP']) await expectNothing(undefined, { ...own, scope: OWN.join(' ') });
    const query = '{ me { id } player(playerUniqueId: "p2") { id } }';
    const { data } = await ask({ ...noScopes, ...(machine ?? scopes(MACHINE)) }, query);
    expect(data).toEqual({ me: null, player: { id: 'p2' } });
  });

  test('another signer, issuer, audience, time or kind of token is 401, and the log has the reason, no identity', async () => {
    await expectNothing('signature', own, SCREEN, 'p1', stranger);
    await expectNothing('audience', { ...own, aud: 'other', azp: 'other', client_id: 'other' });
    await expectNothing('expired', { ...own, exp: now() - 120, iat: now() - 3_000 });
    await expectNothing('lifetime', { ...own, exp: now() + 100 * 86_400 });
    if (idToken) await expectNothing(idToken['typ'] ? 'require' : 'audience', { ...own, ...idToken });
    await expectNothing('issuer', { ...own, iss: 'https://acme.example/wrong' });
    const lines = gateway.logged().split('\n');
    const line = lines.find((one) => one.includes('https://acme.example/wrong'));
    const expired = lines.find((one) => one.includes('"reason":"expired"'));
    // How far the clocks are apart.
    const { expected: least, found } = JSON.parse(expired ?? '');
    expect(Number(/^more than (\d+)$/.exec(least)?.[1]) - Number(found)).toBeCloseTo(60, -1);
    const expected = env['JWT_ISSUER'].replace(',', ', ');
    expect(JSON.parse(line ?? '')).toMatchObject({ reason: 'issuer', claim: 'iss', expected });
    expect(gateway.logged()).not.toMatch(/@shop\.example|p1|eyJ/);
  });

  test('a player claim that is no id is 401; without it there is no player, never `sub`', async () => {
    for (const player of [null, '', ['p1'], { id: 'p1' }, true]) {
      await expectNothing('player', { ...own, [env['JWT_PLAYER_CLAIM']]: player });
    }
    await expectNothing(undefined, { ...noPlayer, sub: 'p1' });
    expect((await ask({ ...noPlayer, sub: 'p1' }, '{ me { id } }')).data).toEqual({ me: null });
  });
});

describe('names and values', () => {
  const base = { JWT_ISSUER: 'https://a.example', JWT_AUDIENCE: 'gateway' };
  const usual = (more: Json = {}) => ({ iss: 'https://a.example', aud: 'gateway', ...times(), scope: OWN, ...more });
  const ask = (gateway: TestGateway, payload: Json) =>
    gateway.query('{ me { id } }', {}, bearer(signed(signer, { alg: 'RS256' }, payload)));

  test('a whole number is its text; the first scope claim that is present decides alone', async () => {
    const gateway = await start({ ...base, JWT_PLAYER_CLAIM: '/a~1b/id', JWT_SCOPE_CLAIM: 'scp,scope' });
    const of = (id: unknown, more: Json = {}) => usual({ 'a/b': { id }, ...more });
    await ask(gateway, of(42));
    expect(upstream.requests.at(-1)?.playerUniqueId).toBe('42');
    expect((await ask(gateway, of(2 ** 53))).status).toBe(401);
    expect((await ask(gateway, of(42, { scp: 'coupons:read' }))).codes[0]).toBe('FORBIDDEN');
    expect((await ask(gateway, usual({ 'a/b': ['p1'], sub: 'p1' }))).data).toEqual({ me: null });
    const noName = await ask(gateway, usual({ scope: '' }));
    expect(noName.errors[0]?.extensions).toMatchObject({ reason: 'player', found: 'absent' });
    expect(noName.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
    const { errors } = await ask(gateway, of(42, { scope: undefined, roles: OWN }));
    expect(errors[0]?.message).toBe(
      'This needs the scope "players:read": the token has no claim `scp` or `scope`; it has iss, aud, iat, exp, a/b, roles.',
    );
  });

  test('in production the response keeps the reason to itself', async () => {
    const gateway = await startGateway('https://rest.example', { ...KEY, ...base, NODE_ENV: 'production' });
    const { errors } = await ask(gateway, usual({ sub: 'p1', aud: 'other' }));
    expect(errors).toEqual([{ message: expect.any(String), extensions: { code: 'UNAUTHENTICATED' } }]);
    expect(gateway.logged()).toContain('"reason":"audience","claim":"aud","expected":"gateway","found":"other"');
    const { errors: forbidden } = await ask(gateway, usual({ sub: 'p1', scope: undefined }));
    expect(forbidden[0]?.message).toBe('This needs the scope "players:read".');
  });

  test.each(
    rows<[env: string, problem: string]>(`
    JWT_PLAYER_CLAIM=__proto__ | "__proto__"
    JWT_SCOPE_CLAIM=scope,/a/constructor | constructor
    JWT_REQUIRE=prototype=x | prototype
    JWT_PLAYER_CLAIM=/a~2 | JSON Pointer
    JWT_SCOPE_MAP={ | must be JSON
    JWT_SCOPE_MAP={"a":["b"]} | a.0: "b" is no scope
    JWT_DEFAULT_SCOPES=any-player |
    JWT_DEFAULT_SCOPES=figures:write |
    JWT_DEFAULT_SCOPES=players:read,players:delete |
    JWT_DEFAULT_SCOPES=contacts:read |
    JWT_DEFAULT_SCOPES=events:write |
    JWT_ISSUER=, | is needed
    JWT_AUDIENCE=, | is needed
    JWT_REQUIRE=typ | "typ" must be
    JWT_JWKS_URL=https://a:hunter2@a.example/keys | must have no user or fragment
    `),
  )('%s refuses to start', (setting, problem) => {
    const [name = '', value = ''] = setting.split(/=(.*)/s);
    const key = name === 'JWT_JWKS_URL' ? {} : KEY;
    const load = () => loadConfig({ ...base, ...key, [name]: value });
    expect(load).toThrow(`${name}: `);
    expect(load).toThrow(problem);
    expect(load).not.toThrow('hunter2');
  });

  test('another audience claim needs JWT_REQUIRE', () => {
    expect(() => loadConfig({ ...base, ...KEY, JWT_AUDIENCE_CLAIM: 'azp' })).toThrow('JWT_REQUIRE: is needed');
  });
});
