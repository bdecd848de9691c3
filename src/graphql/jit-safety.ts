/*
 * graphql-jit compiles a document to a JavaScript function with the same result as graphql-js. On large results, the function
 * is two to four times faster. Only documents that graphql-jit compiles correctly and safely are compiled:
 *
 * - Only queries. Mutations are rare, and their responses must not depend on a compiler.
 * - Only operations of up to 2,500 syntax nodes, which compile within about 20 ms.
 * - No string literals. graphql-jit 0.8 prints literals into its source and then replaces markers in it
 *   (`__MAGIC_DATE__…`), so a literal that holds such a marker runs as code. Documents that are sent often have variables.
 * - No object literal with a member that is not a boolean: graphql-jit drops variables in custom scalars and does not apply
 *   defaults.
 * - No alias with `_`. graphql-jit stores the arguments of a resolver under a key: the names on its path, from the field up,
 *   joined by `_`. So `b` below `a_b` and `b_a` below `b` would have the same key, `b_a_b`.
 * - No alias `__proto__`, which sets the prototype of an object literal. The rule above excludes it. Aliases such as
 *   `toString` need no rule: in an operation with directives, graphql-jit refuses them.
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
  type DocumentNode,
  type FragmentDefinitionNode,
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
  type SelectionSetNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/** The largest operation that is compiled, in nodes of its syntax tree with fragments expanded. */
const MAX_NODES = 2_500;

/** Whether graphql-jit may compile a valid operation. */
export function isSafeToCompile(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): boolean {
  return reasonNotToCompile(schema, document, operation) === undefined;
}

/** Why graphql-jit may not compile a valid operation, for developers; undefined when it may. */
export function reasonNotToCompile(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): string | undefined {
  if (operation.operation !== OperationTypeNode.QUERY) return 'only queries are compiled';
  if (countNodes(document, operation) > MAX_NODES) return `it has more than ${MAX_NODES} syntax nodes`;
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
      return type && hasFailingMembers(type) ? refuse(`${name.value} is a list of nullable objects`) : undefined;
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

/** Whether the first of several equal fields or fragments in a selection is always present when a later one is. */
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

    /** @param stays Whether no directive can remove the whole selection. */
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

/** The number of nodes with fragments expanded. Each fragment is counted once, so the work is proportional to the document. */
export function countNodes(document: DocumentNode, operation: OperationDefinitionNode): number {
  const fragments = new Map<string, number>();
  return count(operation);

  function count(part: DocumentNode['definitions'][number]): number {
    let nodes = 0;
    visit(part, {
      enter(node) {
        nodes += node.kind === Kind.FRAGMENT_SPREAD ? countFragment(node.name.value) : 1;
      },
    });
    return nodes;
  }

  function countFragment(name: string): number {
    const known = fragments.get(name);
    if (known !== undefined) return known;
    const fragment = document.definitions.find(
      (part) => part.kind === Kind.FRAGMENT_DEFINITION && part.name.value === name,
    );
    const nodes = fragment ? count(fragment) : 0;
    fragments.set(name, nodes);
    return nodes;
  }
}
