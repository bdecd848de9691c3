/* docs/schema.md: every type and field of the schema, as the program has it. */

import { readFileSync } from 'node:fs';
import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  type GraphQLType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  Kind,
  parse,
} from 'graphql';
import * as yaml from 'yaml';
import * as z from 'zod';
import { type AccessRule, type AccessRules, directiveOf } from '../../src/access/rules.ts';
import { weightOf } from '../../src/engine/operation-size.ts';
import { createSchema } from '../../src/graphql/schema.ts';
import { type Example, readExamples } from '../../src/http/pages.ts';
import { printJson, table } from './markdown.ts';

const PATHS = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) });

interface Page {
  schema: GraphQLSchema;
  rules: AccessRules;
  /** Method and path of the REST operations, by `operationId`. */
  endpoints: ReadonlyMap<string, string>;
  examples: readonly Example[];
  directory: URL;
}

const INTRODUCTION = `# Schema

For client teams. After this page you know every type and field, its cost, its scope and its errors.

<!-- Written by \`npm run docs\` from schema/*.graphql, the rules that the gateway enforces and the responses of the demo: do not edit. -->

Each field has an anchor: \`#Player.coupons\` on this page. Types of one kind are in alphabetical order.

- **scope**: what the token must allow. Without it the field is null with \`FORBIDDEN\`; if its type ends with \`!\`, the object around it is null. For another player than its own, the token needs \`any-player\` too; \`me\` is always its own ([security.md](security.md#scopes)).
- **scope** of an input field: what the token must allow to send it, even as null. Without it, the field of the mutation is null with \`FORBIDDEN\`, and nothing is written.
- **REST**: the call that the field needs. Within one operation each player, language and page is read once. \`npm run explain -- FILE\` lists the calls of an operation.
- **cost**: what the field adds to the complexity of the operation; 1 where the page has no cost. The fields selected in it add their own cost. [limits.md](limits.md#how-it-is-counted) says what the complexity limits.
  - "30 + 10 × below" means 30, and 10 times the sum of the costs of the fields selected in it: \`coupons { code value }\` costs 30 + 10 × 2 = 50. In place of 10 there can be an argument: \`limit\` is its value, \`playerUniqueIds\` the number of its items.
  - 10 is the assumed length of this list. If the list is longer, the gateway adds the rest after it has read the list.
- **null** with an error at its path: the field could not be read. Without an error, the service has no value.
- **errors**: the codes at the path of the field ([errors.md](errors.md)). \`UPSTREAM_*\` stands for all codes that begin so. Fields without this entry have none of their own. A \`lang\` that is not valid rejects the whole request with HTTP 400, so its error has no path.
`;

export function schemaPage(directory: URL): string {
  const { schema, rules } = createSchema(directory);
  const page = { schema, rules, endpoints: readEndpoints(directory), examples: readExamples(directory), directory };
  const roots = [schema.getQueryType(), schema.getMutationType()].filter((type) => type != null);
  const others = Object.values(schema.getTypeMap())
    .filter(
      (type) => !type.name.startsWith('__') && !isSpecifiedScalarType(type) && !roots.some((root) => root === type),
    )
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  const operations = roots.flatMap((type) => [
    `## ${type.name}\n\n${described(type)}\n`,
    ...Object.values(type.getFields()).map((field) => rootField(page, type.name, field)),
  ]);
  const kinds: [string, (type: GraphQLNamedType) => boolean][] = [
    ['Interfaces', isInterfaceType],
    ['Objects', isObjectType],
    ['Inputs', isInputObjectType],
    ['Enums', isEnumType],
    ['Scalars', isScalarType],
  ];
  const sections = kinds.flatMap(([title, is]) => [
    `## ${title}\n`,
    ...others.filter(is).map((type) => typeSection(page, type)),
  ]);
  const link = (text: string, target = text) => `[${text}](#${target})`;
  const fieldsOf = (type: GraphQLObjectType) =>
    Object.keys(type.getFields()).map((name) => link(name, `${type.name}.${name}`));
  const index = table(
    ['kind', 'names'],
    [
      ...roots.map((type) => [type.name, fieldsOf(type).join(', ')]),
      ...kinds.map(([title, is]) => [
        title,
        others
          .filter(is)
          .map(({ name }) => link(name))
          .join(', '),
      ]),
    ],
  );
  return `${[INTRODUCTION, index, ...operations, ...sections].join('\n').trimEnd()}\n`;
}

