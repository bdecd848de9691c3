import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { post, startBoth, startGateway } from '../kit/gateway.ts';
import { secretSigner, token, UNLIMITED } from '../kit/tokens.ts';

const signer = secretSigner();
const folder = mkdtempSync(join(tmpdir(), 'persisted-'));
afterAll(() => rmSync(folder, { recursive: true }));

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const READ = 'query Read($id: ID!) { player(playerUniqueId: $id) { id } }';
const COUPONS = 'query Coupons { player(playerUniqueId: "p1") { id coupons { code } } }';
const MANY = `query Many { ${Array.from({ length: 21 }, (_, i) => `a${i}: me { id }`).join(' ')} }`;
const REMOVE = 'mutation Remove { deletePlayer(input: { playerUniqueId: "p1" }) { deletedPlayerUniqueId } }';
const UNLISTED = '{ me { id } }';

const operation = (body: string, id = sha256(body), type = 'query') => ({ id, body, name: 'Name', type });
const manifestOf = (operations: object[]) => ({ format: 'apollo-persisted-query-manifest', version: 1, operations });
const manifest = manifestOf([operation(READ), operation(COUPONS, 'coupons-1'), operation(MANY), operation(REMOVE)]);

let files = 0;
function write(content: unknown, path = join(folder, `manifest-${files++}.json`)): string {
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const apollo = (id: string, version = 1) => ({ extensions: { persistedQuery: { version, sha256Hash: id } } });
const bearer = (scope: string) => ({ authorization: `Bearer ${token(signer, { scope })}` });
const app = bearer('players:read players:delete');
const variables = { id: 'p1' };

test('a scope that nobody can have stops the start', async () => {
  const started = startGateway('http://127.0.0.1:9', { PERSISTED_OPERATIONS_EXEMPT_SCOPE: 'admin' });
  await expect(started).rejects.toThrow(/PERSISTED_OPERATIONS_EXEMPT_SCOPE: must be one of players:read, /);
});

describe('enforce', () => {
  let both: Awaited<ReturnType<typeof startBoth>>;
  beforeAll(async () => {
    both = await startBoth({
      ...signer.env,
      PERSISTED_OPERATIONS: 'enforce',
      PERSISTED_OPERATIONS_FILE: write(manifest),
      PERSISTED_OPERATIONS_EXEMPT_SCOPE: 'schema:read',
    });
  });
  beforeEach(() => both.upstream.forget());
  afterAll(() => both.close());

  const runs = { status: 200, codes: [], calls: ['GET /integrations/player/p1'] };
  const runsPartly = { ...runs, codes: ['FORBIDDEN'] };
  const fails = (code: string, status = 400) => ({ status, codes: [code], calls: [] });
  const [refused, bad] = [fails('OPERATION_NOT_ALLOWED'), fails('BAD_REQUEST')];
  const ID = sha256(READ);
  const exempt = bearer('players:read schema:read');

  test.each<[name: string, body: object, expected: object, headers?: Record<string, string>]>([
    ['a listed id', { ...apollo(ID), operationName: 'Read', variables }, runs],
    ['a listed id as documentId', { documentId: ID, variables }, runs],
    ['a listed id as prefixed documentId', { documentId: `sha256:${ID}`, variables }, runs],
    ['a listed id that is no hash', { documentId: 'coupons-1' }, runsPartly],
    ['a listed id as id', { id: ID, variables }, runs],
    ['a listed id as doc_id', { doc_id: `sha256:${ID}`, variables }, runs],
    ['a listed id in two places', { id: ID, ...apollo(`sha256:${ID}`), variables }, runs],
    ['two listed ids', { id: ID, doc_id: 'coupons-1', variables }, bad],
    ['an id that is a number', { id: 1, variables }, bad],
    ['an endless id', { id: 'a'.repeat(257), variables }, bad],
    ['a listed id with variables that are a text', { id: ID, variables: '{"id":"p1"}' }, bad],
    ['a listed id with variables that are a list', { id: ID, variables: ['p1'] }, bad],
    ['a listed id with a variable of another type', { id: ID, variables: { id: {} } }, fails('BAD_USER_INPUT')],
    ['a listed id with an operation name that is a number', { id: ID, operationName: 1, variables }, bad],
    ['a listed id with extensions that are a text', { id: ID, extensions: '{}', variables }, bad],
    ['a listed text', { query: READ, variables }, runs],
    ['a listed text with its id', { query: READ, ...apollo(ID), variables }, runs],
    [
      'a listed text with its hash, listed under another id',
      { query: COUPONS, ...apollo(sha256(COUPONS)) },
      runsPartly,
    ],
    ['a listed text with a number of its own as id', { id: 1, query: READ, variables }, runs],
    ['a listed text with a listed id of another as id', { id: 'coupons-1', query: READ, variables }, bad],
    ['a listed text under another hash', { query: READ, ...apollo(sha256(COUPONS)) }, bad],
    ['a listed text, a space longer', { query: `${READ} `, variables }, refused],
    ['another text', { query: UNLISTED }, refused],
    ['another text with its hash', { query: UNLISTED, ...apollo(sha256(UNLISTED)) }, refused],
    ['another text with a listed id as doc_id', { doc_id: ID, query: UNLISTED }, bad],
    ['an unlisted id', { id: 'nothing' }, refused],
    ['an unlisted hash', apollo(sha256(UNLISTED)), refused],
    ['the name of a member every object has', apollo('constructor'), refused],
    ['no GraphQL', { query: '{{{{' }, refused],
    ['introspection', { query: '{ __schema { queryType { name } } }' }, refused],
    ['no operation at all', { variables }, refused],
    ['a list of operations', [{ query: READ, variables }], bad],
    ['another text of an exempt caller', { query: UNLISTED }, runs, exempt],
    ['a listed id of an exempt caller', { ...apollo(ID), variables }, runs, exempt],
    ['a listed id without a token', { ...apollo(ID), variables }, fails('UNAUTHENTICATED', 401), {}],
    ['a listed id without the scope', { id: ID, variables }, fails('FORBIDDEN', 200), bearer('coupons:read')],
    ['a listed id of too large an operation', apollo(sha256(MANY)), fails('OPERATION_TOO_COMPLEX')],
  ])('%s', async (_name, body, expected, headers = app) => {
    const { status, errors } = await post(both.gateway.url, body, headers);
    const codes = errors.map(({ extensions }) => extensions['code']);
    expect({ status, codes, calls: both.upstream.calls() }).toEqual(expected);
  });

  const extensions = (text: string) => JSON.stringify(apollo(sha256(text)).extensions);
  test.each<[string, Record<string, string>, number, string | undefined]>([
    ['a listed hash', { extensions: extensions(READ) }, 200, undefined],
    ['a listed documentId', { documentId: ID }, 200, undefined],
    ['a listed id', { id: ID }, 200, undefined],
    ['a listed doc_id', { doc_id: ID }, 200, undefined],
    ['a listed text', { query: READ }, 200, undefined],
    ['another text', { query: UNLISTED }, 400, 'OPERATION_NOT_ALLOWED'],
    ['extensions that are no JSON', { extensions: '{' }, 400, 'OPERATION_NOT_ALLOWED'],
    ['a listed mutation', { extensions: extensions(REMOVE) }, 405, 'BAD_REQUEST'],
  ])('%s with GET', async (_name, parameters, status, code) => {
    const search = new URLSearchParams({ ...parameters, variables: JSON.stringify(variables) });
    const headers = { ...app, 'apollo-require-preflight': 'true' };
    const response = await fetch(`${both.gateway.url}/graphql?${search}`, { headers });
    const { data, errors } = await response.json();
    expect([response.status, errors?.[0].extensions.code]).toEqual([status, code]);
    if (!code) expect(data.player.id).toBe('p1');
  });

  test('what an exempt caller registers does not run for others', async () => {
    const registration = { query: UNLISTED, ...apollo(sha256(UNLISTED)) };
    expect((await post(both.gateway.url, registration, bearer('players:read schema:read'))).status).toBe(200);
    const { errors } = await post(both.gateway.url, apollo(sha256(UNLISTED)), app);
    expect(errors.map(({ extensions }) => extensions['code'])).toEqual(['OPERATION_NOT_ALLOWED']);
  });
});

test('log runs everything and logs what enforce would refuse', async () => {
  const both = await startBoth({
    ...signer.env,
    PERSISTED_OPERATIONS: 'log',
    PERSISTED_OPERATIONS_FILE: write(manifest),
    PERSISTED_OPERATIONS_EXEMPT_SCOPE: 'schema:read',
  });
  const would = () => both.gateway.logged().match(/.*enforce would refuse.*/g) ?? [];
  await post(both.gateway.url, { ...apollo(sha256(READ)), variables }, app);
  await post(both.gateway.url, { query: READ, variables }, app);
  await post(both.gateway.url, { query: UNLISTED }, bearer('players:read schema:read'));
  expect(would()).toEqual([]);
  const answer = await post(both.gateway.url, { query: UNLISTED }, app);
  expect(answer).toMatchObject({ status: 200, data: { me: { id: 'p1' } } });
  expect(would()).toHaveLength(1);
  const caller = expect.stringMatching(/^hmac:/);
  expect(JSON.parse(would()[0] ?? '')).toMatchObject({ caller, sha256: sha256(UNLISTED) });
  await both.close();
});

test('without a manifest no id is listed', async () => {
  const both = await startBoth(signer.env);
  const byId = await post(both.gateway.url, { id: sha256(READ), variables }, app);
  expect([byId.status, byId.errors[0]?.message]).toEqual([
    400,
    'No operation with this id is listed. Send its text as "query", or list it in the files of PERSISTED_OPERATIONS_FILE.',
  ]);
  const { errors } = await post(both.gateway.url, { ...apollo(sha256(READ)), variables }, app);
  expect(errors.map(({ extensions }) => extensions['code'])).toEqual(['PERSISTED_QUERY_NOT_FOUND']);
  await both.close();
});

test('with off, the ids of a manifest run, and so does every other operation', async () => {
  const both = await startBoth({
    ...signer.env,
    ...UNLIMITED,
    PERSISTED_OPERATIONS_FILE: write(manifestOf([operation(READ, 'the-id')])),
  });
  const byId = await post(both.gateway.url, { documentId: 'the-id', variables }, app);
  expect(byId.data).toEqual({ player: { id: 'p1' } });
  expect((await post(both.gateway.url, { query: UNLISTED }, app)).data).toEqual({ me: { id: 'p1' } });
  await both.close();
});
