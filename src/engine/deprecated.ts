/* What operations use that is deprecated, by its schema coordinates: fields, arguments, members of inputs, values of enums. */
import {
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  type OperationDefinitionNode,
  TypeInfo,
  typeFromAST,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { isJson } from '../json.ts';

type Part = { readonly deprecationReason?: string | null | undefined } | null | undefined;
const isDeprecated = (part: Part) => part?.deprecationReason != null;

/** What a document names itself. */
export function deprecatedIn(schema: GraphQLSchema, document: DocumentNode): string[] {
  const found = new Set<string>();
  const add = (coordinate: string, part: Part) => void (isDeprecated(part) && found.add(coordinate));
  const at = new TypeInfo(schema);
  const field = () => `${at.getParentType()}.${at.getFieldDef()?.name}`;
  const visitor = visitWithTypeInfo(at, {
    Field: () => add(field(), at.getFieldDef()),
    Argument: ({ name }) => at.getDirective() || add(`${field()}(${name.value}:)`, at.getArgument()),
    ObjectField({ name }) {
      const input = getNamedType(at.getParentInputType());
      if (isInputObjectType(input)) add(`${input}.${name.value}`, input.getFields()[name.value]);
    },
    EnumValue: ({ value }) => add(`${getNamedType(at.getInputType())}.${value}`, at.getEnumValue()),
  });
  visit(document, visitor);
  return [...found];
}

/** Returns the function for what the variables of an operation name, which are valid. */
export function findDeprecatedInVariables(schema: GraphQLSchema) {
  const inputs = Object.values(schema.getTypeMap()).filter((type) => isEnumType(type) || isInputObjectType(type));
  const partsOf = (type: (typeof inputs)[number]): readonly Part[] =>
    isEnumType(type) ? type.getValues() : Object.values(type.getFields());
  const isNone = !inputs.some((type) => partsOf(type).some(isDeprecated));
  return ({ variableDefinitions = [] }: OperationDefinitionNode, variables: Readonly<Record<string, unknown>> = {}) => {
    if (isNone) return [];
    const found = new Set<string>();
    const add = (coordinate: string, part: Part) => void (isDeprecated(part) && found.add(coordinate));
    const look = (type: GraphQLInputType, value: unknown): void => {
      if (isNonNullType(type)) look(type.ofType, value);
      else if (isListType(type)) for (const item of [value].flat()) look(type.ofType, item);
      else if (isEnumType(type)) add(`${type}.${value}`, type.getValue(String(value)));
      else if (isInputObjectType(type) && isJson(value)) {
        for (const [name, field] of Object.entries(type.getFields())) {
          if (value[name] === undefined) continue;
          add(`${type}.${name}`, field);
          look(field.type, value[name]);
        }
      }
    };
    for (const { variable, type } of variableDefinitions) {
      const input = typeFromAST(schema, type);
      if (isInputType(input)) look(input, variables[variable.name.value]);
    }
    return [...found];
  };
}