function readEndpoints(directory: URL): Map<string, string> {
  const { paths } = PATHS.parse(yaml.parse(readFileSync(new URL('rest-service.openapi.yaml', directory), 'utf8')));
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, operation]): [string, string][] => {
        const id = z.object({ operationId: z.string() }).safeParse(operation).data?.operationId;
        return id === undefined ? [] : [[id, `${method.toUpperCase()} ${path}`]];
      }),
    ),
  );
}

/** A root field with its facts, its arguments, and the first example whose root field it is. */
function rootField(page: Page, typeName: string, field: GraphQLField<unknown, unknown>): string {
  const lines = [
    `${anchor(typeName, field)}\n### ${field.name}\n`,
    `\`${field.name}: ${field.type}\` ${described(field)}\n`,
    `${facts(page, typeName, field)}\n`,
  ];
  lines.push(
    table(
      ['argument', 'type', 'description'],
      field.args.map((one) => [code(one.name), typed(one), described(one)]),
    ),
  );
  const examples = page.examples.filter(({ document }) => rootOf(document) === field.name);
  const [first, ...others] = examples;
  if (!first) throw new Error(`schema/operations/ has no example of ${typeName}.${field.name}`);
  const response = readFileSync(new URL(`operations/responses/${first.name}.json`, page.directory), 'utf8');
  lines.push(`\`\`\`graphql\n${first.document}\n\`\`\`\n`);
  if (first.variables) lines.push(`With the variables:\n\n\`\`\`json\n${withKey(first.variables)}\n\`\`\`\n`);
  const [whole, shown] = [printJson(JSON.parse(response)), printJson(JSON.parse(response, shortened))];
  const note =
    shown === whole ? '' : `, with the first ${SHOWN_ITEMS} items of each list that has more than ${MAX_ITEMS}`;
  lines.push(`The response${note}:\n\n\`\`\`json\n${shown}\n\`\`\`\n`);
  const links = others.map(({ name }) => `[${name}](../schema/operations/${name}.graphql)`);
  if (links.length > 0) lines.push(`More: ${links.join(', ')}.\n`);
  return lines.join('\n');
}

/** Longer lists in an example response are shortened: more items show nothing new. */
const MAX_ITEMS = 3;
const SHOWN_ITEMS = 2;
const shortened = (_name: string, value: unknown) =>
  Array.isArray(value) && value.length > MAX_ITEMS ? value.slice(0, SHOWN_ITEMS) : value;

function rootOf(document: string): string | undefined {
  const operation = parse(document).definitions.find((part) => part.kind === Kind.OPERATION_DEFINITION);
  const [field] = operation?.selectionSet.selections ?? [];
  return field?.kind === Kind.FIELD ? field.name.value : undefined;
}

function typeSection(page: Page, type: GraphQLNamedType): string {
  const interfaces = isObjectType(type) ? type.getInterfaces() : [];
  const implemented = interfaces.map(({ name }) => ` Implements [${code(name)}](#${name}).`).join('');
  const head = `${anchor(type.name)}\n### ${type.name}\n\n${described(type)}${implemented}\n`;
  if (isEnumType(type)) {
    return `${head}\n${table(
      ['value', 'description'],
      type.getValues().map((value) => [anchor(type.name, value) + code(value.name), described(value)]),
    )}`;
  }
  if (isInputObjectType(type)) {
    const rows = Object.values(type.getFields()).map((field) => {
      const scope = page.rules.get(type.name)?.get(field.name)?.scope;
      return [anchor(type.name, field) + code(field.name), typed(field), scope ? code(scope) : '', described(field)];
    });
    return `${head}\n${table(['field', 'type', 'scope', 'description'], rows)}`;
  }
  if (!isObjectType(type) && !isInterfaceType(type)) return head;
  const rows = Object.values(type.getFields()).map((field) => {
    const args = field.args.map((one) => `\`${one.name}: ${one.type}\`${defaultOf(one)}: ${described(one)}`);
    const lines = [described(field), ...args, facts(page, type.name, field)].filter(Boolean);
    return [anchor(type.name, field) + code(field.name), typed(field), lines.join('<br>')];
  });
  return `${head}\n${table(['field', 'type', 'description'], rows)}`;
}

