/**
 * Remembers what was found for a part of a document with the values that certain variables had last. Clients send an
 * operation again and again with other ids and the same sizes, so what sizes alone decide is mostly found already.
 */
export class LastFound<Node extends object, Found> {
  readonly #last = new WeakMap<Node, { variables: readonly string[]; values: readonly unknown[]; found: Found }>();

  /** What was found with these values; undefined when another value was last. A missing variable is not a null one. */
  get(node: Node, values: Readonly<Record<string, unknown>>): Found | undefined {
    const last = this.#last.get(node);
    return last?.variables.every((name, index) => values[name] === last.values[index]) ? last.found : undefined;
  }

  /** @param variables Names of the variables that `found` depends on. */
  set(node: Node, variables: readonly string[], values: Readonly<Record<string, unknown>>, found: Found): void {
    this.#last.set(node, { variables, values: variables.map((name) => values[name]), found });
  }
}
