// #region persisted
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { generatePersistedQueryIdsFromManifest } from '@apollo/persisted-query-lists';

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Automatic persisted queries: the gateway gets the text once, then its hash. Nothing to set up. */
export const automatic = new PersistedQueryLink({ sha256 });

/** Trusted documents: the gateway runs the operations of the manifest only. */
export const trusted = (manifest: { operations: { id: string; name: string }[] }) =>
  new PersistedQueryLink(generatePersistedQueryIdsFromManifest({ loadManifest: () => manifest }));
// #endregion persisted
