import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getDirectiveValues,
  getNamedType,
  isAbstractType,
  isInterfaceType,
  isObjectType,
} from 'graphql';

/** What the directives `@cost`, `@rest` and `@listSize` say about each field of a schema. */
export function readFieldRules(schema: GraphQLSchema) {
  const types = Object.values(schema.getTypeMap()).filter((type) => isObjectType(type) || isInterfaceType(type));
  const fields = types.flatMap((type) => Object.values(type.getFields()));
  return new Map(fields.map((field) => [field, readRule(schema, field)]));
}

export type FieldRule = ReturnType<typeof readRule>;

function readRule(schema: GraphQLSchema, { astNode, args, type }: GraphQLField<unknown, unknown>) {
  const [cost, rest, size] = ['cost', 'rest', 'listSize'].map((name) => {
    const directive = schema.getDirective(name);
    return (directive && astNode && getDirectiveValues(directive, astNode)) || undefined;
  });
  const slicing = Object(size?.['slicingArguments'])[0];
  const argument = args.find(({ name }) => name === slicing);
  const list = size && { assumed: Number(size['assumedSize'] ?? 1), argument };
  const each = weightOf(schema, getNamedType(type));
  return { weight: Number(cost?.['weight'] ?? 1), each, operation: rest?.['operation'], list };
}

/** The weight of an object of a type; of an interface or a union, the largest. */
export function weightOf(schema: GraphQLSchema, type: GraphQLNamedType): number {
  if (isAbstractType(type)) return Math.max(...schema.getPossibleTypes(type).map((one) => weightOf(schema, one)));
  const directive = schema.getDirective('cost');
  if (!directive || !isObjectType(type) || !type.astNode) return 0;
  return Number(getDirectiveValues(directive, type.astNode)?.['weight'] ?? 0);
}
