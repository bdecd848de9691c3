// #region persisted
import { persistedExchange } from '@urql/exchange-persisted';

/** Sends the id of a document that has one, and the text of any other. */
export const persisted = persistedExchange({
  enforcePersistedQueries: true,
  enableForMutation: true,
  generateHash: async (_text, document) => ('documentId' in document ? String(document.documentId) : ''),
});
// #endregion persisted
