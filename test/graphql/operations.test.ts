import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import * as graphql from 'graphql';
import { startDemo } from '../kit/demo.ts';
import { examples, SCHEMA_DIRECTORY, schema } from '../kit/schema.ts';

test.each(examples)(
  '$name is one valid operation with its name, a comment first, the ids that caches need, and nothing deprecated',
  ({ name, document }) => {
    const parsed = graphql.parse(document);
    const names = parsed.definitions.flatMap((part) => (part.kind === 'OperationDefinition' ? part.name?.value : []));
    expect(names).toEqual([name.replace(/^\d+/, '').replace(/-\w/g, ([, letter = '']) => letter.toUpperCase())]);
    expect(graphql.validate(schema, parsed, [...graphql.specifiedRules, graphql.NoDeprecatedCustomRule])).toEqual([]);
    expect(document).toMatch(/^# [A-Z]/);
    const types = new graphql.TypeInfo(schema);
    const Field = ({ name, selectionSet }: graphql.FieldNode) => {
      const type = graphql.getNamedType(types.getType());
      const selected = selectionSet?.selections.map((part) => (part.kind === 'Field' ? part.name.value : part.kind));
      // A fragment has the id that it is spread for.
      const isFine =
        !selected || !graphql.isObjectType(type) || !type.getFields()['id'] || /\bid\b|Fragment/.test(`${selected}`);
      expect([name.value, isFine]).toEqual([name.value, true]);
    };
    graphql.visit(parsed, graphql.visitWithTypeInfo(types, { Field }));
  },
);

test('the examples have, together, every field, argument and input field of the schema', () => {
  const used = new Set<string>();
  const types = new graphql.TypeInfo(schema);
  const visitor = graphql.visitWithTypeInfo(types, {
    Field: ({ name }) => void used.add(`${types.getParentType()}.${name.value}`),
    Argument: ({ name }) => void used.add(`${types.getParentType()}.${types.getFieldDef()?.name}(${name.value})`),
  });
  for (const { document } of examples) graphql.visit(graphql.parse(document), visitor);
  const inputs = examples.map(({ document, variables }) => document + variables).join();
  for (const type of Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'))) {
    if (graphql.isInputObjectType(type)) {
      for (const name of Object.keys(type.getFields())) expect(inputs).toMatch(new RegExp(`\\b${name}"?:`));
    } else if (graphql.isObjectType(type) || graphql.isInterfaceType(type)) {
      for (const { name, args } of Object.values(type.getFields())) {
        expect(used).toContain(`${type}.${name}`);
        for (const argument of args) expect(used).toContain(`${type}.${name}(${argument.name})`);
      }
    }
  }
});

test('the first example, which the Sandbox shows, needs no variables', () => {
  expect(examples[0]).toMatchObject({ name: '01-mobile-screen', variables: undefined });
});

const demo = await startDemo();

describe('an example run against the reference service and its demo player', () => {
  // In their order: what one of them writes, a later one deletes. With UPDATE_RESPONSES=1 the files are written.
  test.each(examples)(
    '$name has no errors, and the response that docs/schema.md shows',
    async ({ name, document, variables = '{}' }) => {
      const { status, errors, data } = await demo.query(document, JSON.parse(variables));
      expect({ status, errors }).toEqual({ status: 200, errors: [] });
      const [root] = Object.values<{ userErrors?: unknown[] } | null>(data);
      expect([root === null, root?.userErrors ?? []]).toEqual([false, []]);
      const file = new URL(`operations/responses/${name}.json`, SCHEMA_DIRECTORY);
      if (existsSync(file)) {
        const response = withPlaceholders({ data });
        if (process.env['UPDATE_RESPONSES']) writeFileSync(file, `${JSON.stringify(response, null, 2)}\n`);
        expect(response).toEqual(JSON.parse(readFileSync(file, 'utf8')));
      }
    },
  );

  test('every field of a player, and of what it leads to, has a value somewhere', async () => {
    const names = new Set<string>();
    const selectionOf = (type: graphql.GraphQLNamedType | undefined): string => {
      if (!graphql.isObjectType(type)) return '';
      const parts = Object.values(type.getFields()).map((field) => {
        names.add(`${type}.${field.name}`);
        const of = graphql.getNamedType(field.type);
        return field.name + (of.name === 'Player' ? ' { id }' : selectionOf(of));
      });
      return `{ __typename ${parts.join(' ')} }`;
    };
    const query = `{ player(playerUniqueId: "demo-player") ${selectionOf(schema.getType('Player'))} }`;
    const { text } = await demo.query(query);
    JSON.parse(text, (_name, object) => {
      const given = Object.entries(Object(object)).filter(([, value]) => value !== null);
      for (const [name] of given) names.delete(`${object.__typename}.${name}`);
      return object;
    });
    expect([...names]).toEqual([]);
  });
});

/** What each start of the demo makes anew, and what docs/schema.md shows in its place. */
const PLACEHOLDERS: [RegExp, (index: number) => string][] = [
  [/^[0-9A-Z]{12}$/, (index) => `CODE-${index}`],
  [/^[\w-]{22}$|^[\w-]{36,}$/, (index) => `ID-${index}`],
  [/^http.*\/r\/[\w-]+$/, (index) => `http://127.0.0.1:4100/r/LINK-${index}`],
  [/^\d{4}-\d\d-\d\dT/, () => '2027-01-31T23:59:59.999Z'],
];

/** A response with numbered placeholders; equal texts have the same one. */
function withPlaceholders(response: unknown): unknown {
  const found = PLACEHOLDERS.map((): string[] => []);
  return JSON.parse(JSON.stringify(response), (_name, value) => {
    const kind = PLACEHOLDERS.findIndex(([pattern]) => pattern.test(value));
    const [, placeholder] = PLACEHOLDERS[kind] ?? [];
    const texts = found[kind];
    if (!placeholder || !texts) return value;
    if (!texts.includes(value)) texts.push(value);
    return placeholder(texts.indexOf(value) + 1);
  });
}
