/* ESLint with graphql-eslint for `.graphql` files alone. Biome checks all other files. */
import graphql from '@graphql-eslint/eslint-plugin';

const { configs } = graphql;

/** The schema, and the operations that fragments and names are compared between. */
const graphQLConfig = { schema: 'schema/*.graphql', documents: 'schema/operations/*.graphql' };
const common = {
  languageOptions: { parser: graphql.parser, parserOptions: { graphQLConfig } },
  plugins: { '@graphql-eslint': graphql },
};

export default [
  {
    ...common,
    files: ['schema/*.graphql'],
    rules: prefixed({
      ...rulesOf('flat/schema-all'),
      ...rulesOf('flat/schema-relay'),
      'require-description': [
        'error',
        {
          types: true,
          DirectiveDefinition: true,
          FieldDefinition: true,
          InputValueDefinition: true,
          EnumValueDefinition: true,
        },
      ],
      // Fields stand in the order in which a reader needs them.
      alphabetize: 'off',
      // One line where a line is enough, a block where it is not.
      'description-style': 'off',
      // The word of the REST interface stays the word of the schema: `couponType`, `productId`.
      'no-typename-prefix': 'off',
      // The list can be read forwards only, so there is no `last` and no `before`.
      'relay-arguments': ['error', { includeBoth: false }],
      // Lists that are no connections hold plain objects: coupons, errors, tags.
      'relay-edge-types': [
        'error',
        { withEdgeSuffix: true, shouldImplementNode: false, listTypeCanWrapOnlyEdgeType: false },
      ],
      // Only players can be fetched again by an id; the ids of coupons and friends are null where there is no code.
      'strict-id-in-types': 'off',
      // Clients of payloads refetch by the player in them.
      'require-field-of-type-query-in-mutation-result': 'off',
      // This is an interface with writes.
      'no-root-type': 'off',
    }),
  },
  {
    ...common,
    files: ['schema/operations/*.graphql'],
    rules: prefixed({
      ...rulesOf('flat/operations-all'),
      // Fields stand in the order in which a reader needs them.
      alphabetize: 'off',
      // A number in front of the name gives the examples their order in GraphiQL.
      'match-document-filename': 'off',
      // An example shows its fragment beside its operation, in one text that can be copied.
      'lone-executable-definition': 'off',
      'require-import-fragment': 'off',
    }),
  },
];

function rulesOf(config) {
  return Object.fromEntries(
    Object.entries(configs[config].rules).map(([name, options]) => [name.replace('@graphql-eslint/', ''), options]),
  );
}

function prefixed(rules) {
  return Object.fromEntries(Object.entries(rules).map(([name, options]) => [`@graphql-eslint/${name}`, options]));
}
