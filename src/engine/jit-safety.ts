/*
 * graphql-jit compiles a document to a JavaScript function with the same result as graphql-js. On large results the function
 * is two to four times faster. Only documents that graphql-jit 0.8 compiles correctly and safely are compiled:
 *
 * - Only queries, of up to 1,000 fields, which compile within about 20 ms. A mutation must not depend on a compiler.
 * - No string literals: it prints literals into its source and replaces markers in it (`__MAGIC_DATE__…`), so a literal with
 *   such a marker runs as code. Documents that are sent often have variables.
 * - No object literal with a field that is not a Boolean: variables in custom scalars are dropped, defaults are not applied.
 * - No `@skip` and `@include`: a field of a fragment gets the conditions of all its spreads, and the second of two equal fields
 *   is lost with the first.
 * - No alias with `_`: the arguments of a resolver are kept under the names on its path, joined by `_`. So `b` below `a_b` and
 *   `b_a` below `b` would be the same. This excludes `__proto__` too.
 * - No list of nullable objects: the null of a failed item moves to the end, `[null, {…}]` becomes `[{…}, null]`.
 * - No nullable variable where null is not allowed: the error has another message.
 * - No variable named like a property of `Object.prototype`, in which it finds a default (`$constructor`).
 * - No interface, union or introspection: they were not compared with graphql-js.
 */
import {
  BREAK,
  type DocumentNode,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/** The largest operation that is compiled, in fields with fragments expanded. */
const MAX_FIELDS = 1_000;

/** Why graphql-jit may not compile a valid operation, for developers; undefined when it may. */
export function reasonNotToCompile(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  fields: number,
): string | undefined {
  if (operation.operation !== OperationTypeNode.QUERY) return 'only queries are compiled';
  if (fields > MAX_FIELDS) return `it has more than ${MAX_FIELDS} fields`;
  const types = new TypeInfo(schema);
  const nullable = new Set<string>();
  let reason: string | undefined;
  const refuse = (because: string) => {
    reason = because;
    return BREAK;
  };
  const visitor = visitWithTypeInfo(types, {
    [Kind.STRING]: () => refuse('a string literal, also as the default of a variable: send it in the variables'),
    [Kind.DIRECTIVE]: ({ name }) => refuse(`the directive @${name.value}`),
    [Kind.OBJECT]: (node) =>
      node.fields.some(({ value }) => value.kind !== Kind.BOOLEAN)
        ? refuse('an object literal with a field that is not a Boolean')
        : undefined,
    [Kind.FIELD]({ name, alias }) {
      const type = types.getType();
      const list = getNullableType(type);
      if (alias?.value.includes('_')) return refuse(`the alias ${alias.value} contains "_"`);
      if (name.value === '__schema' || name.value === '__type') return refuse('introspection');
      if (isAbstractType(getNamedType(type))) return refuse(`${name.value} returns an interface or a union`);
      const canHoldNulls = isListType(list) && !isNonNullType(list.ofType) && !isLeafType(list.ofType);
      return canHoldNulls ? refuse(`${name.value} is a list of nullable objects`) : undefined;
    },
    [Kind.NAMED_TYPE]: ({ name }) =>
      isAbstractType(schema.getType(name.value)) ? refuse(`${name.value} is an interface or a union`) : undefined,
    [Kind.VARIABLE_DEFINITION]({ variable: { name }, type }) {
      if (name.value in Object.prototype) return refuse(`the name of the variable ${name.value}`);
      if (type.kind !== Kind.NON_NULL_TYPE) nullable.add(name.value);
      return undefined;
    },
    [Kind.VARIABLE]: ({ name }) =>
      nullable.has(name.value) && isNonNullType(types.getInputType())
        ? refuse(`the nullable variable ${name.value} where null is not allowed`)
        : undefined,
  });
  visit(document, visitor);
  return reason;
}
