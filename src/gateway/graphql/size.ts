import { type DocumentNode, Kind, type OperationDefinitionNode, visit } from 'graphql';

/** How many nodes an operation's syntax tree has with its fragments spread. Each fragment is counted once, so that is cheap. */
export function sizeOf(document: DocumentNode, operation: OperationDefinitionNode): number {
  const fragments = new Map<string, number>();
  return count(operation);

  function count(part: DocumentNode['definitions'][number]): number {
    let nodes = 0;
    visit(part, {
      enter(node) {
        nodes += node.kind === Kind.FRAGMENT_SPREAD ? ofFragment(node.name.value) : 1;
      },
    });
    return nodes;
  }

  function ofFragment(name: string): number {
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
