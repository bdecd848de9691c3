// #region persisted
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { getOperationAST } from 'graphql';

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Automatic persisted queries: the gateway gets the text once, then its hash. Nothing to set up. */
export const automatic = new PersistedQueryLink({ sha256 });

/** Trusted documents: the gateway runs the operations of the manifest only. */
export function trusted({ operations }: { operations: { id: string; name: string }[] }): PersistedQueryLink {
  const ids = new Map(operations.map(({ id, name }) => [name, id]));
  const generateHash = async (document: Parameters<typeof getOperationAST>[0]) => {
    const name = getOperationAST(document)?.name?.value ?? '';
    return ids.get(name) ?? Promise.reject(new Error(`The manifest does not list the operation "${name}".`));
  };
  return new PersistedQueryLink({ generateHash, disable: () => false });
}
// #endregion persisted
