import { describe, expect, test } from '@jest/globals';
import {
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isNonNullType,
  isObjectType,
  isSpecifiedDirective,
  NoDeprecatedCustomRule,
  parse,
  specifiedRules,
  validate,
  validateSchema,
} from 'graphql';
import { examples, schema } from '../kit/schema.ts';

interface Element {
  coordinate: string;
  name: string;
  /** How the name is spelled. */
  spelling: RegExp;
  description?: string | null | undefined;
  deprecationReason?: string | null | undefined;
}

const TYPE = /^[A-Z][A-Za-z0-9]*$/;
const FIELD = /^[a-z][A-Za-z0-9]*$/;
const VALUE = /^[A-Z][A-Z0-9_]*$/;

const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'));
const directives = schema.getDirectives().filter((directive) => !isSpecifiedDirective(directive));
const element = (path: string, spelling: RegExp, of: Omit<Element, 'coordinate' | 'spelling'>): Element => ({
  coordinate: path + of.name,
  name: of.name,
  spelling,
  description: of.description,
  deprecationReason: of.deprecationReason,
});

/** Everything that has a name in the schema. */
const elements: Element[] = [
  ...directives.flatMap((directive) => [
    element('@', FIELD, directive),
    ...directive.args.map((argument) => element(`@${directive.name}.`, FIELD, argument)),
  ]),
  ...types.flatMap((type) => {
    const values = isEnumType(type) ? type.getValues().map((value) => element(`${type.name}.`, VALUE, value)) : [];
    return [element('', TYPE, type), ...values];
  }),
  ...types.flatMap((type) => {
    if (isInputObjectType(type)) {
      return Object.values(type.getFields()).map((field) => element(`${type.name}.`, FIELD, field));
    }
    if (!isObjectType(type) && !isInterfaceType(type)) return [];
    return Object.values(type.getFields()).flatMap((field) => [
      element(`${type.name}.`, FIELD, field),
      ...field.args.map((argument) => element(`${type.name}.${field.name}.`, FIELD, argument)),
    ]);
  }),
];

const coordinatesWhere = (wrong: (one: Element) => boolean) => elements.filter(wrong).map((one) => one.coordinate);

describe('the schema', () => {
  test('is valid', () => expect(validateSchema(schema)).toEqual([]));

  test('describes every type, field, argument, enum value and directive', () => {
    expect(coordinatesWhere(({ description }) => !/\w{2}/.test(description ?? ''))).toEqual([]);
  });

  test('spells types in PascalCase, fields and arguments in camelCase, enum values in UPPER_CASE', () => {
    expect(coordinatesWhere(({ name, spelling }) => name !== '_entities' && !spelling.test(name))).toEqual([]);
  });

  test('says of what is deprecated what to use instead', () => {
    expect(
      coordinatesWhere(({ deprecationReason: reason }) => typeof reason === 'string' && !/`\w/.test(reason)),
    ).toEqual([]);
  });

  test('has mutations with one required argument `input` and a payload of their name', () => {
    for (const { name, args, type } of Object.values(schema.getMutationType()?.getFields() ?? {})) {
      const pascal = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
      expect(args.map((argument) => [argument.name, `${argument.type}`])).toEqual([['input', `${pascal}Input!`]]);
      expect(isNonNullType(type)).toBe(false);
      expect(getNamedType(type).name).toBe(`${pascal}Payload`);
    }
  });

  test('has connections as the specification of Relay says', () => {
    const shapeOf = (name: string) => {
      const type = schema.getType(name);
      const fields = isObjectType(type) ? Object.values(type.getFields()) : [];
      return Object.fromEntries(fields.map((field) => [field.name, `${field.type}`]));
    };
    expect(shapeOf('PageInfo')).toMatchObject({
      hasNextPage: 'Boolean!',
      hasPreviousPage: 'Boolean!',
      endCursor: 'String',
    });
    const connections = types.map(({ name }) => name).filter((name) => name.endsWith('Connection'));
    expect(connections).not.toEqual([]);
    for (const connection of connections) {
      const edge = connection.replace(/Connection$/, 'Edge');
      expect(shapeOf(connection)).toMatchObject({ pageInfo: 'PageInfo!', edges: expect.stringContaining(edge) });
      expect(shapeOf(edge)).toMatchObject({ cursor: 'String!', node: expect.any(String) });
    }
  });
});

test.each(examples)('the example $name uses nothing that is deprecated', ({ document }) => {
  expect(validate(schema, parse(document), [...specifiedRules, NoDeprecatedCustomRule])).toEqual([]);
});
