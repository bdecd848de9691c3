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

/** What has a selection, or may have one. */
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

/** Flattened selections. Parsed documents are kept, so their nodes can be keys. */
const flattened = new MemoizeLast<SelectionSetNode, readonly FieldNode[]>();

/**
 * The fields asked for below one or several nodes, fragments spread and `@skip`/`@include` decided.
 * Type conditions are not looked at: the schema has neither interfaces nor unions, so each of them holds.
 */
export function selectedFields(nodes: readonly Selected[], selecting: Selecting): readonly FieldNode[] {
  const [first] = nodes;
  if (nodes.length === 1) return first?.selectionSet ? fieldsOf(first.selectionSet, selecting) : [];
  return nodes.flatMap((node) => (node.selectionSet ? fieldsOf(node.selectionSet, selecting) : []));
}

/** Whether a field of one of these names is asked for below the nodes. */
export function selectsAny(nodes: readonly FieldNode[], names: ReadonlySet<string>, selecting: Selecting): boolean {
  return selectedFields(nodes, selecting).some((field) => names.has(field.name.value));
}

function fieldsOf(set: SelectionSetNode, selecting: Selecting): readonly FieldNode[] {
  const known = flattened.get(set, selecting.variableValues);
  if (known) return known;
  const fields: FieldNode[] = [];
  const deciding = new Set<string>();
  collect(set, selecting, fields, deciding);
  flattened.set(set, [...deciding], selecting.variableValues, fields);
  return fields;
}

/** Adds the fields of a selection to `into`, and the variables of its `@skip` and `@include` to `deciding`. */
function collect(set: SelectionSetNode, selecting: Selecting, into: FieldNode[], deciding: Set<string>): void {
  for (const selection of set.selections) {
    for (const directive of selection.directives ?? []) {
      for (const { value } of directive.arguments ?? []) {
        if (value.kind === Kind.VARIABLE) deciding.add(value.name.value);
      }
    }
    if (!included(selection, selecting.variableValues)) continue;
    if (selection.kind === Kind.FIELD) into.push(selection);
    else collect(inner(selection, selecting.fragments), selecting, into, deciding);
  }
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
