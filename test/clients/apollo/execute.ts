import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { authorizedFetch } from '../tokens';

/** Without a client library: sends a document of the code generator by its hash. */
export function createExecute(uri: string, fetchToken: () => Promise<string>) {
  const send = authorizedFetch(fetchToken);
  return async <Data, Variables>(
    document: TypedDocumentNode<Data, Variables> & { __meta__?: { hash?: string } },
    variables: Variables,
  ): Promise<{ data?: Data | null; errors?: { message: string }[] }> => {
    const response = await send(uri, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ documentId: document.__meta__?.hash, variables }),
    });
    return response.json();
  };
}
