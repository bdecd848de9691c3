import { MapperKind, mapSchema } from '@graphql-tools/utils';
import {
  GraphQLList,
  GraphQLNonNull,
  type GraphQLOutputType,
  type GraphQLSchema,
  GraphQLString,
  getNamedType,
  isListType,
  isNonNullType,
  isScalarType,
  isSpecifiedScalarType,
} from 'graphql';

/**
 * The schema as graphql-jit is to see it. The REST client has decoded every value to the type the schema says, so none needs
 * a second look. Of built-in scalars and enums graphql-jit believes that (`disableLeafSerialization`); any other scalar it
 * would look at again, and write down for each where it stands. So an answer's other scalars are strings to it, which
 * changes no value: it takes them as they come.
 */
export function withPlainScalars(schema: GraphQLSchema): GraphQLSchema {
  const plain = (type: GraphQLOutputType): GraphQLOutputType => {
    if (isNonNullType(type)) return new GraphQLNonNull(plain(type.ofType));
    return isListType(type) ? new GraphQLList(plain(type.ofType)) : GraphQLString;
  };
  return mapSchema(schema, {
    [MapperKind.OBJECT_FIELD](field) {
      const scalar = getNamedType(field.type);
      if (!isScalarType(scalar) || isSpecifiedScalarType(scalar)) return undefined;
      return { ...field, type: plain(field.type) };
    },
  });
}
