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

describe('a manifest that cannot be used stops the start and says why', () => {
  const rows: [name: string, content: unknown, sentence: RegExp][] = [
    ['no JSON', '{', /cannot be read as JSON/],
    ['another format', { ...manifest, format: 'relay' }, /format: must be "apollo-persisted-query-manifest"/],
    ['another version', { ...manifest, version: 2 }, /version: must be 1/],
    ['an operation without a body', manifestOf([{ id: 'a', name: 'A', type: 'query' }]), /operations\.0\.body/],
    [
      'an id that stands twice',
      manifestOf([operation(READ, 'a'), operation(COUPONS, 'a')]),
      /operations\.1 \("Name", id a\): its id has another text at .*operations\.0/,
    ],
    ['an operation that is no GraphQL', manifestOf([operation('query {')]), /operations\.0 .*Syntax Error/],
    ['a field the schema does not have', manifestOf([operation('{ nobody }')]), /operations\.0 .*"nobody"/],
    [
      'more mistakes than anybody reads',
      manifestOf(Array.from({ length: 30 }, (_, i) => operation('{ nobody }', `${i}`))),
      /and 10 more$/,
    ],
  ];
  test.each(rows)('%s', async (_name, content, sentence) => {
    const started = startGateway('http://127.0.0.1:9', {
      PERSISTED_OPERATIONS: 'enforce',
      PERSISTED_OPERATIONS_FILE: write(content),
    });
    await expect(started).rejects.toThrow(/PERSISTED_OPERATIONS_FILE: /);
    await expect(started).rejects.toThrow(sentence);
  });

  test('and so does a scope nobody can have', async () => {
    const started = startGateway('http://127.0.0.1:9', { PERSISTED_OPERATIONS_EXEMPT_SCOPE: 'admin' });
    await expect(started).rejects.toThrow(/PERSISTED_OPERATIONS_EXEMPT_SCOPE: must be one of players:read, /);
  });
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

  const PLAYER = 'GET /integrations/player/p1';
  interface Expected {
    status: number;
    code?: string;
    calls?: string[];
  }
  const runs: Expected = { status: 200, calls: [PLAYER] };
  const refused: Expected = { status: 400, code: 'OPERATION_NOT_ALLOWED' };
  const bad: Expected = { status: 400, code: 'BAD_REQUEST' };
  const mistake: Expected = { status: 400, code: 'BAD_USER_INPUT' };
  const rows: [name: string, body: object, expected: Expected, headers?: Record<string, string>][] = [
    ['a listed id', { ...apollo(sha256(READ)), variables }, runs],
    ['a listed id with the name of its operation', { ...apollo(sha256(READ)), operationName: 'Read', variables }, runs],
    ['a listed id as documentId', { documentId: sha256(READ), variables }, runs],
    ['a listed id as prefixed documentId', { documentId: `sha256:${sha256(READ)}`, variables }, runs],
    ['a listed id that is no hash', { documentId: 'coupons-1' }, { ...runs, code: 'FORBIDDEN' }],
    ['a listed id as id', { id: sha256(READ), variables }, runs],
    ['a listed id as doc_id', { doc_id: `sha256:${sha256(READ)}`, variables }, runs],
    ["a listed id with prefix in Apollo's place", { ...apollo(`sha256:${sha256(READ)}`), variables }, runs],
    ['a listed id in two places', { id: sha256(READ), ...apollo(sha256(READ)), variables }, runs],
    ['two listed ids', { id: sha256(READ), doc_id: 'coupons-1', variables }, bad],
    ['an id that is a number', { id: 1, variables }, bad],
    ['a listed id with variables that are a text', { id: sha256(READ), variables: '{"id":"p1"}' }, bad],
    ['a listed id with variables that are a list', { id: sha256(READ), variables: ['p1'] }, bad],
    ['a listed id with a variable of another type', { id: sha256(READ), variables: { id: {} } }, mistake],
    ['a listed id with an operation name that is a number', { id: sha256(READ), operationName: 1, variables }, bad],
    ['a listed id with extensions that are a text', { id: sha256(READ), extensions: '{}', variables }, bad],
    ['a listed text', { query: READ, variables }, runs],
    ['a listed text with a number of its own as id', { id: 1, query: READ, variables }, runs],
    ['a listed text with a listed id of another as id', { id: 'coupons-1', query: READ, variables }, bad],
    ['another text with a listed id as doc_id', { doc_id: sha256(READ), query: UNLISTED }, bad],
    ['an unlisted id', { id: 'nothing' }, refused],
    ['a listed text with its id', { query: READ, ...apollo(sha256(READ)), variables }, runs],
    [
      'a listed text with its hash, listed under another id',
      { query: COUPONS, ...apollo(sha256(COUPONS)) },
      { ...runs, code: 'FORBIDDEN' },
    ],
    ['a listed text, a space longer', { query: `${READ} `, variables }, refused],
    ['another text', { query: UNLISTED }, refused],
    ['another text with its hash', { query: UNLISTED, ...apollo(sha256(UNLISTED)) }, refused],
    ['another text under a listed id', { query: UNLISTED, ...apollo(sha256(READ)) }, bad],
    ['a listed text under another id', { query: READ, ...apollo(sha256(COUPONS)) }, bad],
    ['an unlisted hash', apollo(sha256(UNLISTED)), refused],
    ['an unlisted documentId', { documentId: 'nothing' }, refused],
    ['the name of a member every object has', apollo('constructor'), refused],
    ['no GraphQL', { query: '{{{{' }, refused],
    ['introspection', { query: '{ __schema { queryType { name } } }' }, refused],
    ['no operation at all', { variables }, refused],
    ['a list of operations', [{ query: READ, variables }], bad],
    ['another version of the protocol', apollo(sha256(READ), 2), bad],
    ['a hash that is no text', { extensions: { persistedQuery: { version: 1, sha256Hash: { a: 1 } } } }, bad],
    ['another text of an exempt caller', { query: UNLISTED }, runs, bearer('players:read schema:read')],
    [
      'a listed id of an exempt caller',
      { ...apollo(sha256(READ)), variables },
      runs,
      bearer('players:read schema:read'),
    ],
    [
      'a listed id without a token',
      { ...apollo(sha256(READ)), variables },
      { status: 401, code: 'UNAUTHENTICATED' },
      {},
    ],
    [
      'a listed id without the scope',
      { ...apollo(sha256(READ)), variables },
      { status: 200, code: 'FORBIDDEN' },
      bearer('coupons:read'),
    ],
    ['a listed id of too large an operation', apollo(sha256(MANY)), { status: 400, code: 'OPERATION_TOO_COMPLEX' }],
  ];

  test.each(rows)('%s', async (_name, body, expected, headers = app) => {
    const { status, errors } = await post(both.gateway.url, body, headers);
    expect({ status, codes: errors.map(({ extensions }) => extensions['code']) }).toEqual({
      status: expected.status,
      codes: expected.code ? [expected.code] : [],
    });
    expect(both.upstream.calls()).toEqual(expected.calls ?? []);
  });

  const get = async (parameters: Record<string, string>) => {
    const response = await fetch(`${both.gateway.url}/graphql?${new URLSearchParams(parameters)}`, {
      headers: { ...app, 'apollo-require-preflight': 'true' },
    });
    const { data, errors = [] } = JSON.parse(await response.text());
    const codes = errors.map(({ extensions }: { extensions: { code: string } }) => extensions.code);
    return { status: response.status, id: data?.player?.id, codes };
  };
  const extensions = (text: string) => JSON.stringify(apollo(sha256(text)).extensions);
  const inUrl = JSON.stringify(variables);

  test.each([
    ['a listed id', { extensions: extensions(READ), variables: inUrl }, { status: 200, id: 'p1', codes: [] }],
    ['a listed documentId', { documentId: sha256(READ), variables: inUrl }, { status: 200, id: 'p1', codes: [] }],
    ['a listed id', { id: sha256(READ), variables: inUrl }, { status: 200, id: 'p1', codes: [] }],
    ['a listed doc_id', { doc_id: sha256(READ), variables: inUrl }, { status: 200, id: 'p1', codes: [] }],
    ['a listed text', { query: READ, variables: inUrl }, { status: 200, id: 'p1', codes: [] }],
    ['another text', { query: UNLISTED }, { status: 400, codes: ['OPERATION_NOT_ALLOWED'] }],
    ['extensions that are no JSON', { extensions: '{' }, { status: 400, codes: ['OPERATION_NOT_ALLOWED'] }],
    ['a listed mutation', { extensions: extensions(REMOVE) }, { status: 405, codes: ['BAD_REQUEST'] }],
  ])('%s with GET', async (_name, parameters: Record<string, string>, expected) => {
    expect(await get(parameters)).toEqual({ id: undefined, ...expected });
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
  const would = () =>
    both.gateway
      .logged()
      .split('\n')
      .filter((line) => line.includes('enforce would refuse'));
  await post(both.gateway.url, { ...apollo(sha256(READ)), variables }, app);
  await post(both.gateway.url, { query: READ, variables }, app);
  await post(both.gateway.url, { query: UNLISTED }, bearer('players:read schema:read'));
  expect(would()).toEqual([]);
  const answer = await post(both.gateway.url, { query: UNLISTED }, app);
  expect(answer).toMatchObject({ status: 200, data: { me: { id: 'p1' } } });
  expect(would()).toHaveLength(1);
  expect(JSON.parse(would()[0] ?? '')).toMatchObject({
    caller: expect.stringMatching(/^hmac:/),
    sha256: sha256(UNLISTED),
  });
  const byEmail = { authorization: `Bearer ${token(signer, { sub: 'ann@example.com', scope: 'players:read' })}` };
  await post(both.gateway.url, { query: UNLISTED }, byEmail);
  expect(JSON.parse(would()[1] ?? '')).toMatchObject({ caller: expect.stringMatching(/^hmac:/) });
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
