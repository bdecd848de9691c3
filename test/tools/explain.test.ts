import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { startExplaining } from '../../tools/explain/explain.ts';
import { type FileOperation, readFileOperations } from '../../tools/explain/operations.ts';
import { atEnd, newFile, newFolder } from '../kit/at-end.ts';
import { startBoth } from '../kit/gateway.ts';
import { examples, SCHEMA_DIRECTORY } from '../kit/schema.ts';
import { bearer, secretSigner } from '../kit/tokens.ts';

const explaining = await startExplaining(SCHEMA_DIRECTORY);
atEnd(explaining.close);
const folder = newFolder();
const write = (name: string, content: unknown) => newFile(name, content, folder);

const explain = (path: string) => explaining.explain(readFileOperations(path)[0] as FileOperation);

const UPSERT = 'mutation { upsertPlayer(input: { playerUniqueId: "demo-player" }) { serviceId } }';

/** What a service without friends sees of an example is the least, what one with many friends sees is the most. */
test.each([
  ['least', 0],
  ['most', 60],
] as const)('the %s of REST calls of each example, and its cost, are those of a gateway', async (bound, friends) => {
  const both = await startBoth({}, { friends });
  await both.gateway.query(UPSERT);
  for (const { name, document, variables } of examples) {
    both.upstream.forget();
    const { extensions } = await both.gateway.query(document, JSON.parse(variables ?? '{}'));
    const { errors, cost, [bound]: calls } = await explain(`schema/operations/${name}.graphql`);
    expect([name, errors, calls]).toEqual([name, [], both.upstream.calls().length]);
    expect(extensions['cost']).toMatchObject(cost[bound]);
  }
});

test('the scopes of each example are enough, and each is needed', async () => {
  const signer = secretSigner();
  const both = await startBoth(signer.env);
  const isForbidden = async (query: string, variables = '{}', sub: string, scopes: readonly string[]) => {
    const headers = bearer(signer, { sub, scope: scopes.join(' ') });
    return (await both.gateway.query(query, JSON.parse(variables), headers)).codes.includes('FORBIDDEN');
  };
  await isForbidden(UPSERT, undefined, 'demo-player', ['players:write']);
  for (const { name, document, variables } of examples) {
    const { scopes } = await explain(`schema/operations/${name}.graphql`);
    const own = variables ? 'example-player' : 'demo-player';
    // One example asks for several players, so none of them is the token's own alone.
    const cases: [string, readonly string[]][] = name === '04-players' ? [] : [[own, scopes.own]];
    if (scopes.other) cases.push(['p1', scopes.other]);
    for (const [sub, needed] of cases) {
      const all = [...needed, ...scopes.inputs.keys()];
      expect([name, sub, await isForbidden(document, variables, sub, all)]).toEqual([name, sub, false]);
      for (const one of all) {
        const others = all.filter((scope) => scope !== one);
        expect([name, sub, one, await isForbidden(document, variables, sub, others)]).toEqual([name, sub, one, true]);
      }
    }
  }
});

test('a literal is why it is not compiled; too many calls are an error', async () => {
  const friends = 'referredFriends(limit: 200) { nodes { player { attributes { city } } } }';
  const said = await explain(write('one.graphql', `{ player(playerUniqueId: "p1") { ${friends} } }`));
  const errors = expect.arrayContaining([expect.stringContaining('more than 200 calls')]);
  expect(said).toMatchObject({
    notCompiled: 'a string literal, also as the default of a variable: send it in the variables',
    most: 1,
    errors,
  });
});

test('variables without a default are taken at their least and most, lists of players too', async () => {
  const players = 'players(playerUniqueIds: $ids) { attributes { city } coupons @include(if: $deep) { code } }';
  const said = await explain(write('one.graphql', `query Q($ids: [ID!]!, $deep: Boolean!) { ${players} }`));
  expect(said).toMatchObject({ least: 1, most: 100, cost: { most: { complexity: 4051 } } });
});

test('--check ends with 1, and says of each file what is not valid, or that it cannot be read', () => {
  const [good, bad] = ['query A { me { id } }', 'query B { me { gone } }'];
  const sdl = write('schema.graphql', 'type Query { me: Player } type Player { id: ID! }');
  const written = { 'good.graphql': good, 'good.json': { abc: good }, 'bad.graphql': bad, 'bad.json': { def: bad } };
  const files = [...Object.entries(written).map(([name, content]) => write(name, content)), join(folder, 'none.json')];
  const command = ['run', '--silent', 'explain', '--', '--check', sdl, ...files];
  const { status, stderr } = spawnSync('npm', command, { encoding: 'utf8' });
  expect(status).toBe(1);
  // What the command has built.
  const folderOnly = spawnSync(process.execPath, ['dist/explain.js', folder], { encoding: 'utf8' });
  expect(folderOnly).toMatchObject({
    status: 1,
    stderr: `${folder}: EISDIR: illegal operation on a directory, read\n`,
  });
  expect(stderr).toMatch(/bad\.graphql.*"gone".*bad\.json: "def": Cannot query field "gone".*ENOENT/s);
  expect(stderr).not.toContain('good.');
});
