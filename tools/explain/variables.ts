/* Values for the variables of an operation that nobody runs: defaults where it has them, else the least or the most. */
import {
  type GraphQLInputType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  typeFromAST,
} from 'graphql';

/** Which of the possible values are taken. */
export interface Sample {
  /** The largest page and the longest list of players, or the smallest. */
  size: 'least' | 'most';
  /** The value of every Boolean variable without a default. */
  flag: boolean;
}

/** The largest `limit` and `first`; the most players of one field. */
const MAX_PAGE = 200;
const MAX_PLAYERS = 50;

const SCALARS: Record<string, unknown> = {
  String: 'text',
  Float: 1,
  Date: '2025-05-01',
  DateTime: '2025-05-01T10:00:00.000Z',
  CustomAttributes: {},
  EventMetadata: {},
};

export function sampleVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  sample: Sample,
): Record<string, unknown> {
  const given = variableDefinitions.flatMap(({ variable, type: node, defaultValue }, index): [string, unknown][] => {
    const type = typeFromAST(schema, node);
    if (defaultValue || !isInputType(type)) return [];
    const needed =
      node.kind === Kind.NON_NULL_TYPE ||
      (sample.size === 'most' && /^(?:Int|Boolean|LanguageCode)$/.test(String(type)));
    return needed ? [[variable.name.value, sampleOf(type, sample, `${variable.name.value}-${index}`, index)]] : [];
  });
  return Object.fromEntries(given);
}

/** @param id A player that no other variable names. @param index Makes languages differ from each other. */
function sampleOf(type: GraphQLInputType, sample: Sample, id: string, index: number): unknown {
  if (isNonNullType(type)) return sampleOf(type.ofType, sample, id, index);
  if (isListType(type)) {
    const players = String(type.ofType).startsWith('ID') && sample.size === 'most' ? MAX_PLAYERS : 1;
    return Array.from({ length: players }, (_, item) => sampleOf(type.ofType, sample, `${id}-${item}`, index));
  }
  if (isEnumType(type)) return type.getValues()[0]?.name;
  if (isInputObjectType(type)) {
    const required = Object.values(type.getFields()).filter((field) => isNonNullType(field.type));
    return Object.fromEntries(required.map((field) => [field.name, sampleOf(field.type, sample, id, index)]));
  }
  if (type.name === 'ID') return id;
  if (type.name === 'Int') return sample.size === 'most' ? MAX_PAGE : 1;
  if (type.name === 'Boolean') return sample.flag;
  if (type.name === 'LanguageCode') return `a${String.fromCharCode(97 + (index % 26))}`;
  return SCALARS[type.name] ?? null;
}
