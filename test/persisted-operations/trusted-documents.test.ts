import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
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

let folders = 0;
function newFolder(): string {
  const folder = join(root, `${folders++}`);
  mkdirSync(folder);
  return folder;
}

/** Replaces a file as a deployment does, so that nobody reads half of it. */
function put(folder: string, name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(`${path}.new`, typeof content === 'string' ? content : JSON.stringify(content));
  renameSync(`${path}.new`, path);
  return path;
}

const start = (files: string) =>
  startBoth({ ...signer.env, ...UNLIMITED, PERSISTED_OPERATIONS: 'enforce', PERSISTED_OPERATIONS_FILE: files });
const fails = (files: string) =>
  startGateway('http://127.0.0.1:9', { PERSISTED_OPERATIONS: 'enforce', PERSISTED_OPERATIONS_FILE: files });

/** What each tool writes for READ, and what its client sends. */
const md5 = digest('md5', READ);
const sha1 = digest('sha1', READ);
const sha256 = digest('sha256', READ);
const TOOLS: [tool: string, file: object, request: object][] = [
  [
    "Apollo's generate-persisted-query-manifest",
    {
      format: 'apollo-persisted-query-manifest',
      version: 1,
      operations: [{ id: sha256, name: 'ReadPlayer', type: 'query', body: READ }],
    },
    { extensions: { persistedQuery: { version: 1, sha256Hash: sha256 } } },
  ],
  ['Relay', { [md5]: READ }, { doc_id: md5 }],
  ['Relay, as its guide sends it', { [md5]: READ }, { id: md5 }],
  ['GraphQL Code Generator', { [sha1]: READ }, { documentId: sha1 }],
  ['gql.tada', { [`sha256:${sha256}`]: READ }, { documentId: `sha256:${sha256}` }],
  [
    'gql.tada with urql',
    { [`sha256:${sha256}`]: READ },
    { extensions: { persistedQuery: { version: 1, sha256Hash: `sha256:${sha256}` } } },
  ],
  ['a prefix in the file alone', { [`sha256:${sha256}`]: READ }, { documentId: sha256 }],
  [
    'Apollo Kotlin',
    { [sha256]: { name: 'ReadPlayer', source: READ } },
    { extensions: { persistedQuery: { version: 1, sha256Hash: sha256 } } },
  ],
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

  const refused = await post(both.gateway.url, { query: MINE }, app);
  expect(refused.errors).toMatchObject([{ extensions: { code: 'OPERATION_NOT_ALLOWED' } }]);
  // In development alone.
  expect(refused.errors[0]?.message).toContain(`Mine, SHA-256 ${digest('sha256', MINE)}, is not in it.`);
  expect(both.upstream.calls()).toHaveLength(2);
  await both.close();
});

test('the operations of several files are listed, and each is known by its name in the metrics', async () => {
  const folder = newFolder();
  const web = put(folder, 'web.json', { a: READ });
  const phone = put(folder, 'phone.json', { b: { name: 'Mine', source: MINE }, a: READ });
  const both = await start(`${web}, ${phone}`);
  expect((await post(both.gateway.url, { id: 'a', variables }, app)).data).toEqual({ player: { id: 'p1' } });
  expect((await post(both.gateway.url, { id: 'b' }, app)).data).toEqual({ me: { id: 'p1' } });
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

test('a folder stands for its *.json files', async () => {
  const folder = newFolder();
  put(folder, 'web.json', { a: READ });
  put(folder, 'phone.json', { b: MINE });
  put(folder, 'notes.txt', 'no list');
  const both = await start(folder);
  const ask = async (id: string) => (await post(both.gateway.url, { id, variables }, app)).data;
  expect(await ask('a')).toEqual({ player: { id: 'p1' } });
  expect(await ask('b')).toEqual({ me: { id: 'p1' } });
  await both.close();
});

describe('a file that cannot be used is named, with what to do', () => {
  const rows: [name: string, files: () => string, sentence: RegExp][] = [
    [
      'a file that is not there',
      () => join(newFolder(), 'gone.json'),
      /gone\.json: the file cannot be read \(.*ENOENT/,
    ],
    [
      'a folder without lists',
      newFolder,
      /: the folder has no file named \*\.json; put the files that list operations there/,
    ],
    [
      'something else',
      () => put(newFolder(), 'o.json', [READ]),
      /o\.json: it must be an Apollo manifest, an object of ids and texts, or the operationOutput of Apollo Kotlin; generate it again/,
    ],
    [
      'an operation without a text',
      () => put(newFolder(), 'o.json', { a: { name: 'A' } }),
      /o\.json: "a": must be the text/,
    ],
    ['texts that lead to ids', () => put(newFolder(), 'o.json', { [READ]: 'a' }), /must map ids to texts/],
    [
      'an endless id',
      () => put(newFolder(), 'o.json', { ['a'.repeat(300)]: READ }),
      /an id must have 1 to 256 characters/,
    ],
    [
      'an id that is there twice',
      () => put(newFolder(), 'o.json', `{"a": ${JSON.stringify(READ)}, "a": ${JSON.stringify(MINE)}}`),
      /o\.json: "a" occurs twice; remove one/,
    ],
    [
      'an id with two texts, with the prefix and without',
      () => put(newFolder(), 'o.json', { a: READ, 'sha256:a': MINE }),
      /o\.json: "sha256:a": its id has another text at .*o\.json: "a"; generate both files again/,
    ],
    [
      'an operation of another schema',
      () => put(newFolder(), 'o.json', { a: '{ nobody }' }),
      /o\.json: "a": Cannot query field "nobody".*rebuild the client with the gateway's schema/,
    ],
  ];
  test.each(rows)('%s', async (_name, files, sentence) => {
    const started = fails(files());
    await expect(started).rejects.toThrow(/^The configuration cannot be used:\n {2}PERSISTED_OPERATIONS_FILE: /);
    await expect(started).rejects.toThrow(sentence);
  });
});
