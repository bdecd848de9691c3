/**
 * Which documents are sent by an id, for a gateway with `PERSISTED_OPERATIONS`. `true`: a document that carries one
 * (`documentId` of gql.tada, `__meta__.hash` of GraphQL Code Generator). Or a manifest with the ids by operation name, as
 * `generate-persisted-query-manifest` writes it: then an operation that it does not list is an error.
 */
export type Persisted = boolean | { readonly operations: readonly { readonly id: string; readonly name: string }[] };

/** The id of a document; undefined: send its text. Throws for an operation that the manifest does not list. */
export function documentId(persisted: Persisted, document: object, operationName?: string): string | undefined {
  if (persisted === false) return undefined;
  if (persisted !== true) {
    const listed = persisted.operations.find(({ name }) => name === operationName);
    if (!listed) throw new Error(`The manifest of persisted documents does not list the operation "${operationName}".`);
    return listed.id;
  }
  if ('documentId' in document && typeof document.documentId === 'string') return document.documentId;
  const meta = '__meta__' in document ? document.__meta__ : undefined;
  const hash = typeof meta === 'object' && meta !== null && 'hash' in meta ? meta.hash : undefined;
  return typeof hash === 'string' ? hash : undefined;
}
