import { type DocumentNode, type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql';

/** Of each response name of a selection set: how many fields have it, and the most comparisons below one of them. Not of scalars. */
type Names = Map<string, { fields: number; below: number }>;

/**
 * About how many pairs of fields the validation of a document compares: all fields of one response name in a set, and what is
 * selected below them, with each other. Those of scalars take no time. A fragment is counted once; the work is proportional to
 * the length of the document.
 */
export function countComparisons({ definitions }: DocumentNode): number {
  const fragments = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  const byName = new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
  const counted = new Map<string, Names>();
  let total = 0;
  for (const definition of definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    total += comparisonsOf(namesOf(definition.selectionSet, byName, counted));
  }
  return total;
}

function comparisonsOf(names: Names): number {
  let sum = 0;
  for (const { fields, below } of names.values()) sum += fields ** 2 * Math.max(1, below);
  return sum;
}

function namesOf(
  { selections }: SelectionSetNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  counted: Map<string, Names>,
): Names {
  const names: Names = new Map();
  const add = (name: string, fields: number, below: number) => {
    const known = names.get(name);
    names.set(name, { fields: fields + (known?.fields ?? 0), below: Math.max(below, known?.below ?? 0) });
  };
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) {
      const { alias, name, selectionSet: set } = selection;
      if (set) add((alias ?? name).value, 1, comparisonsOf(namesOf(set, fragments, counted)));
      continue;
    }
    const spread =
      selection.kind === Kind.FRAGMENT_SPREAD
        ? namesOfFragment(selection.name.value)
        : namesOf(selection.selectionSet, fragments, counted);
    for (const [name, { fields, below }] of spread) add(name, fields, below);
  }
  return names;

  function namesOfFragment(name: string): Names {
    const known = counted.get(name);
    const fragment = fragments.get(name);
    if (known || !fragment) return known ?? new Map();
    // A fragment that spreads itself adds nothing here; validation refuses it later.
    counted.set(name, new Map());
    const found = namesOf(fragment.selectionSet, fragments, counted);
    counted.set(name, found);
    return found;
  }
}
