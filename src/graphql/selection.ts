import {
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLIncludeDirective,
  type GraphQLResolveInfo,
  GraphQLSkipDirective,
  getDirectiveValues,
  type InlineFragmentNode,
  isAbstractType,
  isObjectType,
  Kind,
  type NamedTypeNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

/** What is needed to read a selection: the schema, an operation's fragments and the values of its variables. */
export type SelectionContext = Pick<GraphQLResolveInfo, 'schema' | 'fragments' | 'variableValues'>;

/** A node that can have a selection set. */
export type Selected = Pick<FieldNode, 'selectionSet'>;

/**
 * Memoizes the last result for a node of a document and the values of certain variables. Clients repeat an operation with
 * other ids and the same page sizes, so a result that depends only on page sizes can usually be reused.
 *
 * Only numbers, booleans, null and missing values are kept. Strings and lists differ each time, can be as long as a request,
 * and belong to the client that sent them.
 */
export class MemoizeLast<Node extends object, Result> {
  readonly #last = new WeakMap<Node, { variables: readonly string[]; values: readonly unknown[]; result: Result }>();

  /** The last result if the variables had these values, else undefined. A missing variable is not equal to null. */
  get(node: Node, values: Readonly<Record<string, unknown>>): Result | undefined {
    const last = this.#last.get(node);
    return last?.variables.every((name, index) => values[name] === last.values[index]) ? last.result : undefined;
  }

  /** @param variables Names of the variables that `result` depends on. */
  set(node: Node, variables: readonly string[], values: Readonly<Record<string, unknown>>, result: Result): void {
    const used = variables.map((name) => values[name]);
    if (used.every(isSmall)) this.#last.set(node, { variables, values: used, result });
  }
}

function isSmall(value: unknown): boolean {
  return value == null || typeof value === 'number' || typeof value === 'boolean';
}

/**
 * The fields asked for below one or several nodes, with fragments expanded and `@skip`/`@include` decided.
 * @param typeName The object type that the selection is read for; fragments on other types do not count.
 */
export function selectedFields(
  nodes: readonly Selected[],
  typeName: string,
  selecting: SelectionContext,
): readonly FieldNode[] {
  const fields: FieldNode[] = [];
  for (const { selectionSet } of nodes) if (selectionSet) collect(selectionSet, typeName, selecting, fields);
  return fields;
}

/** Whether a field of one of these names is asked for below the nodes. */
export function selectsAny(
  nodes: readonly Selected[],
  typeName: string,
  names: ReadonlySet<string>,
  selecting: SelectionContext,
): boolean {
  return selectedFields(nodes, typeName, selecting).some((field) => names.has(field.name.value));
}

function collect(set: SelectionSetNode, typeName: string, selecting: SelectionContext, into: FieldNode[]): void {
  for (const selection of set.selections) {
    if (selection.directives?.length && !included(selection, selecting.variableValues)) continue;
    if (selection.kind === Kind.FIELD) into.push(selection);
    else {
      const { selectionSet, typeCondition } = fragmentOf(selection, selecting.fragments);
      if (applies(typeCondition, typeName, selecting)) collect(selectionSet, typeName, selecting, into);
    }
  }
}

function fragmentOf(
  spread: Exclude<SelectionNode, FieldNode>,
  fragments: Record<string, FragmentDefinitionNode>,
): FragmentDefinitionNode | InlineFragmentNode {
  if (spread.kind === Kind.INLINE_FRAGMENT) return spread;
  const fragment = fragments[spread.name.value];
  if (!fragment) throw new Error(`The validated document has no fragment "${spread.name.value}".`);
  return fragment;
}

/** Whether a fragment with this condition is for objects of a type. */
function applies(condition: NamedTypeNode | undefined, typeName: string, { schema }: SelectionContext): boolean {
  if (!condition || condition.name.value === typeName) return true;
  const [wanted, type] = [schema.getType(condition.name.value), schema.getType(typeName)];
  return isAbstractType(wanted) && isObjectType(type) && schema.isSubType(wanted, type);
}

function included(selection: SelectionNode, variables: Record<string, unknown>): boolean {
  if (getDirectiveValues(GraphQLSkipDirective, selection, variables)?.['if'] === true) return false;
  return getDirectiveValues(GraphQLIncludeDirective, selection, variables)?.['if'] !== false;
}
