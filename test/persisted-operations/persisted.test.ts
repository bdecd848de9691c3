import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { newFile, newFolder } from '../kit/at-end.ts';
import { startBoth, startGateway } from '../kit/gateway.ts';
import { get, post } from '../kit/post.ts';
import { bearer, secretSigner, sha256, UNLIMITED } from '../kit/tokens.ts';

const signer = secretSigner();

const READ = 'query Read($id: ID!) { player(playerUniqueId: $id) { id } }';
const COUPONS = 'query Coupons { player(playerUniqueId: "p1") { id coupons { code } } }';
const MANY = `query Many { ${Array.from({ length: 31 }, (_, i) => `a${i}: me { id }`).join(' ')} }`;
const REMOVE = 'mutation Remove { deletePlayer(input: { playerUniqueId: "p1" }) { deletedPlayerUniqueId } }';
const UNLISTED = '{ me { id } }';
const MINE = 'query Mine { me { id } }';
const ID = sha256(READ);

const operation = (body: string, id = sha256(body)) => ({ id, body, name: 'Name', type: 'query' });
const manifestOf = (...operations: object[]) => ({ format: 'apollo-persisted-query-manifest', version: 1, operations });

const put = (content: unknown) => newFile('o.json', content);
const manifest = put(manifestOf(operation(READ), operation(COUPONS, 'coupons-1'), operation(MANY), operation(REMOVE)));

const apollo = (sha256Hash: string) => ({ extensions: { persistedQuery: { version: 1, sha256Hash } } });
const app = bearer(signer, { scope: 'players:read players:delete' });
const exempt = bearer(signer, { scope: 'players:read schema:read' });
const poor = bearer(signer, { scope: 'coupons:read' });
const variables = { id: 'p1' };

const settings = (mode: string, files: string) => ({
  ...{ ...signer.env, ...UNLIMITED, PERSISTED_OPERATIONS_EXEMPT_SCOPE: 'schema:read' },
  ...{ PERSISTED_OPERATIONS: mode, PERSISTED_OPERATIONS_FILE: files },
});
const start = (mode: string, files = manifest) => startBoth(settings(mode, files));
const startWithFiles = (files: string) => startGateway('http://127.0.0.1:9', settings('enforce', files));

test('a scope that nobody can have stops the start', async () => {
  const started = startGateway('http://127.0.0.1:9', { PERSISTED_OPERATIONS_EXEMPT_SCOPE: 'admin' });
  await expect(started).rejects.toThrow(/PERSISTED_OPERATIONS_EXEMPT_SCOPE: must be one of players:read, /);
});

const both = await start('enforce');