/** What a field needs and how it can fail, in one line; empty where there is nothing to say. */
function facts({ schema, rules, endpoints }: Page, typeName: string, field: GraphQLField<unknown, unknown>): string {
  const rule = rules.get(typeName)?.get(field.name);
  const rest = directiveOf(schema, 'rest', field)?.['operation'];
  const isFriend = directiveOf(schema, 'friendId', field) !== undefined;
  const errors = [
    ...(rule || isFriend ? ['FORBIDDEN'] : []),
    // A mistake in the input of a mutation is a user error, and a `lang` is checked before the operation is executed.
    ...(field.args.some(({ name }) => name !== 'input' && name !== 'lang') ? ['BAD_USER_INPUT'] : []),
    ...(rest === 'listPlayerCoupons' || rest === 'trackEvents' ? ['RATE_LIMITED'] : []),
    ...(rest || hasAssumedLength(schema, field) ? ['OPERATION_TOO_COMPLEX'] : []),
    ...(rest ? ['UPSTREAM_*', 'OVERLOADED'] : []),
  ];
  const personal = isFriend ? `${code('contacts:read')} where ${code('PLAYER_IDS=personal')}` : '';
  const named: [string, string][] = [
    ['scope', [rule ? scopeOf(rule) : '', personal].filter(Boolean).join(', and ')],
    ['REST', typeof rest === 'string' ? code(endpoints.get(rest) ?? rest) : ''],
    ['cost', costOf(schema, field)],
    ['errors', errors.map(code).join(' ')],
  ];
  return named.flatMap(([name, text]) => (text ? `${name} ${text}` : [])).join(' · ');
}

/** Whether no argument bounds the list: see `wrapLists`. */
function hasAssumedLength(schema: GraphQLSchema, field: GraphQLField<unknown, unknown>): boolean {
  const size = directiveOf(schema, 'listSize', field);
  return size?.['assumedSize'] !== undefined && size['slicingArguments'] === undefined;
}

function scopeOf({ scope, exceptOwn, names }: AccessRule): string {
  if (exceptOwn) return `${code(scope)}, except for the token's own player`;
  return names ? `${code(scope)} or ${code(`${scope}:<name>`)}` : code(scope);
}

function costOf(schema: GraphQLSchema, field: GraphQLField<unknown, unknown>): string {
  const weight = directiveOf(schema, 'cost', field)?.['weight'];
  const size = directiveOf(schema, 'listSize', field);
  const slicing: unknown = Array.isArray(size?.['slicingArguments']) ? size['slicingArguments'][0] : undefined;
  const items = slicing === undefined ? size?.['assumedSize'] : `\`${slicing}\``;
  const type = getNamedType(field.type);
  const [own, each] = [Number(weight ?? 1), weightOf(schema, type)];
  if (size === undefined) return own + each > 1 ? String(own + each) : '';
  // Each value of a list without fields counts one.
  if (isLeafType(type)) return String(own + Number(items));
  return `${own} + ${items} × ${each ? `(${each} + below)` : 'below'}`;
}

interface Described {
  description?: string | null | undefined;
  deprecationReason?: string | null | undefined;
  astNode?: { description?: { value: string } | undefined } | null | undefined;
}

/** The description without the note about scopes, which has a column. */
function described({ description, astNode, deprecationReason }: Described): string {
  const deprecated = deprecationReason == null ? '' : `**Deprecated:** ${deprecationReason} `;
  return `${deprecated}${astNode?.description?.value ?? description ?? ''}`.replaceAll('\n', ' ');
}

/** `#Player.coupons` leads to a field, `#Player` to a type: the heading of a type can have the anchor of a root field. */
function anchor(typeName: string, field?: { name: string }): string {
  return `<a id="${typeName}${field ? `.${field.name}` : ''}"></a>`;
}

function typed(one: { type: GraphQLType; defaultValue?: unknown }): string {
  const named = getNamedType(one.type);
  const text = code(String(one.type));
  return `${isSpecifiedScalarType(named) ? text : `[${text}](#${named.name})`}${defaultOf(one)}`;
}

function defaultOf({ defaultValue }: { defaultValue?: unknown }): string {
  return defaultValue === undefined ? '' : `, default ${JSON.stringify(defaultValue)}`;
}

function code(text: string): string {
  return `\`${text}\``;
}

/** The file has no key: a tool that sends it twice would count the events once. A reader sees what a client sends. */
const withKey = (variables: string) =>
  variables.replace('"idempotencyKey": null', '"idempotencyKey": "5f0c2b7e-6a1d-4c7e-9b3a-2f1d8e4c7a90"');
