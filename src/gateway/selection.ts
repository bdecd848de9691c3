import {
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLIncludeDirective,
  type GraphQLResolveInfo,
  GraphQLSkipDirective,
  getDirectiveValues,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

/** What is needed to read a selection: an operation's fragments and the values of its variables. */
export type Selecting = Pick<GraphQLResolveInfo, 'fragments' | 'variableValues'>;

/**
 * A selection, flattened once: the fields it always has, or undefined when `@skip` or `@include` stands anywhere
 * in it, so that the answer differs from request to request. Documents are parsed once and kept, so the node is
 * a key that lives as long as the document does.
 */
const flattened = new WeakMap<SelectionSetNode, readonly FieldNode[] | null>();

/**
 * The fields asked for below one or several field nodes, fragments spread and `@skip`/`@include` decided.
 * Type conditions are not looked at: the schema has neither interfaces nor unions, so each of them holds.
 */
export function selectedFields(nodes: readonly FieldNode[], selecting: Selecting): readonly FieldNode[] {
  const [first] = nodes;
  if (nodes.length === 1) return first?.selectionSet ? fieldsOf(first.selectionSet, selecting) : [];
  return nodes.flatMap((node) => (node.selectionSet ? fieldsOf(node.selectionSet, selecting) : []));
}

/** Whether a field of one of these names is asked for below the nodes. */
export function selectsAny(nodes: readonly FieldNode[], names: ReadonlySet<string>, selecting: Selecting): boolean {
  return selectedFields(nodes, selecting).some((field) => names.has(field.name.value));
}

function fieldsOf(set: SelectionSetNode, selecting: Selecting): readonly FieldNode[] {
  const known = flattened.get(set);
  if (known) return known;
  const fields: FieldNode[] = [];
  const conditional = collect(set, selecting, fields);
  if (known === undefined) flattened.set(set, conditional ? null : fields);
  return fields;
}

/** Adds the fields of a selection to `into`; true when a directive decided about any of them. */
function collect(set: SelectionSetNode, selecting: Selecting, into: FieldNode[]): boolean {
  let conditional = false;
  for (const selection of set.selections) {
    if (selection.directives?.length) {
      conditional = true;
      if (!included(selection, selecting.variableValues)) continue;
    }
    if (selection.kind === Kind.FIELD) into.push(selection);
    else conditional = collect(inner(selection, selecting.fragments), selecting, into) || conditional;
  }
  return conditional;
}

function inner(
  spread: Exclude<SelectionNode, FieldNode>,
  fragments: Record<string, FragmentDefinitionNode>,
): SelectionSetNode {
  if (spread.kind === Kind.INLINE_FRAGMENT) return spread.selectionSet;
  const fragment = fragments[spread.name.value];
  if (!fragment) throw new Error(`The validated document has no fragment "${spread.name.value}".`);
  return fragment.selectionSet;
}

function included(selection: SelectionNode, variables: Record<string, unknown>): boolean {
  if (getDirectiveValues(GraphQLSkipDirective, selection, variables)?.['if'] === true) return false;
  return getDirectiveValues(GraphQLIncludeDirective, selection, variables)?.['if'] !== false;
}
