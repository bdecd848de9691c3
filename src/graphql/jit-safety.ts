/*
 * graphql-jit compiles a document to a JavaScript function with the same result as graphql-js. On large results, the function
 * is two to four times faster. Only documents that graphql-jit compiles correctly and safely are compiled:
 *
 * - Only queries. Mutations are rare, and their responses must not depend on a compiler.
 * - Only operations of up to 1,000 fields, which compile within about 20 ms.
 * - No string literals. graphql-jit 0.8 prints literals into its source and then replaces markers in it
 *   (`__MAGIC_DATE__…`), so a literal that holds such a marker runs as code. Documents that are sent often have variables.
 * - No object literal with a member that is not a boolean: graphql-jit drops variables in custom scalars and does not apply
 *   defaults.
 * - No alias with `_`. graphql-jit stores the arguments of a resolver under a key: the names on its path, from the field up,
 *   joined by `_`. So `b` below `a_b` and `b_a` below `b` would have the same key, `b_a_b`. This excludes `__proto__`, which
 *   sets the prototype of an object literal. With directives, graphql-jit itself refuses aliases such as `toString`.
 * - No list of nullable objects: graphql-jit moves the null of a failed member to the end of the list. For example, `[null,
 *   {…}]` becomes `[{…}, null]`.
 * - With directives: no field and no fragment twice in one selection if a directive can remove the first one. In
 *   `{ a @skip(if: $x) b a }`, the second `a` would be at another position in the response, or be lost.
 * - No variable named like a member of `Object.prototype`: graphql-jit keeps variables in an ordinary object and finds a
 *   default there (`$constructor`).
 * - No interface and no union: what graphql-jit does with them was not compared with graphql-js.
 * - No introspection.
 */
import {
  BREAK,
  type DefinitionNode,
  type DocumentNode,
  type GraphQLOutputType,
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
  print,
  type SelectionSetNode,
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
): string | undefined {
  if (operation.operation !== OperationTypeNode.QUERY) return 'only queries are compiled';
  if (countFields(document, operation) > MAX_FIELDS) return `it has more than ${MAX_FIELDS} fields`;
  const types = new TypeInfo(schema);
  let reason: string | undefined;
  const refuse = (because: string) => {
    reason = because;
    return BREAK;
  };
  const visitor = visitWithTypeInfo(types, {
    [Kind.STRING]: () => refuse('a string literal, perhaps the default of a variable'),
    [Kind.OBJECT]: (node) =>
      node.fields.some(({ value }) => value.kind !== Kind.BOOLEAN)
        ? refuse('an object literal with a field that is not a Boolean')
        : undefined,
    [Kind.FIELD]({ name, alias }) {
      const type = types.getType();
      if (alias?.value.includes('_')) return refuse(`the alias ${alias.value} contains "_"`);
      if (name.value === '__schema' || name.value === '__type') return refuse('introspection');
      if (isAbstractType(getNamedType(type))) return refuse(`${name.value} returns an interface or a union`);
      return type && canHoldNulls(type) ? refuse(`${name.value} is a list of nullable objects`) : undefined;
    },
    [Kind.NAMED_TYPE]: ({ name }) =>
      isAbstractType(schema.getType(name.value)) ? refuse(`${name.value} is an interface or a union`) : undefined,
    [Kind.VARIABLE]: ({ name }) =>
      name.value in Object.prototype ? refuse(`the name of the variable ${name.value}`) : undefined,
  });
  visit(document, visitor);
  if (reason !== undefined || !hasDirectives(document) || firstsDecide(document, operation)) return reason;
  return 'a field occurs twice, and a directive can remove the first one';
}

/** The number of fields with fragments expanded. Each fragment is counted once, so the work is proportional to the document. */
export function countFields({ definitions }: DocumentNode, operation: OperationDefinitionNode): number {
  const fragments = new Map<string, number>();
  return count(operation);

  function count(part: DefinitionNode): number {
    let fields = 0;
    visit(part, {
      [Kind.FIELD]() {
        fields += 1;
      },
      [Kind.FRAGMENT_SPREAD]({ name: { value: name } }) {
        const fragment = definitions.find((one) => one.kind === Kind.FRAGMENT_DEFINITION && one.name.value === name);
        const inner = fragments.get(name) ?? (fragment ? count(fragment) : 0);
        fragments.set(name, inner);
        fields += inner;
      },
    });
    return fields;
  }
}

/** Of a document without string literals. */
export function hasDirectives(document: DocumentNode): boolean {
  return print(document).includes('@');
}

function canHoldNulls(type: GraphQLOutputType): boolean {
  const list = getNullableType(type);
  return isListType(list) && !isNonNullType(list.ofType) && !isLeafType(list.ofType);
}

/** Whether the first of several equal fields or fragments in a selection is always present when a later one is. */
function firstsDecide(document: DocumentNode, operation: OperationDefinitionNode): boolean {
  /** Whether the first field or fragment of a name always stays, by its path of response names. */
  const stays = new Map<string, boolean>();
  return decide(operation.selectionSet, '', true);

  /** @param always Whether no directive can remove the whole selection from its parent field. */
  function decide({ selections }: SelectionSetNode, path: string, always: boolean): boolean {
    return selections.every((selection) => {
      const isSure = always && !selection.directives?.length;
      if (selection.kind === Kind.INLINE_FRAGMENT) return decide(selection.selectionSet, path, isSure);
      const isField = selection.kind === Kind.FIELD;
      const own = `${path}${isField ? '.' : '...'}${((isField && selection.alias) || selection.name).value}`;
      const known = stays.get(own);
      if (known === undefined) stays.set(own, isSure);
      if (isField) {
        const set = selection.selectionSet;
        if (known !== undefined && !(known && (isSure || !set))) return false;
        return !set || decide(set, own, true);
      }
      const fragment = document.definitions.find(
        (part) => part.kind === Kind.FRAGMENT_DEFINITION && part.name.value === selection.name.value,
      );
      if (known !== undefined) return known;
      return fragment?.kind !== Kind.FRAGMENT_DEFINITION || decide(fragment.selectionSet, path, isSure);
    });
  }
}
