/*
 * graphql-jit turns a document into a JavaScript function that does what graphql-js would do for it, two to four times
 * faster on large results. What it is given must therefore be what it compiles rightly and safely:
 *
 * - Only queries. Mutations are rare, and their answers must not depend on a compiler.
 * - No text of a client becomes source code. graphql-jit 0.8 prints literals into its source and then replaces markers in
 *   the print (`__MAGIC_DATE__…`), so that a string literal that holds such a marker runs as code. A document with any
 *   string literal is left to graphql-js. This costs nothing in practice: a document with its values written into it is
 *   rarely sent twice, and those that are sent often have variables.
 * - No variables inside object literals: graphql-jit loses them in custom scalars and does not apply defaults.
 * - No alias with `_`. graphql-jit keeps what a resolver is told under the names on its path, joined by `_`, so that `b`
 *   below `a_b` would be told what is meant for `b_a` below `b`, and read the wrong rows. `__proto__`, which an object
 *   literal takes for its prototype, is one of these names too. (Where there are directives it does not compile what is
 *   called `toString` or another name that every object has, and says so.)
 * - No list whose members can fail by themselves: graphql-jit puts the null of a failed one at the end of the list.
 * - No field twice in one selection if a directive can take away the first: its place among the others would differ. Nor
 *   the other if it has fields of its own: of these some would stay, those in fragments.
 * - No fragment twice in one selection if a directive can take away the first: graphql-jit overlooks the second.
 * - No variable `$__proto__`, which graphql-jit keeps in an ordinary object.
 * - No introspection.
 */
import {
  BREAK,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  getNullableType,
  isLeafType,
  isListType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/** Whether graphql-jit may have a validated operation. */
export function isCompilable(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): boolean {
  if (operation.operation !== OperationTypeNode.QUERY) return false;
  const types = new TypeInfo(schema);
  let compilable = true;
  const refuse = () => {
    compilable = false;
    return BREAK;
  };
  const visitor = visitWithTypeInfo(types, {
    [Kind.STRING]: refuse,
    [Kind.OBJECT]: (node) => (node.fields.some(({ value }) => value.kind !== Kind.BOOLEAN) ? refuse() : undefined),
    [Kind.FIELD]({ name, alias }) {
      const type = types.getType();
      if (alias?.value.includes('_') || name.value === '__schema' || name.value === '__type') return refuse();
      return type && hasFailingMembers(type) ? refuse() : undefined;
    },
    [Kind.VARIABLE]: ({ name }) => (name.value === '__proto__' ? refuse() : undefined),
  });
  visit(document, visitor);
  return compilable && (!hasDirectives(document) || firstsDecide(document, operation));
}

export function hasDirectives(document: DocumentNode): boolean {
  let found = false;
  visit(document, {
    [Kind.DIRECTIVE]() {
      found = true;
      return BREAK;
    },
  });
  return found;
}

function hasFailingMembers(type: Parameters<typeof getNullableType>[0]): boolean {
  const list = getNullableType(type);
  return isListType(list) && !isNonNullType(list.ofType) && !isLeafType(list.ofType);
}

/** Whether what is asked for more than once in one selection is there for the first time whenever it is there at all. */
function firstsDecide(document: DocumentNode, operation: OperationDefinitionNode): boolean {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const part of document.definitions) {
    if (part.kind === Kind.FRAGMENT_DEFINITION) fragments.set(part.name.value, part);
  }
  return firstsStay([operation.selectionSet]);

  function firstsStay(sets: readonly SelectionSetNode[]): boolean {
    const fieldStays = new Map<string, boolean>();
    const fragmentStays = new Map<string, boolean>();
    const inner = new Map<string, SelectionSetNode[]>();
    return sets.every((set) => collect(set, true)) && [...inner.values()].every(firstsStay);

    /** @param stays Whether no directive can take the whole selection away. */
    function collect(set: SelectionSetNode, stays: boolean): boolean {
      return set.selections.every((selection) => {
        const always = stays && !selection.directives?.length;
        if (selection.kind === Kind.INLINE_FRAGMENT) return collect(selection.selectionSet, always);
        if (selection.kind === Kind.FRAGMENT_SPREAD) {
          const name = selection.name.value;
          const fragment = fragments.get(name);
          if (!fragment || fragmentStays.has(name)) return fragmentStays.get(name) === true;
          fragmentStays.set(name, always);
          return collect(fragment.selectionSet, always);
        }
        const key = (selection.alias ?? selection.name).value;
        if (selection.selectionSet) inner.set(key, [...(inner.get(key) ?? []), selection.selectionSet]);
        if (fieldStays.has(key)) return fieldStays.get(key) === true && (always || !selection.selectionSet);
        fieldStays.set(key, always);
        return true;
      });
    }
  }
}
