import { readFileSync } from 'node:fs';
import { CriticalityLevel, diff } from '@graphql-inspector/core';
import { describe, expect, test } from '@jest/globals';
import * as graphql from 'graphql';
import { readReleased } from '../../tools/docs/schema-changes.ts';
import { startBoth } from '../kit/gateway.ts';
import { rules, SCHEMA_DIRECTORY } from '../kit/schema.ts';
import { secretSigner } from '../kit/tokens.ts';

const read = (path: string) => readFileSync(new URL(`../${path}`, SCHEMA_DIRECTORY), 'utf8');
const sdl = read('src/generated/schema.graphql');
const published = graphql.buildSchema(sdl);
const fieldsOf = (name: string) => {
  const type = published.getType(name);
  return graphql.isObjectType(type) ? Object.values(type.getFields()) : [];
};

describe('the schema', () => {
  /** The names of the definitions for which `isWrong` holds. */
  const definitions = (isWrong: (node: graphql.ASTNode, name: string) => boolean) => {
    const found: string[] = [];
    graphql.visit(graphql.parse(sdl), {
      enter(node) {
        if (!node.kind.endsWith('Definition') || !('name' in node) || !node.name) return;
        if (isWrong(node, node.name.value)) found.push(`${node.kind} ${node.name.value}`);
      },
    });
    return found;
  };

  test('describes every type, field, argument and enum value', () => {
    const hasWords = (node: graphql.ASTNode) => 'description' in node && /\w{2}/.test(node.description?.value ?? '');
    expect(definitions(() => true).length).toBeGreaterThan(100);
    expect(definitions((node) => !hasWords(node))).toEqual([]);
  });

  test('spells types in PascalCase, fields and arguments in camelCase, enum values in UPPER_CASE', () => {
    const spelling = ({ kind }: graphql.ASTNode) => {
      if (kind === 'EnumValueDefinition') return /^[A-Z][A-Z0-9_]*$/;
      return kind.endsWith('TypeDefinition') ? /^[A-Z][A-Za-z0-9]*$/ : /^[a-z][A-Za-z0-9]*$/;
    };
    expect(definitions((node, name) => !spelling(node).test(name))).toEqual([]);
  });

  test('says of what is deprecated what to use instead', () => {
    const reasons = [...sdl.matchAll(/@deprecated(?:\(reason: "(.*)"\))?/g)].map(([, reason = '']) => reason);
    expect(reasons.filter((reason) => !/`\w/.test(reason))).toEqual([]);
  });

  test('has mutations with one required argument `input` and a nullable payload of their name', () => {
    for (const { name, args, type } of fieldsOf('Mutation')) {
      const pascal = name.replace(/^./, (first) => first.toUpperCase());
      const shape = [...args.map((one) => `${one.name}: ${one.type}`), `${type}`];
      expect(shape).toEqual([`input: ${pascal}Input!`, `${pascal}Payload`]);
    }
  });

  test('has connections as the specification of Relay says', () => {
    const shapeOf = (name: string) => Object.fromEntries(fieldsOf(name).map((field) => [field.name, `${field.type}`]));
    expect(shapeOf('PageInfo')).toMatchObject({ hasNextPage: 'Boolean!', endCursor: 'String' });
    const edges = expect.stringContaining('Edge');
    expect(shapeOf('ReferredFriendConnection')).toMatchObject({ pageInfo: 'PageInfo!', edges });
    expect(shapeOf('ReferredFriendEdge')).toMatchObject({ cursor: 'String!', node: expect.any(String) });
  });
});

const development = await startBoth();
const production = await startBoth({ NODE_ENV: 'production', ...secretSigner().env });

describe('the SDL', () => {
  test('is served in development alone', async () => {
    const response = await fetch(`${development.gateway.url}/schema.graphql`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(await response.text()).toBe(sdl);
    expect((await fetch(`${production.gateway.url}/schema.graphql`)).status).toBe(404);
  });

  test('is a complete schema for any tool, without directives of ours', () => {
    expect(`${graphql.printSchema(published)}\n`).toBe(sdl);
    expect(sdl).not.toMatch(/^\s*directive|@(?!specifiedBy|deprecated)\w+[( ]|^extend/m);
  });

  test('says of each field with a rule which scope it needs', () => {
    for (const [typeName, ofType] of rules) {
      for (const { name, description } of fieldsOf(typeName)) {
        const scope = /Needs `([a-z:]+)`/.exec(description ?? '')?.[1];
        expect([typeName, name, scope]).toEqual([typeName, name, ofType.get(name)?.scope]);
      }
    }
  });

  test('is what introspection says', async () => {
    const { data } = await development.gateway.query(graphql.getIntrospectionQuery({ specifiedByUrl: true }));
    const introspected = new graphql.GraphQLSchema({ ...graphql.buildClientSchema(data).toConfig(), directives: [] });
    const sorted = (one: graphql.GraphQLSchema) => graphql.printSchema(graphql.lexicographicSortSchema(one));
    expect(sorted(introspected)).toBe(sorted(published));
  });
});

/** What breaks clients of the last release, without the changes whose coordinate a changelog names in backticks. */
async function unannouncedChanges(current: graphql.GraphQLSchema, changelog: string) {
  const { version } = JSON.parse(read('package.json'));
  const released = graphql.buildSchema(readReleased().findLast((release) => release.version !== version)?.sdl ?? '');
  return (await diff(released, current)).flatMap(({ criticality, path = '' }) => {
    const [type = '', field, argument] = path.split('.');
    const coordinate = argument !== undefined && released.getType(type) ? `${type}.${field}(${argument}:)` : path;
    const isFine = criticality.level !== CriticalityLevel.Breaking || changelog.includes(`\`${coordinate}\``);
    return isFine ? [] : coordinate;
  });
}

describe('a breaking change', () => {
  test('since the last release stands in CHANGELOG.md with its coordinate', async () => {
    expect(await unannouncedChanges(published, read('CHANGELOG.md'))).toEqual([]);
  });

  test.each([
    ['UserError.code', /(?<=type UserError \{\n)( {2}""".*"""\n {2}code: .*\n)/],
    ['Player.coupons(filter:)', /(?<=\n {2}coupons)\([^)]*\)/],
  ])('is found: %s', async (coordinate, removed) => {
    const broken = graphql.buildSchema(sdl.replace(removed, ''));
    expect(await unannouncedChanges(broken, '')).toEqual([coordinate]);
    expect(await unannouncedChanges(broken, `- \`${coordinate}\` is gone.`)).toEqual([]);
  });
});