describe('enforce', () => {
  beforeEach(() => both.upstream.forget());

  const runs = { status: 200, codes: [], calls: ['GET /integrations/player/p1'] };
  const runsPartly = { ...runs, codes: ['FORBIDDEN'] };
  const fails = (code: string, status = 400) => ({ status, codes: [code], calls: [] });
  const [refused, bad] = [fails('OPERATION_NOT_ALLOWED'), fails('BAD_REQUEST')];

  test.each<[name: string, body: object, expected: object, headers?: Record<string, string>]>([
    ['a listed id', { ...apollo(ID), operationName: 'Read', variables }, runs],
    ['a listed id as documentId', { documentId: ID, variables }, runs],
    ['a listed id as prefixed documentId', { documentId: `sha256:${ID}`, variables }, runs],
    ['a listed id as id', { id: ID, variables }, runs],
    ['a listed id as doc_id', { doc_id: `sha256:${ID}`, variables }, runs],
    ['a listed id in two places', { id: ID, ...apollo(`sha256:${ID}`), variables }, runs],
    ['two listed ids', { id: ID, doc_id: 'coupons-1', variables }, bad],
    ['an id that is a number', { id: 1, variables }, bad],
    ['an endless id', { id: 'a'.repeat(257), variables }, bad],
    ['a listed id with variables that are a text', { id: ID, variables: '{"id":"p1"}' }, bad],
    ['a listed text', { query: READ, variables }, runs],
    ['a listed text with its hash, not its listed id', { query: COUPONS, ...apollo(sha256(COUPONS)) }, runsPartly],
    ['the hash of a listed text, not its listed id', apollo(sha256(COUPONS)), runsPartly],
    ['a listed text with a number of its own as id', { id: 1, query: READ, variables }, runs],
    ['a listed text with a listed id of another as id', { id: 'coupons-1', query: READ, variables }, bad],
    ['a listed text under another hash', { query: READ, ...apollo(sha256(COUPONS)) }, bad],
    ['a listed text, a space longer', { query: `${READ} `, variables }, refused],
    ['another text', { query: UNLISTED }, refused],
    ['another text with its hash', { query: UNLISTED, ...apollo(sha256(UNLISTED)) }, refused],
    ['another text with its prefixed hash', { query: UNLISTED, ...apollo(`sha256:${sha256(UNLISTED)}`) }, refused],
    ['another text with a listed id as doc_id', { doc_id: ID, query: UNLISTED }, bad],
    ['an unlisted id', { id: 'nothing' }, refused],
    ['an unlisted hash', apollo(sha256(UNLISTED)), refused],
    ['no GraphQL', { query: '{{{{' }, refused],
    ['no operation at all', { variables }, bad],
    ['another text of an exempt caller', { query: UNLISTED }, runs, exempt],
    ['a listed id of an exempt caller', { ...apollo(ID), variables }, runs, exempt],
    ['a listed id without a token', { ...apollo(ID), variables }, fails('UNAUTHENTICATED', 401), {}],
    ['a listed id without the scope', { id: ID, variables }, fails('FORBIDDEN', 200), poor],
    ['a listed id of too large an operation', apollo(sha256(MANY)), fails('OPERATION_TOO_COMPLEX')],
  ])('%s', async (_name, body, expected, headers = app) => {
    const { status, codes } = await post(both.gateway.url, body, headers);
    expect({ status, codes, calls: both.upstream.calls() }).toEqual(expected);
  });

  const extensions = (text: string) => JSON.stringify(apollo(sha256(text)).extensions);
  test.each<[string, Record<string, string>, number, string | undefined]>([
    ['a listed hash', { extensions: extensions(READ) }, 200, undefined],
    ['a listed documentId', { documentId: ID }, 200, undefined],
    ['a listed id', { id: ID }, 200, undefined],
    ['a listed doc_id', { doc_id: ID }, 200, undefined],
    ['another text', { query: UNLISTED }, 400, 'OPERATION_NOT_ALLOWED'],
    ['a listed mutation', { extensions: extensions(REMOVE) }, 405, 'BAD_REQUEST'],
  ])('%s with GET', async (_name, parameters, status, code) => {
    const answer = await get(both.gateway.url, { ...parameters, variables: JSON.stringify(variables) }, app);
    expect([answer.status, answer.codes[0]]).toEqual([status, code]);
    if (!code) expect(answer.data.player.id).toBe('p1');
  });

  test('what an exempt caller registers does not run for others', async () => {
    const registration = { query: UNLISTED, ...apollo(sha256(UNLISTED)) };
    expect((await post(both.gateway.url, registration, exempt)).status).toBe(200);
    expect((await post(both.gateway.url, apollo(sha256(UNLISTED)), app)).codes).toEqual(['OPERATION_NOT_ALLOWED']);
  });
});

test('log runs everything and logs what enforce would refuse', async () => {
  const both = await start('log');
  const would = () => both.gateway.logged().match(/.*enforce would refuse.*/g) ?? [];
  await post(both.gateway.url, { ...apollo(ID), variables }, app);
  await post(both.gateway.url, { query: READ, variables }, app);
  await post(both.gateway.url, { query: UNLISTED }, exempt);
  await post(both.gateway.url, { variables }, app);
  expect(would()).toEqual([]);
  const answer = await post(both.gateway.url, { query: UNLISTED }, app);
  expect(answer).toMatchObject({ status: 200, data: { me: { id: 'p1' } } });
  expect(would()).toHaveLength(1);
  const caller = expect.stringMatching(/^hmac:/);
  expect(JSON.parse(would()[0] ?? '')).toMatchObject({ caller, sha256: sha256(UNLISTED) });
});

test('without a manifest no id is listed', async () => {
  const both = await startBoth(signer.env);
  const message =
    'No operation with this id is listed. Send its text as "query", or list it in the files of PERSISTED_OPERATIONS_FILE.';
  const byId = await post(both.gateway.url, { id: ID, variables }, app);
  expect([byId.status, byId.errors[0]?.message]).toEqual([400, message]);
  const byHash = await post(both.gateway.url, { ...apollo(ID), variables }, app);
  expect(byHash.codes).toEqual(['PERSISTED_QUERY_NOT_FOUND']);
});

test('with off, the ids of a manifest run, and so does every other operation', async () => {
  const both = await start('off', put(`\ufeff${JSON.stringify(manifestOf(operation(READ, 'the-id')))}`));
  const byId = await post(both.gateway.url, { documentId: 'the-id', variables, ...apollo(ID) }, app);
  expect(byId.data).toEqual({ player: { id: 'p1' } });
  expect((await post(both.gateway.url, { query: UNLISTED }, app)).data).toEqual({ me: { id: 'p1' } });
});

