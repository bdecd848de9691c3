import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { checkFiles } from '../../tools/explain/check.ts';
import { startExplaining } from '../../tools/explain/explain.ts';
import { type FileOperation, readFileOperations } from '../../tools/explain/operations.ts';
import { startBoth } from '../kit/gateway.ts';
import { examples, SCHEMA_DIRECTORY } from '../kit/schema.ts';
import { secretSigner, token } from '../kit/tokens.ts';

const explaining = await startExplaining(SCHEMA_DIRECTORY);
const folder = mkdtempSync(join(tmpdir(), 'explain-'));
afterAll(async () => {
  await explaining.close();
  rmSync(folder, { recursive: true });
});

function write(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

/** What the command says about each of the operations in files, of which each has one. */
const explain = (path: string) => explaining.explain(readFileOperations(path)[0] as FileOperation);
const explainText = (query: string) => explain(write('one.graphql', query));
const fileOf = (name: string) => `schema/operations/${name}.graphql`;

const UPSERT = 'mutation { upsertPlayer(input: { playerUniqueId: "demo-player" }) { serviceId } }';

/** What a service without friends sees of an example is the least, what one with many friends sees is the most. */
describe.each([
  ['least', 0],
  ['most', 60],
] as const)('the %s of REST calls', (bound, friends) => {
  test('of each example is what the service sees, and the cost is what is charged', async () => {
    const both = await startBoth({}, { friends });
    await both.gateway.query(UPSERT);
    for (const { name, document, variables } of examples) {
      both.upstream.forget();
      const { extensions } = await both.gateway.query(document, JSON.parse(variables ?? '{}'));
      const { errors, cost, [bound]: calls } = await explain(fileOf(name));
      expect([name, errors, calls]).toEqual([name, [], both.upstream.calls().length]);
      expect(extensions['cost']).toMatchObject(cost[bound]);
    }
    await both.close();
  });
});

test('the scopes of each example are enough, and each is needed', async () => {
  const signer = secretSigner();
  const both = await startBoth(signer.env);
  const ask = (query: string, variables: object, sub: string, scopes: readonly string[]) => {
    const authorization = `Bearer ${token(signer, { sub, scope: scopes.join(' ') })}`;
    return both.gateway.query(query, { ...variables }, { authorization });
  };
  await ask(UPSERT, {}, 'demo-player', ['players:write']);
  for (const { name, document, variables } of examples) {
    const { scopes } = await explain(fileOf(name));
    const isForbidden = async (sub: string, allowed: readonly string[]) => {
      const { errors } = await ask(document, JSON.parse(variables ?? '{}'), sub, allowed);
      return errors.some(({ extensions }) => extensions['code'] === 'FORBIDDEN');
    };
    const own = variables ? 'example-player' : 'demo-player';
    // One example asks for several players, so none of them is the token's own alone.
    const cases: [string, readonly string[]][] = name === '04-players' ? [] : [[own, scopes.own]];
    if (scopes.other) cases.push(['p1', scopes.other]);
    for (const [sub, needed] of cases) {
      const all = [...needed, ...scopes.inputs.keys()];
      expect([name, sub, await isForbidden(sub, all)]).toEqual([name, sub, false]);
      for (const one of all) {
        const missed = await isForbidden(
          sub,
          all.filter((scope) => scope !== one),
        );
        expect([name, sub, one, missed]).toEqual([name, sub, one, true]);
      }
    }
  }
  await both.close();
});

test.each([
  ['{ player(playerUniqueId: "p1") { id } }', 'a string literal, perhaps the default of a variable'],
  ['query Q($id: ID!) { player(playerUniqueId: $id) { id } }', undefined],
])('%s: why it is not compiled', async (query, reason) => {
  expect((await explainText(query)).notCompiled).toBe(reason);
});

test('variables without a default are taken at their least and most, lists of players too', async () => {
  const query =
    'query Q($ids: [ID!]!, $deep: Boolean!) { players(playerUniqueIds: $ids) { attributes { city } coupons @include(if: $deep) { code } } }';
  expect(await explainText(query)).toMatchObject({ least: 1, most: 100, cost: { most: { complexity: 4051 } } });
});

test('an operation that needs too many calls says so', async () => {
  const friends = 'referredFriends(limit: 200) { nodes { player { attributes { city } } } }';
  const { most, errors } = await explainText(`{ player(playerUniqueId: "p1") { ${friends} } }`);
  expect([most, errors]).toEqual([1, expect.arrayContaining([expect.stringContaining('more than 200 calls')])]);
});

describe('--check', () => {
  const bad = 'query B { me { gone } }';
  const sdl = 'type Query { me: Player } type Player { id: ID! }';
  test.each([
    ['document.graphql', (text: string) => text],
    ['manifest.json', (text: string) => ({ abc: text })],
  ])('finds what is not valid in %s', (name, form) => {
    expect(checkFiles([write(name, form('query A { me { id } }'))], sdl)).toEqual([]);
    expect(checkFiles([write(name, form(bad))], sdl)).toEqual([expect.stringContaining('Cannot query field "gone"')]);
  });

  test('ends with 1 for a file with such an operation, and for one that cannot be read', () => {
    const files = [write('bad.json', { abc: bad }), join(folder, 'none.json')];
    const command = ['run', '--silent', 'explain', '--', '--check', write('schema.graphql', sdl), ...files];
    const { status, stderr } = spawnSync('npm', command, { encoding: 'utf8' });
    expect(status).toBe(1);
    expect(stderr).toMatch(/bad\.json: "abc": B: Cannot query field "gone".*ENOENT/s);
  });
});
