/**
 * The text of an operation, with the types of its data and variables. The documents of GraphQL Code Generator with
 * `documentMode: 'string'` have the same shape and are accepted everywhere.
 */
export class TypedDocumentString<Data, Variables> extends String {
  /** Carries the types; never set. */
  declare readonly __apiType?: (variables: Variables) => Data;
  /** `hash` is the id of a persisted document. */
  readonly __meta__: Readonly<Record<string, unknown>> | undefined;

  constructor(text: string, meta?: Readonly<Record<string, unknown>>) {
    super(text);
    this.__meta__ = meta;
  }
}
