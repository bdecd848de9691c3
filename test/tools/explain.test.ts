import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { checkFiles } from '../../tools/explain/check.ts';
import { startExplaining } from '../../tools/explain/explain.ts';
import { readFileOperations } from '../../tools/explain/operations.ts';
import { startBoth } from '../kit/gateway.ts';
import { examples, SCHEMA_DIRECTORY } from '../kit/schema.ts';
import { secretSigner, token } from '../kit/tokens.ts';

let explaining: Awaited<ReturnType<typeof startExplaining>>;
beforeAll(async () => {
  explaining = await startExplaining(SCHEMA_DIRECTORY);
});
afterAll(() => explaining.close());

const folder = mkdtempSync(join(tmpdir(), 'explain-'));
function write(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

async function explain(query: string) {
  const [operation] = readFileOperations(write('one.graphql', query));
  if (!operation) throw new Error('no operation');
  return await explaining.explain(operation);
}

/** What a service without friends sees of an example is the least, what one with many friends sees is the most. */
describe.each([
  ['least', 0],
  ['most', 60],
] as const)('the %s of REST calls', (bound, friends) => {
  let both: Awaited<ReturnType<typeof startBoth>>;
  beforeAll(async () => {
    both = await startBoth({}, { friends });
    await both.gateway.query('mutation { upsertPlayer(input: { playerUniqueId: "demo-player" }) { serviceId } }');
  });
  afterAll(() => both.close());

  test.each(examples)('of $name is what the service sees, and the cost is what is charged', async (example) => {
    both.upstream.forget();
    const { extensions } = await both.gateway.query(example.document, JSON.parse(example.variables ?? '{}'));
    const [operation] = readFileOperations(`schema/operations/${example.name}.graphql`);
    const explanation = operation && (await explaining.explain(operation));
    expect(explanation?.errors).toEqual([]);
    expect(explanation?.[bound]).toBe(both.upstream.calls().length);
    expect(extensions['cost']).toMatchObject(explanation?.cost[bound] ?? {});
  });
});

describe('the scopes', () => {
  const signer = secretSigner();
  let both: Awaited<ReturnType<typeof startBoth>>;
  beforeAll(async () => {
    both = await startBoth(signer.env);
    const authorization = `Bearer ${token(signer, { sub: 'demo-player', scope: 'players:write' })}`;
    const upsert = 'mutation { upsertPlayer(input: { playerUniqueId: "demo-player" }) { serviceId } }';
    await both.gateway.query(upsert, {}, { authorization });
  });
  afterAll(() => both.close());

  test.each(examples)('of $name are enough, and each is needed', async ({ name, document: query, variables }) => {
    const [operation] = readFileOperations(`schema/operations/${name}.graphql`);
    if (!operation) throw new Error('no operation');
    const { scopes } = await explaining.explain(operation);
    const own = variables ? 'example-player' : 'demo-player';
    const forbidden = async (sub: string, allowed: readonly string[]) => {
      const scope = allowed.join(' ');
      const headers = { authorization: `Bearer ${token(signer, { sub, scope })}` };
      const { errors } = await both.gateway.query(query, JSON.parse(variables ?? '{}'), headers);
      return errors.some(({ extensions }) => extensions['code'] === 'FORBIDDEN');
    };
    // The example asks for several players, so none of them is the token's own alone.
    const cases: [string, readonly string[]][] = name === '04-players' ? [] : [[own, scopes.own]];
    if (scopes.other) cases.push(['p1', scopes.other]);
    for (const [sub, needed] of cases) {
      const all = [...needed, ...scopes.inputs.keys()];
      expect([sub, await forbidden(sub, all)]).toEqual([sub, false]);
      const missed = await Promise.all(
        all.map((one) =>
          forbidden(
            sub,
            all.filter((scope) => scope !== one),
          ),
        ),
      );
      expect(all.filter((_, index) => !missed[index])).toEqual([]);
    }
  });
});

test.each([
  ['{ player(playerUniqueId: "p1") { id } }', 'a string literal, perhaps the default of a variable'],
  ['query Q($id: ID!) { node(id: $id) { id } }', 'node returns an interface or a union'],
  ['query Q($id: ID!) { player(playerUniqueId: $id) { a_b: id } }', 'the alias a_b contains "_"'],
  ['query Q($id: ID!) { player(playerUniqueId: $id) { id } }', undefined],
])('%s: why it is not compiled', async (query, reason) => {
  expect((await explain(query)).notCompiled).toBe(reason);
});

test('variables without a default are taken at their least and most, lists of players too', async () => {
  const ids =
    'query Q($ids: [ID!]!, $deep: Boolean!) { players(playerUniqueIds: $ids) { attributes { city } coupons @include(if: $deep) { code } } }';
  expect(await explain(ids)).toMatchObject({ least: 1, most: 100, cost: { most: { complexity: 4051 } } });
});

test('an operation that needs too many calls says so', async () => {
  const query =
    '{ player(playerUniqueId: "p1") { referredFriends(limit: 200) { nodes { player { attributes { city } } } } } }';
  const { most, errors } = await explain(query);
  expect([most, errors]).toEqual([1, expect.arrayContaining([expect.stringContaining('more than 200 calls')])]);
});

describe('--check', () => {
  const ok = 'query A { me { id } }';
  const bad = 'query B { me { gone } }';
  const sdl = 'type Query { me: Player } type Player { id: ID! }';
  const apollo = (body: string) => ({
    format: 'apollo-persisted-query-manifest',
    version: 1,
    operations: [{ id: 'a', name: 'A', type: 'query', body }],
  });
  test.each([
    ['document.graphql', (text: string) => text],
    ['apollo.json', apollo],
    ['relay.json', (text: string) => ({ abc: text })],
    ['kotlin.json', (text: string) => ({ abc: { name: 'A', source: text } })],
  ])('finds what is not valid in %s', (name, form) => {
    expect(checkFiles([write(name, form(ok))], sdl)).toEqual([]);
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
