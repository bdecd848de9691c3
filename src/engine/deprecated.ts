/* What operations use that the schema deprecates, by its coordinates: fields, arguments, input fields, values of enums. */
import * as graphql from 'graphql';
import { isJson } from '../json.ts';

/** The part of graphql-js' message that names a part of the schema. */
const NAMED = /(\w+\.\w+)"?(?: argument "(\w+)")? is deprecated/;

export function deprecatedIn(schema: graphql.GraphQLSchema, document: graphql.DocumentNode): string[] {
  const errors = graphql.validate(schema, document, [graphql.NoDeprecatedCustomRule]);
  const found = errors.flatMap(({ message }) => {
    const [, part, argument] = NAMED.exec(message) ?? [];
    return argument ? `${part}(${argument}:)` : (part ?? []);
  });
  return [...new Set(found)];
}

/** The function for what the variables of an operation name; undefined for a schema that deprecates nothing of an input. */
export function findDeprecatedInputs(schema: graphql.GraphQLSchema) {
  const parts = Object.values(schema.getTypeMap()).flatMap((type) => {
    const all = graphql.isEnumType(type) ? type.getValues() : [];
    const fields = graphql.isInputObjectType(type) ? Object.values(type.getFields()) : [];
    return [...all, ...fields].flatMap(({ name, deprecationReason }) => (deprecationReason ? `${type}.${name}` : []));
  });
  const deprecated = new Set(parts);
  if (deprecated.size === 0) return undefined;
  return ({ variableDefinitions = [] }: graphql.OperationDefinitionNode, variables: object = {}): string[] => {
    const used: string[] = [];
    const look = (type: graphql.GraphQLType | undefined, given: unknown): void => {
      const named = graphql.getNamedType(type);
      const isInput = graphql.isInputObjectType(named);
      // Of a scalar, a list can be in lists of any depth.
      if (!isInput && !graphql.isEnumType(named)) return;
      for (const value of [given].flat(Number.POSITIVE_INFINITY)) {
        if (!isInput) used.push(`${named}.${value}`);
        else if (isJson(value)) {
          for (const name in value) {
            used.push(`${named}.${name}`);
            look(named.getFields()[name]?.type, value[name]);
          }
        }
      }
    };
    const values = new Map(Object.entries(variables));
    for (const { variable, type } of variableDefinitions)
      look(graphql.typeFromAST(schema, type), values.get(variable.name.value));
    return [...new Set(used)].filter((coordinate) => deprecated.has(coordinate));
  };
}
