import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { createLabels } from '../../src/telemetry/metrics.ts';
import { newFile, newFolder } from '../kit/at-end.ts';
import { startBoth } from '../kit/gateway.ts';
import { post } from '../kit/post.ts';
import { startProcess } from '../kit/process.ts';
import { bearer, secretSigner, UNLIMITED } from '../kit/tokens.ts';
import { startUpstream } from '../kit/upstream.ts';

/* What operators see of who uses what: labels of names that clients choose, manifests, and deprecated parts of the schema. */

const signer = secretSigner();
const SCOPE = 'players:read players:write coupons:read referrals:read';
const player = (sub: string) => bearer(signer, { sub, scope: SCOPE });
const server = (sub: string) => bearer(signer, { sub, scope: `${SCOPE} any-player` });
const client = (name: string, version: string) => ({
  ...{ 'apollographql-client-name': name, 'apollographql-client-version': version },
});
/** The values of a label in the series of a metric. */
const labelsIn = (page: string, metric: string, label: string) => {
  const lines = page.split('\n').filter((line) => line.startsWith(`${metric}{`));
  return new Set(lines.map((line) => new RegExp(`[{,]${label}="([^"]*)"`).exec(line)?.[1]));
};
const valueIn = (page: string, series: string) => Number(page.split(`\n${series} `)[1]?.split('\n')[0]);

describe('labels', () => {
  test('of clients: by name and version, a server by its own name, at most 50', async () => {
    const { gateway } = await startBoth({ ...signer.env, ...UNLIMITED });
    const ask = (headers: Record<string, string>) => gateway.query('{ __typename }', {}, headers);
    for (let version = 0; version < 60; version += 1) await ask({ ...server('tool'), ...client('tool', `${version}`) });
    for (const sub of ['ada', 'bob', 'eve']) await ask({ ...player(sub), ...client('app', '4.1') });
    await ask(player('ada'));
    await ask({});
    await ask(client('app', '4.1'));
    // A release whose operation does not fit the schema.
    for (const sub of ['ada', 'bob', 'eve']) {
      await gateway.query('{ noSuchField }', {}, { ...player(sub), ...client('app', '4.2') });
    }
    const page = await gateway.metrics();
    const clients = labelsIn(page, 'gateway_operations_by_client_total', 'client');
    expect(clients.size).toBe(50);
    expect([clients.has('app@4.1'), clients.has('other')]).toEqual([true, true]);
    expect(valueIn(page, 'gateway_operations_by_client_total{client="none",outcome="UNAUTHENTICATED"}')).toBe(2);
    const series = 'gateway_operations_by_client_total{client="app@4.2",outcome="GRAPHQL_VALIDATION_FAILED"}';
    expect(valueIn(page, series)).toBe(1);
    const other = await startBoth(signer.env);
    await other.gateway.query('{ __typename }', {}, server('shop'));
    const [name = ''] = labelsIn(await other.gateway.metrics(), 'gateway_operations_by_client_total', 'client');
    expect(name).toMatch(/^hmac:/);
  });

  test('go to what more callers use, are lost by what nobody uses any more, and do not change to and fro', () => {
    let now = 0;
    const lost: string[] = [];
    const labels = createLabels(
      2,
      64,
      (name) => lost.push(name),
      () => now,
    );
    const use = (name: string, ...keys: string[]) =>
      keys.map((key) => labels.labelOf(name, { name: key, key, scopes: new Set(), isServer: false })).at(-1);
    labels.list(['Listed']);
    expect([use('a', '1'), use('b', '1'), use('c', '1')]).toEqual(['a', 'b', 'other']);
    // As often as the others, or a little more.
    expect([use('c', '1'), use('a', '1'), use('c', '1'), use('b', '1')]).toEqual(['other', 'a', 'other', 'b']);
    expect(use('d', '1', '2', '3')).toBe('d');
    expect(lost).toHaveLength(1);
    now += 600_000;
    expect([use('d', '1'), use('e', '1')]).toEqual(['d', 'other']);
    now += 1_200_000;
    expect([use('e', '1'), use('f', '1')]).toEqual(['e', 'f']);
    expect(use('d', '1')).toBe('other');
    expect(use('Listed')).toBeUndefined();
    expect(use('Listed', '1')).toBe('Listed');
  });
});

