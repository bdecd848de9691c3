import {
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  parse,
  type SelectionNode,
  TypeInfo,
  typeFromAST,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/** `Type.field`, `Type.field(argument)` and `Input.field` of all that the schema defines. */
export function coordinatesOf(schema: GraphQLSchema): string[] {
  return Object.values(schema.getTypeMap()).flatMap((type) => {
    if (type.name.startsWith('__')) return [];
    if (isInputObjectType(type)) return Object.keys(type.getFields()).map((field) => `${type.name}.${field}`);
    if (!isObjectType(type) && !isInterfaceType(type)) return [];
    return Object.values(type.getFields()).flatMap(({ name, args }) => [
      `${type.name}.${name}`,
      ...args.map((argument) => `${type.name}.${name}(${argument.name})`),
    ]);
  });
}

/** The coordinates that a document uses, in itself or in what it is run with. */
export function coordinatesIn(schema: GraphQLSchema, document: string, variables: Record<string, unknown>): string[] {
  const types = new TypeInfo(schema);
  const used: string[] = [];
  const visitor = visitWithTypeInfo(types, {
    Field: ({ name }) => void used.push(`${types.getParentType()}.${name.value}`),
    Argument: ({ name }) => void used.push(`${types.getParentType()}.${types.getFieldDef()?.name}(${name.value})`),
    ObjectField: ({ name }) => void used.push(`${getNamedType(types.getParentInputType())}.${name.value}`),
    VariableDefinition({ variable, type }) {
      used.push(...inputFieldsIn(getNamedType(typeFromAST(schema, type)), variables[variable.name.value]));
    },
  });
  visit(parse(document), visitor);
  return used;
}

function inputFieldsIn(type: unknown, value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => inputFieldsIn(type, item));
  if (!isInputObjectType(type) || typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    `${type.name}.${name}`,
    ...inputFieldsIn(getNamedType(type.getFields()[name]?.type), inner),
  ]);
}

/** The fields of a document's operation, not of its fragments, for which the answer has a value somewhere. */
export function fieldsWithValues(schema: GraphQLSchema, document: string, data: unknown): string[] {
  const types = new TypeInfo(schema);
  const path: string[] = [];
  const found: string[] = [];
  const visitor = visitWithTypeInfo(types, {
    FragmentDefinition: () => false,
    Field: {
      enter({ alias, name }) {
        path.push((alias ?? name).value);
        if (hasValueAt(data, path)) found.push(`${types.getParentType()}.${name.value}`);
      },
      leave: () => void path.pop(),
    },
  });
  visit(parse(document), visitor);
  return found;
}

function hasValueAt(value: unknown, path: string[]): boolean {
  const [key, ...rest] = path;
  if (key === undefined) return value != null;
  if (Array.isArray(value)) return value.some((item) => hasValueAt(item, path));
  return typeof value === 'object' && value !== null && hasValueAt(Reflect.get(value, key), rest);
}

/** The types of which a document selects something, but not the `id` that they have. */
export function selectionsWithoutId(schema: GraphQLSchema, document: string): string[] {
  const types = new TypeInfo(schema);
  const found: string[] = [];
  const visitor = visitWithTypeInfo(types, {
    SelectionSet({ selections }, _key, parent) {
      const type = types.getParentType();
      if (parent && 'kind' in parent && parent.kind === 'InlineFragment') return;
      if (!type || !('getFields' in type) || !type.getFields()['id']) return;
      // A fragment has the id that it is spread for.
      const isId = (part: SelectionNode) =>
        part.kind === 'FragmentSpread' || ('name' in part && part.name.value === 'id');
      if (!selections.some(isId)) found.push(type.name);
    },
  });
  visit(parse(document), visitor);
  return found;
}
