import { readFileSync } from 'node:fs';
import { Kind, parse, print, visit } from 'graphql';
import type { Example } from '../../src/http/pages.ts';

/**
 * Null only beside an error at their path; test/graphql/semantic-nullability.test.ts tries it. Not the parts of a player: they are
 * also null, without an error, where one endpoint of the service knows the player and another does not, as during a deletion.
 */
export const SEMANTIC_NON_NULL: readonly string[] = [
  'Query.players',
  'Mutation.upsertPlayer',
  'Mutation.deletePlayer',
  'Mutation.trackEvents',
];

const DEFINITION = `"""
Without an error at its path, the field is not null. \`levels\` are the list and its items: 0 is the field itself.
"""
directive @semanticNonNull(levels: [Int!] = [0]) on FIELD_DEFINITION
`;

/** The SDL with \`@semanticNonNull\`, for clients that read it, such as Relay and Apollo Kotlin. */
export function semanticSchema(sdl: string): string {
  const document = visit(parse(sdl), {
    ObjectTypeDefinition(type) {
      const fields = type.fields?.map((field) =>
        SEMANTIC_NON_NULL.includes(`${type.name.value}.${field.name.value}`)
          ? {
              ...field,
              directives: [
                ...(field.directives ?? []),
                { kind: Kind.DIRECTIVE, name: { kind: Kind.NAME, value: 'semanticNonNull' } } as const,
              ],
            }
          : field,
      );
      return { ...type, ...(fields && { fields }) };
    },
  });
  return `${DEFINITION}\n${print(document)}\n`;
}

/** The package in one file that an assistant can read: states, errors, rules of retries, operations, schema. */
export function llmsText(examples: readonly Example[], sdl: string): string {
  const [readme, clients, errors, retries] = [
    'packages/client/README.md',
    'docs/clients.md',
    'docs/errors.md',
    'docs/retries.md',
  ].map((path) => readFileSync(path, 'utf8').replace(/\]\((?!https?:)[^)]*\)/g, ']'));
  const states = /^## States$.*?(?=^## )/ms.exec(clients ?? '')?.[0];
  if (!states) throw new Error('docs/clients.md has no section "States".');
  const operations = examples.map(({ document }) => `\`\`\`graphql\n${withoutDemo(document)}\n\`\`\``);
  const parts = [
    readme,
    states,
    errors,
    retries,
    '# Operations\n',
    ...operations,
    `# Schema\n\n\`\`\`graphql\n${sdl.trim()}\n\`\`\`\n`,
  ];
  return parts
    .map((part) => part?.trim())
    .join('\n\n')
    .concat('\n');
}

/** An application names its own player: only sizes of pages have defaults. */
function withoutDemo(document: string): string {
  const operation = visit(parse(document), {
    VariableDefinition(node) {
      return node.defaultValue && node.defaultValue.kind !== Kind.INT
        ? { ...node, defaultValue: undefined }
        : undefined;
    },
  });
  return print(operation);
}