test('operations are counted for the last manifest that lists them', async () => {
  const folder = newFolder();
  const [old, common, fresh] = ['Old', 'Common', 'Fresh'].map((name) => `query ${name} { me { id } }`);
  newFile('app-1.json', { o: old, c: common }, folder);
  newFile('app-2.json', { c: common, f: fresh }, folder);
  newFile('app-3.json', { f2: fresh }, folder);
  const { gateway } = await startBoth({ ...signer.env, PERSISTED_OPERATIONS_FILE: folder });
  const page = async () => await gateway.metrics();
  expect(valueIn(await page(), 'gateway_manifest_operations_total{manifest="app-2.json"}')).toBe(0);
  for (const query of [old, common, common, fresh, '{ me { id } }'])
    await gateway.query(query ?? '', {}, player('ada'));
  const counts = ['app-1.json', 'app-2.json', 'app-3.json'].map(async (manifest) =>
    valueIn(await page(), `gateway_manifest_operations_total{manifest="${manifest}"}`),
  );
  expect(await Promise.all(counts)).toEqual([1, 2, 1]);
});

test('uses of what the schema deprecates are counted by coordinate and client, in the text and in variables', async () => {
  // The program beside a schema of its own.
  const folder = newFolder();
  const root = fileURLToPath(new URL('../../', import.meta.url));
  for (const part of ['dist', 'schema', 'assets']) {
    cpSync(`${root}${part}`, `${folder}/${part}`, { recursive: true, filter: (file) => !file.endsWith('.map') });
  }
  symlinkSync(`${root}node_modules`, `${folder}/node_modules`);
  writeFileSync(`${folder}/package.json`, readFileSync(`${root}package.json`));
  const deprecate = (file: string, pattern: RegExp) => {
    const path = `${folder}/schema/${file}.graphql`;
    const sdl = readFileSync(path, 'utf8');
    expect(sdl).toMatch(pattern);
    writeFileSync(path, sdl.replace(pattern, '$& @deprecated(reason: "Use something else.")'));
  };
  deprecate('player', /^ {2}zip: String$/m);
  deprecate('player', /^ {4}page: Int = 1$/m);
  deprecate('player', /(?<=input DeviceInput[^}]*)^ {2}token: String$/m);
  deprecate('coupon', /^ {2}PERCENTAGE_DISCOUNT$/m);
  const upstream = await startUpstream();
  const env = { ...signer.env, REST_BASE_URL: upstream.url };
  const gateway = await startProcess(env, [], `${folder}/dist/main.js`);
  const ask = async (query: string, variables: object, version: string) => {
    const headers = { ...server('shop'), ...client('app', version) };
    expect((await post(gateway.url, { query, variables }, headers)).codes).toEqual([]);
  };
  const upsert = 'mutation ($input: UpsertPlayerInput!) { upsertPlayer(input: $input) { userErrors { code } } }';
  const input = { playerUniqueId: 'p1', device: { token: 't', osType: 'ios' } };
  await ask('{ player(playerUniqueId: "p1") { attributes { city } } }', {}, '2');
  await ask('{ player(playerUniqueId: "p1") { attributes { zip a: zip } } }', {}, '1');
  await ask('{ player(playerUniqueId: "p1") { attributes { zip } } }', {}, '2');
  await ask(upsert, { input: { playerUniqueId: 'p1', device: { osType: 'ios' } } }, '1');
  await ask(upsert, { input }, '1');
  await ask(
    upsert
      .replace('($input: UpsertPlayerInput!)', '')
      .replace('$input', '{ playerUniqueId: "p1", device: { token: "t", osType: "ios" } }'),
    {},
    '1',
  );
  const filtered =
    'query ($types: [CouponType!]) { player(playerUniqueId: "p1") { coupons(filter: { couponTypes: $types }) { code } } }';
  await ask(filtered, { types: ['FREE_SHIPPING'] }, '1');
  await ask(filtered, { types: ['FREE_SHIPPING', 'PERCENTAGE_DISCOUNT'] }, '1');
  await ask('{ player(playerUniqueId: "p1") { referredFriends(page: 2) { count } } }', {}, '2');
  const several = `query City { ...Town } query Zip { player(playerUniqueId: "p1") { attributes { zip } } }
    fragment Town on Query { player(playerUniqueId: "p1") { attributes { city } } }`;
  const headers = { ...server('shop'), ...client('app', '3') };
  for (const operationName of ['City', 'Zip', 'City'])
    expect((await post(gateway.url, { query: several, operationName }, headers)).codes).toEqual([]);
  const { text } = await gateway.page('/metrics');
  const counted = [...text.matchAll(/^gateway_deprecated_usage_total\{coordinate="(.*)",client="(.*)"\} (\d+)$/gm)];
  expect(counted.map(([, ...parts]) => parts.join(' ')).sort()).toEqual([
    'CouponType.PERCENTAGE_DISCOUNT app@1 1',
    'DeviceInput.token app@1 2',
    'Player.referredFriends(page:) app@2 1',
    'PlayerAttributes.zip app@1 1',
    'PlayerAttributes.zip app@2 1',
    'PlayerAttributes.zip app@3 1',
  ]);
});
