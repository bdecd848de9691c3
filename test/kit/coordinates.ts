import {
  GraphQLInputObjectType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  parse,
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
      const value = variables[variable.name.value];
      used.push(...inputFieldsIn(getNamedType(typeFromAST(schema, type)), value));
    },
  });
  visit(parse(document), visitor);
  return used;
}

function inputFieldsIn(type: unknown, value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((member) => inputFieldsIn(type, member));
  if (!(type instanceof GraphQLInputObjectType) || typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [
    `${type.name}.${name}`,
    ...inputFieldsIn(getNamedType(type.getFields()[name]?.type), member),
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
        if (valuesAt(data, path).length > 0) found.push(`${types.getParentType()}.${name.value}`);
      },
      leave: () => void path.pop(),
    },
  });
  visit(parse(document), visitor);
  return found;
}

/** Where a document selects something that has an `id`, and not its `id`. */
export function selectionsWithoutId(schema: GraphQLSchema, document: string): string[] {
  const types = new TypeInfo(schema);
  const found: string[] = [];
  const visitor = visitWithTypeInfo(types, {
    Field({ name, selectionSet }) {
      const type = getNamedType(types.getType());
      if (!selectionSet || !(isObjectType(type) || isInterfaceType(type)) || !type.getFields()['id']) return;
      const names = selectionSet.selections.flatMap((part) => (part.kind === 'Field' ? [part.name.value] : []));
      const spreads = selectionSet.selections.some((part) => part.kind === 'FragmentSpread');
      if (!names.includes('id') && !spreads) found.push(`${types.getParentType()}.${name.value}`);
    },
    FragmentDefinition({ name, selectionSet }) {
      const type = types.getType();
      const hasId = isObjectType(type) && type.getFields()['id'];
      const names = selectionSet.selections.flatMap((part) => (part.kind === 'Field' ? [part.name.value] : []));
      if (hasId && !names.includes('id')) found.push(name.value);
    },
  });
  visit(parse(document), visitor);
  return found;
}

function valuesAt(value: unknown, [key, ...rest]: string[]): unknown[] {
  if (value === null || value === undefined) return [];
  if (key === undefined) return [value];
  const members: unknown[] = Array.isArray(value) ? value : [value];
  return members.flatMap((member) =>
    typeof member === 'object' && member !== null ? valuesAt(Reflect.get(member, key), rest) : [],
  );
}
