import { type DocumentNode, parse } from 'graphql';
import type { TypedDocumentString } from './document.ts';

/** A parsed document that keeps its types. */
export type TypedDocument<Data, Variables> = DocumentNode & Pick<TypedDocumentString<Data, Variables>, '__apiType'>;

/** A document of this package as Apollo Client and urql take it. Call it once, outside of components. */
export function toDocument<Data, Variables>(
  document: TypedDocumentString<Data, Variables>,
): TypedDocument<Data, Variables> {
  return parse(String(document));
}
