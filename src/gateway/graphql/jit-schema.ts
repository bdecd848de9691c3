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
 * The schema for graphql-jit. Values are decoded already, so graphql-jit need not serialise them. With
 * `disableLeafSerialization` it skips that for built-in scalars and enums only. So our custom scalars are declared as String
 * here. Values do not change.
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
