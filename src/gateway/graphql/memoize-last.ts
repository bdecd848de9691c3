/**
 * Remembers what was found for a part of a document with the values that certain variables had last. Clients send an
 * operation again and again with other ids and the same sizes, so what sizes alone decide is mostly found already.
 *
 * Numbers, booleans, null and missing values alone are remembered. Texts and lists are different every time, can be as long
 * as a request, and belong to whoever sent them: they must not stay behind.
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
    const decided = variables.map((name) => values[name]);
    if (decided.every(isSmall)) this.#last.set(node, { variables, values: decided, found });
  }
}

function isSmall(value: unknown): boolean {
  return value == null || typeof value === 'number' || typeof value === 'boolean';
}
