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