test.each(['off', 'log'])('with %s, the hash of a listed text is known, whatever its id is', async (mode) => {
  const both = await start(mode);
  expect((await post(both.gateway.url, apollo(sha256(COUPONS)), app)).codes).toEqual(['FORBIDDEN']);
  expect(both.gateway.logged()).not.toContain('would refuse');
});

test('an id of a file comes before the hash of another text', async () => {
  const both = await start('enforce', put({ [sha256(MINE)]: READ, mine: MINE }));
  expect((await post(both.gateway.url, { documentId: sha256(MINE), variables }, app)).data).toHaveProperty('player');
});

/** What each tool writes for READ, and what its client sends. */
const [md5 = '', sha1 = ''] = ['md5', 'sha1'].map((algorithm) => createHash(algorithm).update(READ).digest('hex'));
const TOOLS: [tool: string, file: object, request: object][] = [
  ["Apollo's generate-persisted-query-manifest", manifestOf(operation(READ)), apollo(ID)],
  ['Relay', { [md5]: READ }, { doc_id: md5 }],
  ['Relay, as its guide sends it', { [md5]: READ }, { id: md5 }],
  ['GraphQL Code Generator', { [sha1]: READ }, { documentId: sha1 }],
  ['gql.tada', { [`sha256:${ID}`]: READ }, { documentId: `sha256:${ID}` }],
  ['gql.tada with urql', { [`sha256:${ID}`]: READ }, apollo(`sha256:${ID}`)],
  ['a prefix in the file alone', { [`sha256:${ID}`]: READ }, { documentId: ID }],
  ['Apollo Kotlin', { [ID]: { name: 'Read', source: READ } }, apollo(ID)],
];

test.each(TOOLS)('%s', async (_tool, file, request) => {
  const both = await start('enforce', put(file));
  const answer = await post(both.gateway.url, { operationName: 'Read', variables, ...request }, app);
  expect(answer).toMatchObject({ status: 200, data: { player: { id: 'p1' } } });
});

test('the *.json files of a folder and other files are listed, and operations have their names in the metrics', async () => {
  const folder = newFolder();
  newFile('web.json', { a: READ }, folder);
  newFile('notes.txt', 'no list', folder);
  const both = await start('enforce', `${folder}, ${put({ b: { name: 'Mine', source: MINE }, a: READ })}`);
  expect((await post(both.gateway.url, { id: 'a', variables }, app)).data).toEqual({ player: { id: 'p1' } });
  expect((await post(both.gateway.url, { id: 'b' }, app)).data).toEqual({ me: { id: 'p1' } });
  const { errors } = await post(both.gateway.url, { query: `${MINE} ` }, app);
  expect(errors[0]?.message).toContain(`Mine, SHA-256 ${sha256(`${MINE} `)}, is not in it.`);
  const metrics = await both.gateway.metrics();
  for (const name of ['Read', 'Mine']) {
    expect(metrics).toContain(`gateway_operations_total{operation="${name}",type="query",outcome="OK"} 1`);
  }
});

const NO_LIST = /o\.json: it must be an Apollo manifest, or an object of ids and texts; generate it again/;
const twice = manifestOf(operation(READ), operation(MINE, `sha256:${ID}`));
test.each<[name: string, content: unknown, sentence: RegExp]>([
  ['no JSON', '{', /o\.json: .*JSON/],
  ['a list of texts', [READ], NO_LIST],
  ['an endless id', { ['a'.repeat(300)]: READ }, /generate it again/],
  ['another format', { ...manifestOf(operation(READ)), format: 'relay' }, /\(format: /],
  ['an id with two texts', twice, /: this id has another text, too/],
  ['an operation that is no GraphQL', { a: 'query {' }, /o\.json: "a": Syntax Error/],
  ['an operation of another schema', { a: '{ nobody }' }, /"nobody".*rebuild the client with the gateway's schema/],
  ['an object without ids', {}, /o\.json: it has no operations; generate it again/],
  ['a manifest without operations', manifestOf(), /o\.json: it has no operations/],
  ['30 mistakes', { ...Array(30).fill('{ nobody }') }, /and 10 more$/],
])('a file with %s stops the start and says why', async (_name, content, sentence) => {
  const started = startWithFiles(put(content));
  await expect(started).rejects.toThrow(/^The configuration cannot be used:\n {2}PERSISTED_OPERATIONS_FILE: /);
  await expect(started).rejects.toThrow(sentence);
});

test('a path without files stops the start and says why', async () => {
  await expect(startWithFiles(join(newFolder(), 'gone.json'))).rejects.toThrow(/gone\.json: .*ENOENT/);
  const sentence = /: the folder has no \*\.json; put the files that list operations/;
  await expect(startWithFiles(newFolder())).rejects.toThrow(sentence);
});
