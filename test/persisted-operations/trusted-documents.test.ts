import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { post, startBoth, startGateway } from '../kit/gateway.ts';
import { secretSigner, token, UNLIMITED } from '../kit/tokens.ts';

const signer = secretSigner();
const app = { authorization: `Bearer ${token(signer, { scope: 'players:read' })}` };
const root = mkdtempSync(join(tmpdir(), 'documents-'));
afterAll(() => rmSync(root, { recursive: true }));

const digest = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('hex');
const READ = 'query ReadPlayer($id: ID!) { player(playerUniqueId: $id) { id } }';
const MINE = 'query Mine { me { id } }';
const variables = { id: 'p1' };

const newFolder = () => mkdtempSync(join(root, 'files-'));
function put(folder: string, name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const start = (files: string) =>
  startBoth({ ...signer.env, ...UNLIMITED, PERSISTED_OPERATIONS: 'enforce', PERSISTED_OPERATIONS_FILE: files });
const fails = (files: string) =>
  startGateway('http://127.0.0.1:9', { PERSISTED_OPERATIONS: 'enforce', PERSISTED_OPERATIONS_FILE: files });

/** What each tool writes for READ, and what its client sends. */
const [md5, sha1, sha256] = ['md5', 'sha1', 'sha256'].map((algorithm) => digest(algorithm, READ)) as [
  string,
  string,
  string,
];
const apollo = (sha256Hash: string) => ({ extensions: { persistedQuery: { version: 1, sha256Hash } } });
const APOLLO = {
  format: 'apollo-persisted-query-manifest',
  version: 1,
  operations: [{ id: sha256, name: 'ReadPlayer', type: 'query', body: READ }],
};
const TOOLS: [tool: string, file: object, request: object][] = [
  ["Apollo's generate-persisted-query-manifest", APOLLO, apollo(sha256)],
  ['Relay', { [md5]: READ }, { doc_id: md5 }],
  ['Relay, as its guide sends it', { [md5]: READ }, { id: md5 }],
  ['GraphQL Code Generator', { [sha1]: READ }, { documentId: sha1 }],
  ['gql.tada', { [`sha256:${sha256}`]: READ }, { documentId: `sha256:${sha256}` }],
  ['gql.tada with urql', { [`sha256:${sha256}`]: READ }, apollo(`sha256:${sha256}`)],
  ['a prefix in the file alone', { [`sha256:${sha256}`]: READ }, { documentId: sha256 }],
  ['Apollo Kotlin', { [sha256]: { name: 'ReadPlayer', source: READ } }, apollo(sha256)],
];

test.each(TOOLS)('%s', async (_tool, file, request) => {
  const both = await start(put(newFolder(), 'operations.json', file));
  const body = { operationName: 'ReadPlayer', variables, ...request };
  expect(await post(both.gateway.url, body, app)).toMatchObject({ status: 200, data: { player: { id: 'p1' } } });

  const search = new URLSearchParams(
    Object.entries(body).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  );
  const response = await fetch(`${both.gateway.url}/graphql?${search}`, { headers: app });
  expect([response.status, (await response.json()).data]).toEqual([200, { player: { id: 'p1' } }]);
  expect(both.upstream.calls()).toEqual(Array(2).fill('GET /integrations/player/p1'));

  await both.close();
});

test('the *.json files of a folder and other files are listed, and operations have their names in the metrics', async () => {
  const folder = newFolder();
  put(folder, 'web.json', { a: READ });
  put(folder, 'notes.txt', 'no list');
  const phone = put(newFolder(), 'phone.json', { b: { name: 'Mine', source: MINE }, a: READ });
  const both = await start(`${folder}, ${phone}`);
  expect((await post(both.gateway.url, { id: 'a', variables }, app)).data).toEqual({ player: { id: 'p1' } });
  expect((await post(both.gateway.url, { id: 'b' }, app)).data).toEqual({ me: { id: 'p1' } });
  expect((await post(both.gateway.url, { query: `${MINE} ` }, app)).errors[0]?.message).toContain(
    `Mine, SHA-256 ${digest('sha256', `${MINE} `)}, is not in it.`,
  );
  const metrics = await both.gateway.metrics();
  expect(metrics).toContain('gateway_operations_total{operation="ReadPlayer",type="query",outcome="OK"} 1');
  expect(metrics).toContain('gateway_operations_total{operation="Mine",type="query",outcome="OK"} 1');
  await both.close();
});

test('a name that no manifest lists gets no label by one player', async () => {
  const both = await startBoth({
    ...signer.env,
    PERSISTED_OPERATIONS: 'log',
    PERSISTED_OPERATIONS_FILE: put(newFolder(), 'operations.json', { a: READ }),
  });
  await post(both.gateway.url, { query: MINE }, app);
  const metrics = await both.gateway.metrics();
  expect(metrics).toContain('gateway_operations_total{operation="other",type="query",outcome="OK"} 1');
  expect(metrics).not.toContain('Mine');
  await both.close();
});

const FORMAT = /o\.json: it must be an Apollo manifest, or an object of ids and texts; generate it again/;

test.each<[name: string, content: unknown, sentence: RegExp]>([
  ['no JSON', '{', /o\.json: .*JSON/],
  ['a list of texts', [READ], FORMAT],
  ['an operation without a text', { a: { name: 'A' } }, FORMAT],
  ['an endless id', { ['a'.repeat(300)]: READ }, FORMAT],
  ['texts that lead to ids', { [MINE]: 'a' }, /"query Mine .*": Syntax Error/],
  ['another format', { ...APOLLO, format: 'relay' }, /\(format: /],
  ['another version', { ...APOLLO, version: 2 }, /\(version: /],
  ['an operation of a manifest without a body', { ...APOLLO, operations: [{ id: 'a' }] }, /\(operations\.0\.body: /],
  [
    'an id with two texts',
    { ...APOLLO, operations: [...APOLLO.operations, { id: `sha256:${sha256}`, body: MINE }] },
    /: this id has another text, too/,
  ],
  ['an operation that is no GraphQL', { a: 'query {' }, /o\.json: "a": Syntax Error/],
  [
    'an operation of another schema',
    { a: '{ nobody }' },
    /o\.json: "a": Cannot query field "nobody".*rebuild the client with the gateway's schema/,
  ],
  [
    'more mistakes than anybody reads',
    Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`id-${i}`, '{ nobody }'])),
    /and 10 more$/,
  ],
])('a file with %s stops the start and says why', async (_name, content, sentence) => {
  const started = fails(put(newFolder(), 'o.json', content));
  await expect(started).rejects.toThrow(/^The configuration cannot be used:\n {2}PERSISTED_OPERATIONS_FILE: /);
  await expect(started).rejects.toThrow(sentence);
});

test('a path without files stops the start and says why', async () => {
  await expect(fails(join(newFolder(), 'gone.json'))).rejects.toThrow(/gone\.json: .*ENOENT/);
  await expect(fails(newFolder())).rejects.toThrow(/: the folder has no \*\.json; put the files that list operations/);
});
