import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { buildClientSchema, buildSchema, getIntrospectionQuery, isObjectType, printSchema } from 'graphql';
import { readReleased } from '../../tools/docs/schema-changes.ts';
import { unannouncedChanges } from '../kit/breaking-changes.ts';
import { startBoth } from '../kit/gateway.ts';
import { rules, SCHEMA_DIRECTORY } from '../kit/schema.ts';
import { secretSigner } from '../kit/tokens.ts';

const read = (path: string) => readFileSync(new URL(`../${path}`, SCHEMA_DIRECTORY), 'utf8');
const sdl = read('src/generated/schema.graphql');

let development: Awaited<ReturnType<typeof startBoth>>;
let production: Awaited<ReturnType<typeof startBoth>>;
beforeAll(async () => {
  development = await startBoth();
  production = await startBoth({ NODE_ENV: 'production', ...secretSigner().env });
});
afterAll(async () => {
  await development.close();
  await production.close();
});

describe('the SDL', () => {
  test('is served in development alone', async () => {
    const response = await fetch(`${development.gateway.url}/schema.graphql`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(await response.text()).toBe(sdl);
    expect((await fetch(`${production.gateway.url}/schema.graphql`)).status).toBe(404);
  });

  test('is a complete schema for any tool, without directives of ours', () => {
    expect(`${printSchema(buildSchema(sdl))}\n`).toBe(sdl);
    expect(sdl).not.toMatch(/^\s*directive|@(?!specifiedBy)\w+[( ]|^extend/m);
  });

  test('says of each field with a rule which scope it needs', () => {
    const schema = buildSchema(sdl);
    for (const [typeName, ofType] of rules) {
      const type = schema.getType(typeName);
      if (!isObjectType(type)) continue;
      for (const field of Object.values(type.getFields())) {
        const rule = ofType.get(field.name);
        const scope = /Needs `([a-z:]+)`/.exec(field.description ?? '')?.[1];
        expect([`${typeName}.${field.name}`, scope]).toEqual([`${typeName}.${field.name}`, rule?.scope]);
      }
    }
    expect(schema.getQueryType()?.getFields()['me']?.description).toMatch(/\. Needs `players:read`\.$/);
  });

  test('is what introspection says, so that scalars have their description and specification', async () => {
    const { data } = await development.gateway.query(getIntrospectionQuery({ specifiedByUrl: true }));
    const introspected = buildClientSchema(data);
    const ours = buildSchema(sdl);
    for (const name of ['Date', 'DateTime', 'URL', 'LanguageCode', 'CustomAttributes', 'EventMetadata']) {
      expect(introspected.getType(name)?.toConfig()).toMatchObject({
        description: ours.getType(name)?.description,
        specifiedByURL: Object(ours.getType(name)).specifiedByURL ?? null,
      });
      expect(ours.getType(name)?.description).toMatch(/\w{3}/);
    }
    expect(Object(introspected.getType('URL')).specifiedByURL).toMatch(/^https:/);
  });
});

describe('a breaking change', () => {
  const { version } = JSON.parse(read('package.json'));
  const [last] = readReleased()
    .filter((release) => release.version !== version)
    .slice(-1);
  const released = buildSchema(last?.sdl ?? '');
  const changelog = read('CHANGELOG.md');

  test('since the last release stands in CHANGELOG.md with its coordinate', async () => {
    expect(await unannouncedChanges(released, buildSchema(sdl), changelog)).toEqual([]);
  });

  test.each([
    [
      'a field that is gone',
      / {2}"""The kind of problem, for programs."""\n {2}code: UserErrorCode!\n/,
      '',
      'UserError.code',
    ],
    [
      'a field that can be null now',
      'playerUniqueId: ID!\n\n  """\n  What is known',
      'playerUniqueId: ID\n\n  """\n  What is known',
      'Player.playerUniqueId',
    ],
    ['an argument that is gone', /(?<=\n {2}coupons)\([^)]*\)/, '', 'Player.coupons(filter:)'],
    [
      'an enum value that is gone',
      /^ {2}"""A percentage off."""\n {2}PERCENTAGE_DISCOUNT\n/m,
      '',
      'CouponType.PERCENTAGE_DISCOUNT',
    ],
  ])('is found: %s', async (_name, before, after, coordinate) => {
    const broken = sdl.replace(before, after);
    expect(broken).not.toBe(sdl);
    const changes = await unannouncedChanges(released, buildSchema(broken), '');
    expect(changes.map((change) => change.split(': ', 1)[0])).toEqual([coordinate]);
    expect(await unannouncedChanges(released, buildSchema(broken), `- \`${coordinate}\` is gone.`)).toEqual([]);
  });
});
